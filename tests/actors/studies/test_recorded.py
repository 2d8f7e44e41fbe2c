"""A study of models: every episode is recorded, and told as packed ones are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from actors.errors import UserError
from actors.studies.recorded import play_recorded
from actors.studies.sweep import asks_models, conclude, sweep
from market.config import Config, configure
from tests.actors.studies.test_sweep import Told, rows
from tests.actors.test_ray import RULES, Silence
from tests.provider import Fails, Provider, Says


def study(retailer: dict[str, Any], vary: dict[str, Any], **settings: Any) -> Config:
    rules = {**RULES, "steps": 1, "attention": {"similarity": "none"}}
    return configure(
        {
            "environment": "arena",
            "rules": rules,
            "retailers": [{"name": "markup", "policy": "markup"}, retailer],
            "study": {"primary": "profit", "vary": vary, "seeds": 2},
            **settings,
        }
    )


def model(api_base: str = "") -> dict[str, Any]:
    options = {"model": "openai/any", "api_base": api_base}
    return {"name": "model", "policy": "llm", "options": options}


CAPS = {"rules.price_cap": [1.5, 2.0]}


def test_models_are_seen_wherever_a_cell_has_them() -> None:
    script = {"name": "zi", "policy": "zi-constrained"}
    assert not asks_models(study(script, CAPS))
    assert asks_models(study(model(), CAPS))
    assert asks_models(study(script, {"retailers.1": [script, model()]}))


def test_encoders_are_not_varied_among_models(tmp_path: Path) -> None:
    config = study(model(), {"encoder.model": ["one", "two"]})
    with pytest.raises(UserError, match="among scripts only"):
        play_recorded(config, tmp_path / "new", Silence())


@pytest.mark.slow
@pytest.mark.usefixtures("ray_cluster")
def test_a_recorded_study_tells_what_a_packed_one_does(tmp_path: Path) -> None:
    config = study({"name": "zi", "policy": "zi-constrained"}, CAPS, inline=True)
    swept = play_recorded(config, tmp_path / "recorded", Silence())
    sweep(config, tmp_path / "packed", Told())
    assert (swept.played, swept.failures, swept.owed) == (4, {}, None)
    recorded, packed = rows(tmp_path / "recorded"), rows(tmp_path / "packed")
    pd.testing.assert_frame_equal(recorded, packed, check_like=True)


@pytest.mark.slow
@pytest.mark.usefixtures("ray_cluster")
def test_a_study_of_models_is_owed_and_gone_on_with(tmp_path: Path) -> None:
    folder = tmp_path / "new"

    def answer(body: dict[str, Any]) -> Says:
        last = body["messages"][-1]["content"]
        return Says('{"bids":[]}' if "bids" in last else '{"prices":{},"slogan":"x"}')

    with Provider(Fails(401)) as provider:
        owed = play_recorded(study(model(provider.api_base), CAPS), folder, Silence())
    assert owed.owed is not None
    assert owed.played == 0
    assert conclude(owed, folder) is None
    with Provider(answer) as provider:
        config = study(model(provider.api_base), CAPS)
        swept = play_recorded(config, folder, Silence(), resume=True)
        assert provider.asked
    assert (swept.played, swept.owed) == (4, None)
    conclusion = conclude(swept, folder)
    assert conclusion is not None
    assert conclusion.summary["played"] == 4
    assert len(list(folder.glob("episodes/*/journal.jsonl"))) == 4
