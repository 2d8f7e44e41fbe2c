"""Reads a configuration and checks everything that can be checked before anything starts.

Keys, types, the environment's own rules, each policy and its options: whatever is wrong is the
user's mistake, and is told in one sentence (`ConfigError`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from market import canonical, registry
from market.config import addresses, options, plans
from market.config.cells import Cell, cells, laid, representative
from market.config.complaints import Key, complaint, invalid, unknown
from market.config.documents import ConfigError, not_finite
from market.config.overrides import override
from market.config.plans import PlanError
from market.config.rosters import check_rosters
from market.config.schema import Config, Retailer, fields, parse, seats_of
from market.config.sources import Layer, find, layers, merged
from market.config.study import Study
from market.config.tournament import Market, Tournament
from market.environment import OUTSIDE
from market.registry import EnvironmentKind, UnknownNameError
from market.secrets import forbidden_key

M = TypeVar("M", bound=BaseModel)

#: Cells of a study that are all checked where it is loaded; of more, as many that stand for them.
CHECKED_CELLS = 2_000


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
    return _checked({"name": _name(path.stem)}, chain, overrides, seed)


def configure(values: Mapping[str, Any], origin: str = "the configuration") -> Config:
    """Check a configuration made in Python, or read from where a run recorded it.

    Raises:
        ConfigError: If anything is wrong; `origin` stands for the file.
    """
    try:
        canonical.dumps(values)
    except ValueError as error:
        what = not_finite(values) or error
        raise ConfigError(f"{origin} holds what JSON cannot: {what}.") from error
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

    for section in ("tournament", "study"):
        markets = _markets(data, section, sources)
        if markets:
            data = {**data, section: {**data[section], "presets": _plain(markets)}}
            data.setdefault("environment", next(iter(markets.values())).environment)
    config = _validated(Config, data, (), sources)
    if config.study is not None and config.tournament is not None:
        what = "a study has markets, rosters and seeds of its own; take out `tournament`"
        raise complaint(sources, ("study",), what)
    try:
        kind = config.kind
    except UnknownNameError as error:
        raise unknown(
            sources, ("environment",), config.environment, registry.ENVIRONMENTS, error
        ) from error
    config = _checked_rules(config, kind, sources)
    _check_names(config.retailers, sources)
    try:
        rosters = plans.rosters(config)
    except PlanError as error:
        raise complaint(sources, error.key, str(error)) from error
    seats: dict[str, list[str]] = {}
    for entry in {entry: None for roster in rosters for entry in roster.entries}:
        seats.setdefault(entry.retailer, []).extend(entry.seats)
    possible = {*seats_of(config.retailers), *(seat for own in seats.values() for seat in own)}
    check_rosters(config, kind, rosters, sorted(possible), sources)
    retailers = [
        _checked_retailer(
            kind,
            retailer,
            dict.fromkeys([*retailer.seats, *seats.get(retailer.name, ())]),
            config.seed,
            ("retailers", index),
            sources,
        )
        for index, retailer in enumerate(config.retailers)
    ]
    config = config.model_copy(update={"retailers": retailers})
    try:
        plans.expand(config)
        if config.study is not None:
            _check_cells(config, config.study, sources)
    except PlanError as error:
        raise complaint(sources, error.key, str(error)) from error
    return config


def configured(config: Config, cell: Cell) -> Config:
    """The configuration of a cell of a study: a tournament.

    Raises:
        ConfigError: If the cell has none; a study that was loaded is checked for that.
    """
    study = config.study
    assert study is not None
    values = config.model_dump(mode="json", exclude={"study"})
    meetings = study.model_dump(mode="json", include=set(Tournament.model_fields))
    name = f"the cell `{cell.id}` of the study"
    return configure({**laid(values, study, cell), "tournament": meetings}, name)


def _check_cells(config: Config, study: Study, sources: Sequence[Layer]) -> None:
    """Check each cell; of very many, those that show what may be wrong."""
    for cell in representative(cells(study), CHECKED_CELLS):
        try:
            configured(config, cell)
        except ConfigError as error:
            raise complaint(sources, ("study", "vary"), str(error)) from error


def _markets(data: Mapping[str, Any], section: str, sources: Sequence[Layer]) -> dict[str, Market]:
    """The markets that the presets of a tournament or study name; empty where they name none.

    Presets are called by the last part of their path, or by the whole where two are alike.
    """
    held = data.get(section)
    presets = held.get("presets") if isinstance(held, Mapping) else None
    if not isinstance(presets, list) or not all(isinstance(each, str) for each in presets):
        return {}
    key = (section, "presets")
    said = [layer for layer in sources if not layer.path and _says_presets(layer, section)]
    beside = Path(said[-1].origin).parent if said else Path()
    markets: dict[str, Market] = {}
    parts = [Path(reference).with_suffix("").parts for reference in presets]
    last = [part[-1] if part else "" for part in parts]
    for index, reference in enumerate(presets):
        label = last[index] if last.count(last[index]) == 1 else "-".join(parts[index])
        label = _name(label)
        if label in markets:
            raise complaint(sources, (*key, index), f"`{reference}` is named twice")
        try:
            markets[label] = _market(find(reference, beside))
        except ConfigError as error:
            raise complaint(sources, (*key, index), str(error)) from error
    return markets


def _says_presets(layer: Layer, section: str) -> bool:
    held = layer.data.get(section)
    return isinstance(held, Mapping) and "presets" in held


def _market(path: Path) -> Market:
    """The market of a file, whatever else it holds."""
    chain = layers(path)
    data: dict[str, Any] = {}
    for layer in chain:
        _refuse_secrets(layer.data, (), layer.origin)
        data = merged(data, layer.data)
    environment = str(data.get("environment"))
    try:
        kind = registry.environment_kind(environment)
    except UnknownNameError as error:
        raise unknown(chain, ("environment",), environment, registry.ENVIRONMENTS, error) from error
    checked = _validated(registry.load(kind.rules), data.get("rules", {}), ("rules",), chain)
    return Market(environment=environment, rules=_json(checked))


def _plain(markets: Mapping[str, Market]) -> dict[str, Any]:
    return {name: market.model_dump(mode="json") for name, market in markets.items()}


def _checked_rules(config: Config, kind: EnvironmentKind, sources: Sequence[Layer]) -> Config:
    """Check each market's rules; a tournament of presets keeps its own as what is laid over."""
    model: type[BaseModel] = registry.load(kind.rules)
    tournament = config.meetings
    if tournament is None or not isinstance(tournament.presets, dict):
        checked = _validated(model, config.rules, ("rules",), sources)
        return config.model_copy(update={"rules": _json(checked)})
    section = "study" if config.study else "tournament"
    seen: dict[str, str | None] = {}
    for name, rules in plans.markets(config).items():
        market = tournament.presets[str(name)]
        if market.environment != config.environment:
            raise complaint(
                sources,
                (section, "presets"),
                f"`{name}` is a market of the environment `{market.environment}`; a tournament "
                f"has one environment, here `{config.environment}`",
            )
        below = Layer(f"the preset `{name}`", {"rules": market.rules})
        checked = _validated(model, rules, ("rules",), [below, *sources])
        same = canonical.dumps(_json(checked))
        if same in seen:
            raise complaint(
                sources,
                (section, "presets"),
                f"`{seen[same]}` and `{name}` are one market, since `rules` are laid over both",
            )
        seen[same] = name
    return config


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
    kind: EnvironmentKind,
    retailer: Retailer,
    seats: Iterable[str],
    seed: int,
    key: Key,
    sources: Sequence[Layer],
) -> Retailer:
    try:
        found = options.policy_class(kind, retailer.policy)
    except UnknownNameError as error:
        known = {**registry.POLICIES, **kind.policies}
        raise unknown(sources, (*key, "policy"), retailer.policy, known, error) from error
    named, key = (*key, "policy"), (*key, "options")
    try:
        checked = _validated(options.options_model(found), retailer.options, key, sources)
        for seat in seats:
            # A policy may refuse options that are of the right types, and may do so for one seat.
            try:
                found(seat=seat, seed=seed, **fields(checked))
            except (ValueError, OSError, RuntimeError) as error:
                raise complaint(sources, key, str(error)) from error
        return retailer.model_copy(update={"options": _json(checked)})
    except ConfigError:
        raise
    except Exception as error:
        what = f"`{retailer.policy}` cannot be made: {registry.told(error, found)}; mend it there"
        raise complaint(sources, named, what) from error


def _validated(model: type[M], data: Any, key: Key, sources: Sequence[Layer]) -> M:
    try:
        return parse(model, data)
    except ValidationError as error:
        raise invalid(error, model, data, key, sources) from error


def _name(text: str) -> str:
    """The nearest valid name."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).lstrip("._-")[:64] or "run"


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
            if (what := addresses.refused(name, value)) is not None:
                raise complaint([Layer(origin, {})], (*key, name), what)
            _refuse_secrets(value, (*key, name), origin)
    elif isinstance(data, list):
        for index, value in enumerate(data):
            _refuse_secrets(value, (*key, index), origin)
