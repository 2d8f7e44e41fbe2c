"""Import every module of the installed wheel and find its presets, away from the checkout."""

from __future__ import annotations

import importlib
import sys
from importlib import metadata
from pathlib import Path

DISTRIBUTION = "market-arena"


def main() -> int:
    """Import everything; 1 if something cannot be imported or comes from elsewhere."""
    failures = []
    modules = _modules()
    for name in modules:
        try:
            module = importlib.import_module(name)
        except Exception as error:
            failures.append(f"{name}: {type(error).__name__}: {error}")
            continue
        if not Path(module.__file__ or "").resolve().is_relative_to(Path(sys.prefix).resolve()):
            failures.append(f"{name} was imported from {module.__file__}, not from the wheel")
    failures += _wrong_presets()
    for failure in failures:
        print(failure, file=sys.stderr)
    print(f"{len(modules)} modules imported, {len(failures)} failures")
    return 1 if failures or not modules else 0


def _modules() -> list[str]:
    files = [path for path in metadata.files(DISTRIBUTION) or () if path.suffix == ".py"]
    names = (path.with_suffix("").as_posix().replace("/", ".") for path in files)
    return sorted(name.removesuffix(".__init__") for name in names)


def _wrong_presets() -> list[str]:
    from market.config import presets

    found = presets()
    missing = [str(preset.path) for preset in found if not preset.path.is_file()]
    inside = all("site-packages" in preset.path.parts for preset in found)
    return [] if found and inside and not missing else [f"presets of the wheel: {found}"]


if __name__ == "__main__":
    sys.exit(main())
