"""`market.config`, on an environment of the tests' own and on the arena."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from market import registry
from market.config import (
    Config,
    ConfigError,
    configure,
    load,
    policy,
    recorded,
    resolved,
    rules,
    seat_ids,
)
from market.config.documents import write
from market.config.schema import Encoder, Retailer
from tests.market.config.own_policies import Limits, Mood, Picky

LEMONADE = "tests.lemonade:ENVIRONMENT"
PICKY = "tests.market.config.own_policies:Picky"


def stands(**more: Any) -> dict[str, Any]:
    return {"environment": LEMONADE, "retailers": [{"name": "a", "policy": "idle"}], **more}


def picky(**options: Any) -> dict[str, Any]:
    return stands(retailers=[{"name": "a", "policy": PICKY, "options": options}])


def file(tmp_path: Path, data: Any, name: str = "market.yaml") -> str:
    path = tmp_path / name
    path.write_text(data if isinstance(data, str) else write(data), encoding="utf-8")
    return str(path)


def refused(tmp_path: Path, data: Any, *overrides: str) -> str:
    """The one sentence with which a configuration is refused."""
    path = file(tmp_path, data)
    with pytest.raises(ConfigError) as error:
        load(path, overrides)
    message = str(error.value)
    assert message.endswith(".")
    assert "\n" not in message
    return message.replace(path, "FILE")


def test_defaults_are_filled_in(tmp_path: Path) -> None:
    config = load(file(tmp_path, stands(rules={"days": 2})))
    assert config.name == "market"
    assert config.seed == 0
    assert config.rules == {
        "days": 2,
        "turns": 4,
        "funds": 500,
        "lemon_price": 20,
        "thirsty": 12,
        "fee_percent": 5,
    }
    assert rules(config).days == 2
    assert seat_ids(config) == ("a",)


@pytest.mark.parametrize("seed", [0, -1, 10**40])
def test_any_whole_number_is_a_seed(tmp_path: Path, seed: int) -> None:
    path = file(tmp_path, stands(seed=7))
    assert load(path, seed=seed).seed == seed
    assert load(path, [f"seed={seed}"]).seed == seed
    assert load(path).seed == 7


def test_an_override_replaces_one_value(tmp_path: Path) -> None:
    path = file(tmp_path, stands(address="here", rules={"days": 2, "turns": 3}))
    config = load(
        path,
        ["rules.days=5", "retailers.0.count=3", "address=", "encoder.model=x", "inline=true"],
    )
    assert (config.rules["days"], config.rules["turns"]) == (5, 3)
    assert config.retailers[0].count == 3
    assert config.address is None
    assert config.encoder.model == "x"
    assert config.inline is True


def test_an_override_may_hold_an_equals_sign_and_a_list(tmp_path: Path) -> None:
    path = file(tmp_path, picky(needed=1))
    config = load(path, ["retailers.0.options.slogans=['a=b', c]"])
    assert config.retailers[0].options["slogans"] == ["a=b", "c"]


def test_the_last_word_is_the_last_override_and_then_the_seed(tmp_path: Path) -> None:
    path = file(tmp_path, stands())
    assert load(path, ["rules.days=4", "rules.days=5", "seed=2"], seed=3).rules["days"] == 5
    assert load(path, ["seed=2"], seed=3).seed == 3


WRONG = [
    (stands(colour=1), "FILE: `colour`: is no key here; there are"),
    (stands(sead=1), "FILE: `sead`: is no key here; did you mean `seed`."),
    (stands(rules={"dais": 1}), "FILE: `rules.dais`: is no key here; did you mean `days`."),
    (stands(rules={"days": "6"}), 'FILE: `rules.days`: should be a valid integer, not "6".'),
    (stands(rules={"days": 6.0}), "`rules.days`: should be a valid integer, not 6.0."),
    (stands(rules={"days": True}), "`rules.days`: should be a valid integer, not true."),
    (stands(rules={"days": 0}), "`rules.days`: should be greater than or equal to 1, not 0."),
    (stands(rules=None), "FILE: `rules`: should be an object, not null."),
    (stands(seed="1"), 'FILE: `seed`: should be a valid integer, not "1".'),
    (stands(seed=False), "FILE: `seed`: should be a valid integer, not false."),
    (stands(retailers=[]), "FILE: `retailers`: should have at least 1 item, not []."),
    (stands(deadline_seconds=0), "FILE: `deadline_seconds`: should be greater than 0"),
    (stands(retailers_per_actor=0), "FILE: `retailers_per_actor`: should be greater than"),
    (stands(on_provider_failure="stop"), "should be 'suspend' or 'no_action', not \"stop\"."),
    (
        stands(encoder={"modle": "x"}),
        "FILE: `encoder.modle`: is no key here; did you mean",
    ),
    (stands(name="../up"), "FILE: `name`: should begin with a letter or digit and hold only"),
    (stands(environment="arenaa"), "`environment`: there is no environment `arenaa`; did you mean"),
    (stands(environment="no.such:ENVIRONMENT"), "there is no module `no.such` in the folder in"),
    (stands(environment="os:path"), "`os:path` is no EnvironmentKind."),
    (stands(environment=":x"), "FILE: `environment`: should be a name of letters, digits, `_`"),
    ({"environment": LEMONADE}, "FILE: `retailers`: is missing; add it."),
    ({"retailers": [{"name": "a", "policy": "idle"}]}, "FILE: `environment`: is missing; add it."),
    (stands(retailers=[{"name": "a"}]), "FILE: `retailers.0.policy`: is missing; add it."),
    (
        stands(retailers=[{"name": "a", "policy": "idel"}]),
        "FILE: `retailers.0.policy`: there is no policy `idel`; did you mean `idle`.",
    ),
    (
        stands(retailers=[{"name": "a", "policy": "os:path"}]),
        "FILE: `retailers.0.policy`: `os:path` is no policy.",
    ),
    (
        stands(retailers=[{"name": "a", "policy": "idle", "cuont": 2}]),
        "FILE: `retailers.0.cuont`: is no key here; did you mean `count`.",
    ),
    (
        stands(retailers=[{"name": "a", "policy": "idle", "count": 0}]),
        "FILE: `retailers.0.count`: should be greater than or equal to 1, not 0.",
    ),
    (
        stands(retailers=[{"name": "a", "policy": "idle", "options": {"x": 1}}]),
        "FILE: `retailers.0.options.x`: is no key here; none is known.",
    ),
    (
        stands(retailers=[{"name": "outside", "policy": "idle"}]),
        "FILE: `retailers.0.name`: `outside` is a reserved name; give the retailer another one.",
    ),
    (
        stands(retailers=[{"name": "a", "policy": "idle"}, {"name": "a", "policy": "random"}]),
        "FILE: `retailers.1.name`: `a` is the name of an earlier retailer; give",
    ),
    (
        stands(
            retailers=[
                {"name": "a", "policy": "idle", "count": 2},
                {"name": "a-1", "policy": "idle"},
            ]
        ),
        "FILE: `retailers`: the seat `a-1` is taken",
    ),
    (picky(), "FILE: `retailers.0.options.needed`: is missing; add it."),
    (picky(needed="1"), '`retailers.0.options.needed`: should be a valid integer, not "1".'),
    (picky(needed=1, seed=3), "`retailers.0.options.seed`: is no key here; did you mean `needed`."),
    (picky(needed=1, remembered=1), "`retailers.0.options.remembered`: is no key here"),
    (picky(needed=1, share=2), "`retailers.0.options`: share: a share is at most 1."),
    (picky(needed=1, mood="sad"), "should be 'calm' or 'wild', not \"sad\"."),
    (picky(needed=1, limits={"low": 1, "hihg": 2}), "limits.hihg`: is no key here; did you mean"),
    (picky(needed=1, limits={"high": 2}), "limits.low`: is missing; add it."),
    (picky(needed=1, api_key="sk-very-secret"), "`retailers.0.options.api_key`: secrets do not"),
    (stands(rules={"password": "hunter2"}), "FILE: `rules.password`: secrets do not belong"),
    (
        picky(needed=1, api_base="http://me:hunter2@host"),
        "FILE: `retailers.0.options.api_base`: holds what may be a secret",
    ),
    (stands(rules={"days": float("nan")}), "FILE: `rules.days`: nan is no finite number; write"),
    ("", "FILE is empty"),
    ("- 1", "FILE is no mapping"),
    ("environment: [", "FILE, line 1: "),
    ("seed: 1\nseed: 2", "FILE, line 2: the key `seed` is given twice"),
]


@pytest.mark.parametrize(("data", "told"), WRONG, ids=[told for _, told in WRONG])
def test_a_wrong_file_is_refused_with_the_key(tmp_path: Path, data: Any, told: str) -> None:
    message = refused(tmp_path, data)
    assert told in message
    assert message.startswith("FILE")


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("days", "--set days is malformed; write `key=value`."),
        ("=3", "--set"),
        ("rules..days=3", "--set rules..days is malformed"),
        ("rules.days=six", '--set rules.days: `rules.days`: should be a valid integer, not "six".'),
        ("rules.day=6", "--set rules.day: `rules.day`: is no key here; did you mean `days`."),
        ("rules.days=[", "--set rules.days, line 1: "),
        (
            "rules.days.x=1",
            "`rules.days` is a single value; set it as a whole.",
        ),
        ("retailers.1.count=2", "`retailers` is a list of 1; its positions are 0 to 0."),
        ("retailers.-1.count=2", "`retailers` is a list of 1; its positions are 0 to 0."),
        ("retailers.x.count=2", "`retailers` is a list of 1"),
        ("retailers.0.count='2'", "--set retailers.0.count: `retailers.0.count`: should be"),
        ("retailers=[]", "--set retailers: `retailers`: should have at least 1 item"),
        ("retailers.0={name: b}", "--set retailers.0: `retailers.0.policy`: is missing"),
        ("extends=arena/paper", "--set extends: `extends` stands in a file only"),
        ("retailers.0.options.api_key=sk-very-secret", "secrets do not belong"),
        ("rules={headers: {Authorization: Bearer x}}", "`rules.headers.Authorization`: secrets"),
    ],
)
def test_a_wrong_override_is_named_as_the_source(tmp_path: Path, override: str, told: str) -> None:
    message = refused(tmp_path, stands(rules={"days": 2}), override)
    assert told in message
    assert message.startswith("--set")
    assert "very-secret" not in message


def test_a_secret_is_not_repeated(tmp_path: Path) -> None:
    assert "hunter2" not in refused(tmp_path, stands(rules={"password": "hunter2"}))


def test_the_file_that_said_it_last_is_named(tmp_path: Path) -> None:
    base = file(tmp_path, stands(rules={"days": "x"}), "base.yaml")
    above = file(tmp_path, {"extends": "base.yaml", "rules": {"turns": 3}}, "above.yaml")
    with pytest.raises(ConfigError) as error:
        load(above)
    assert str(error.value).startswith(f"{base}: `rules.days`")


def test_a_missing_file_is_told() -> None:
    with pytest.raises(ConfigError, match=r"no file and no preset `no/such\.yaml`"):
        load("no/such.yaml")


def test_options_come_back_as_the_policy_takes_them(tmp_path: Path) -> None:
    options = {
        "needed": 3,
        "share": 1,
        "mood": "wild",
        "slogans": ["x", "y"],
        "limits": {"low": 1},
        "extra": {"b": 1, "a": 2},
    }
    config = load(file(tmp_path, picky(**options)))
    path, taken = policy(config, config.retailers[0])
    assert path == PICKY
    made = registry.load(path)(seat="a", seed=config.seed, **taken)
    assert made == Picky(
        "a", 0, 3, 1.0, Mood.WILD, slogans=("x", "y"), limits=Limits(1), extra={"a": 2, "b": 1}
    )


def test_what_is_recorded_holds_every_option_and_nothing_operational(tmp_path: Path) -> None:
    config = load(file(tmp_path, picky(needed=1, api_base="http://here") | {"inline": True}))
    record = recorded(config)
    assert record.keys() == {"environment", "seed", "rules", "retailers", "encoder"}
    assert record["retailers"][0] == {
        "name": "a",
        "policy": PICKY,
        "count": 1,
        "options": {
            "needed": 1,
            "share": 0.5,
            "mood": "calm",
            "style": "plain",
            "slogans": [],
            "limits": None,
            "extra": {},
        },
    }
    json.dumps(record, allow_nan=False)


def test_operational_settings_do_not_change_what_is_recorded(tmp_path: Path) -> None:
    path = file(tmp_path, picky(needed=1))
    plain = recorded(load(path))
    overrides = [
        "inline=true",
        "retailers_per_actor=4",
        "deadline_seconds=1",
        "address=here",
        "on_provider_failure=no_action",
        "name=other",
        "retailers.0.options.api_base=http://there",
    ]
    for override in overrides:
        assert recorded(load(path, [override])) == plain, override
    for override in ["seed=1", "rules.days=4", "encoder.model=x", "retailers.0.options.share=0.1"]:
        assert recorded(load(path, [override])) != plain, override


@pytest.mark.parametrize("ending", ["json", "yaml"])
def test_the_resolved_configuration_is_a_configuration(tmp_path: Path, ending: str) -> None:
    config = load(file(tmp_path, picky(needed=1, slogans=["no", "1e3", "\x7f"])), ["name=first"])
    path = file(tmp_path, json.dumps(resolved(config)), f"again.{ending}")
    assert load(path) == config
    assert configure(resolved(config)) == config


def test_a_configuration_made_in_python_is_checked_alike() -> None:
    assert configure(stands(rules={"days": 1})).rules["turns"] == 4
    with pytest.raises(ConfigError, match=r"^the sweep: `rules.dais`: is no key here"):
        configure(stands(rules={"dais": 1}), "the sweep")
    with pytest.raises(ConfigError, match=r"holds what JSON cannot: `rules.days`: nan is no"):
        configure(stands(rules={"days": float("nan")}))


def test_every_field_is_documented() -> None:
    for model in (Config, Retailer, Encoder):
        for name, field in model.model_fields.items():
            assert field.description, f"{model.__name__}.{name}"


def arena(tmp_path: Path, **rules: Any) -> dict[str, Any]:
    return {
        "environment": "arena",
        "rules": {
            "items": [{"item": "tea", "tier": "commodity", "quantity": 100, "base": 50}],
            "personas": {"Thrifty": {"share": 1, "sensitivity": 0.2, "theme": "cheap"}},
            "buyers": 20,
            **rules,
        },
        "retailers": [{"name": "markup", "policy": "markup", "count": 2}],
    }


def test_the_rules_of_the_arena_are_resolved(tmp_path: Path) -> None:
    config = load(file(tmp_path, arena(tmp_path, terminal_stock={"salvage": 0.5})))
    assert config.rules["demand_ratio"] == 0.95
    assert config.rules["terminal_stock"] == {"salvage": 0.5}
    assert rules(config).demand == 95
    assert configure(resolved(config)) == config


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("rules.attention.rh=0.1", "`rules.attention.rh`: is no key here; did you mean `rho`."),
        ("rules.personas.Thrifty.shar=1", "`rules.personas.Thrifty.shar`: is no key here"),
        (
            "rules.items.0.quantity=-1",
            "`rules.items.0.quantity`: should be greater than 0",
        ),
        ("rules.terminal_stock=3", "should be 'cost', or should be an object, not 3."),
        ("rules.terminal_stock={salvage: x}", "`rules.terminal_stock.salvage`: should be a valid"),
        ("rules.buyers=1000", "--set rules.buyers: `rules.buyers`: 1000 buyers cannot share"),
        (
            "retailers.0.options.markup=big",
            "`retailers.0.options.markup`: should be a valid",
        ),
        ("retailers.0.options.markpu=1", "did you mean `markup`."),
    ],
)
def test_a_mistake_in_the_rules_of_the_arena_is_told(
    tmp_path: Path, override: str, told: str
) -> None:
    assert told in refused(tmp_path, arena(tmp_path), override)
