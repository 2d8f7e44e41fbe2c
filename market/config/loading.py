"""Reads a configuration and checks everything that can be checked before anything starts.

Keys, types, the environment's own rules, each policy and its options: whatever is wrong is the
user's mistake, and is told in one sentence (`ConfigError`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from market import canonical, registry
from market.config import options
from market.config.complaints import Key, complaint, invalid, unknown
from market.config.documents import ConfigError
from market.config.overrides import override
from market.config.schema import Config, Retailer, fields, parse, seats_of
from market.config.sources import Layer, find, layers, merged
from market.environment import OUTSIDE
from market.registry import EnvironmentKind, UnknownName
from market.secrets import forbidden_key

M = TypeVar("M", bound=BaseModel)


def load(reference: str, overrides: Sequence[str] = (), seed: int | None = None) -> Config:
    """Read and check a configuration.

    Args:
        reference: A file's path, or else a preset's name such as `arena/paper`.
        overrides: `key=value` each, with a dotted key (`retailers.0.count=3`) and a YAML value
            that replaces what stood there.
        seed: Overrides `seed`.

    Raises:
        ConfigError: If anything is wrong.
    """
    path = find(reference)
    chain = layers(path)
    fallback = re.sub(r"[^A-Za-z0-9._-]+", "-", path.stem).lstrip("._-")[:64] or "run"
    return _checked({"name": fallback}, chain, overrides, seed)


def configure(values: Mapping[str, Any], origin: str = "the configuration") -> Config:
    """Check a configuration made in Python, or read from where a run recorded it.

    Raises:
        ConfigError: If anything is wrong; `origin` stands for the file.
    """
    try:
        canonical.dumps(values)
    except ValueError as error:
        raise ConfigError(f"{origin} holds what JSON cannot: {error}.") from error
    return _checked({}, [Layer(origin, values)], (), None)


def _checked(
    defaults: Mapping[str, Any], files: Sequence[Layer], overrides: Sequence[str], seed: int | None
) -> Config:
    data = dict(defaults)
    for layer in files:
        _refuse_secrets(layer.data, (), layer.origin)
        data = merged(data, layer.data)
    sources = [*files]
    for text in overrides:
        layer, data = override(data, text)
        _refuse_secrets(layer.data, (), layer.origin)
        sources.append(layer)
    if seed is not None:
        sources.append(Layer("--seed", {"seed": seed}, path=("seed",)))
        data = {**data, "seed": seed}

    config = _validated(Config, data, (), sources)
    try:
        kind = config.kind
    except UnknownName as error:
        raise unknown(
            sources, ("environment",), config.environment, registry.ENVIRONMENTS, error
        ) from error
    model: type[BaseModel] = registry.load(kind.rules)
    checked = _validated(model, config.rules, ("rules",), sources)
    _check_names(config.retailers, sources)
    retailers = [
        _checked_retailer(kind, retailer, config.seed, ("retailers", index), sources)
        for index, retailer in enumerate(config.retailers)
    ]
    return config.model_copy(update={"rules": _json(checked), "retailers": retailers})


def _check_names(retailers: Sequence[Retailer], sources: Sequence[Layer]) -> None:
    taken = {OUTSIDE: "is a reserved name"}
    for index, retailer in enumerate(retailers):
        if retailer.name in taken:
            raise complaint(
                sources,
                ("retailers", index, "name"),
                f"`{retailer.name}` {taken[retailer.name]}; give the retailer another one",
            )
        taken[retailer.name] = "is the name of an earlier retailer"
    try:
        seats_of(retailers)
    except ValueError as error:
        raise complaint(sources, ("retailers",), str(error)) from error


def _checked_retailer(
    kind: EnvironmentKind, retailer: Retailer, seed: int, key: Key, sources: Sequence[Layer]
) -> Retailer:
    try:
        found = options.policy_class(kind, retailer.policy)
    except UnknownName as error:
        known = {**registry.POLICIES, **kind.policies}
        raise unknown(sources, (*key, "policy"), retailer.policy, known, error) from error
    key = (*key, "options")
    checked = _validated(options.options_model(found), retailer.options, key, sources)
    for seat in seats_of([retailer]):
        # A policy may refuse options that are of the right types, and may do so for one seat.
        try:
            found(seat=seat, seed=seed, **fields(checked))
        except (ValueError, OSError, RuntimeError) as error:
            raise complaint(sources, key, str(error)) from error
    return retailer.model_copy(update={"options": _json(checked)})


def _validated(model: type[M], data: Any, key: Key, sources: Sequence[Layer]) -> M:
    try:
        return parse(model, data)
    except ValidationError as error:
        raise invalid(error, model, data, key, sources) from error


def _json(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(mode="json", by_alias=True)


def _refuse_secrets(data: Any, key: Key, origin: str) -> None:
    if isinstance(data, Mapping):
        for name, value in data.items():
            if forbidden_key(name):
                raise complaint(
                    [Layer(origin, {})],
                    (*key, name),
                    "secrets do not belong into a configuration; put it into an environment "
                    "variable and name that in `api_key_env`",
                )
            _refuse_secrets(value, (*key, name), origin)
    elif isinstance(data, list):
        for index, value in enumerate(data):
            _refuse_secrets(value, (*key, index), origin)
