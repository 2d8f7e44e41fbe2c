from __future__ import annotations

import json
from pathlib import Path

import pytest

from market.arena.policies.markup import Markup
from market.calls import CallLog, CallRecord, Outcome
from market.config import ConfigError
from market.environment import Answer, Cause, NoAction
from market.journal import Header, JournalWriter, journal_digest
from market.language import Reply, Usage
from market.replay import build_environment
from market.study.report import write_report
from market.study.report.loading import ReportError, load_view
from market.tables import write_tables
from tests.market import recorded

CONFIG = {
    "environment": "arena",
    "seed": 3,
    "rules": {
        "steps": 2,
        "items": [{"item": "tea", "tier": "commodity", "quantity": 40, "base": 50}],
        "personas": {"Thrifty": {"share": 1.0, "sensitivity": 0.2, "theme": "cheap"}},
        "buyers": 10,
        "attention": {"similarity": "none"},
        "initial_funds": 1000,
    },
    "retailers": [
        {"name": "markup", "policy": "markup", "count": 2, "options": {}},
        {"name": "gpt", "policy": "llm", "count": 1, "options": {"model": "openai/gpt"}},
    ],
    "encoder": {"model": "tiny"},
}


def play(folder: Path, config=CONFIG, batches: int | None = None) -> Path:
    """Play a small arena in which `gpt` bids badly, says something and then falls silent."""
    journal = folder / "episodes" / "e1" / "journal.jsonl"
    journal.parent.mkdir(parents=True)
    environment = build_environment(config)
    scripts = {seat: Markup(seat, 3) for seat in ("markup-1", "markup-2")}
    asked, played = environment.start(), 0
    with JournalWriter.create(journal, Header.of(config, 1, "e1")) as writer:
        while asked and played != batches:
            answers = {
                decision.seat: scripts[decision.seat].act(decision)
                if decision.seat in scripts
                else _model(decision)
                for decision in asked
            }
            writer.append(asked, answers)
            asked = environment.apply(answers)
            played += 1
        if not asked:
            writer.finish(environment.result)
    with CallLog(journal.with_name("calls.jsonl"), {"packages": {"numpy": "2"}}) as log:
        for step, cost in ((1, 0.25), (2, None)):
            usage = Usage("gpt-1", 100, 20, 0, cost, 1.0, 1)
            reply = Reply("{}", "stop", usage)
            log.append(CallRecord("e1", step, 0, "gpt", 0, Outcome.SENT, "openai/gpt"))
            log.append(
                CallRecord("e1", step, 0, "gpt", 0, Outcome.REPLIED, "openai/gpt", reply=reply)
            )
    write_tables(folder)
    return folder


def _model(decision):
    if decision.step == 2:
        return NoAction(Cause.LATE)
    if decision.kind == "bid":
        return Answer(
            {
                "bids": [
                    {"item": "tea", "quantity": 5, "price": 60},
                    {"item": "<b>", "quantity": 1, "price": 9},
                ]
            }
        )
    return Answer({"prices": {"tea": 70, "gold": 5}, "slogan": "Tea & more"})


def test_a_recorded_game_is_gathered_whole(tmp_path):
    view = load_view(play(tmp_path))
    assert (view.environment, view.seed, view.steps, view.episode) == ("arena", 3, 2, "")
    assert {r.seat: (r.policy, r.model) for r in view.retailers} == {
        "markup-1": ("markup", None),
        "markup-2": ("markup", None),
        "gpt": ("llm", "openai/gpt"),
    }
    assert view.funds == 1000
    assert [(item.item, item.base) for item in view.items] == [("tea", 50)]
    for retailer in view.retailers:
        assert retailer.score == retailer.metrics["profit"]
        undefined = {name for name, value in retailer.metrics.items() if value is None}
        assert undefined == retailer.undefined.keys()
        assert len(view.capital[retailer.seat]) == 2
    assert len(view.indices["gini_net_worth"]) == 2
    assert view.indices["rank_mobility_profit"][0] is None
    assert all(isinstance(name, str) and value for name, value in view.settings)


def test_what_a_retailer_said_offered_was_refused_and_left_undone_is_there(tmp_path):
    view = load_view(play(tmp_path))
    (offer,) = [offer for offer in view.offers if offer.seat == "gpt"]
    assert (offer.item, offer.step, offer.price) == ("tea", 1, 70)
    assert ("gpt", 1, "Tea & more") in [(s.seat, s.step, s.slogan) for s in view.slogans]
    refused = {(r.what, r.item, r.detail) for r in view.refusals if r.seat == "gpt"}
    assert refused == {("bid", "<b>", "1 at 9"), ("price", "gold", "at 5")}
    assert [(i.seat, i.step, i.kind, i.cause) for i in view.inactions] == [
        ("gpt", 2, "bid", "late"),
        ("gpt", 2, "bid", "late"),
        ("gpt", 2, "sell", "late"),
    ]


def test_a_cost_of_which_a_part_is_unknown_is_unknown(tmp_path):
    (usage,) = load_view(play(tmp_path)).usage
    assert (usage.model, usage.calls, usage.cost_usd) == ("openai/gpt", 2, None)
    assert (usage.prompt_tokens, usage.completion_tokens) == (200, 40)


def test_the_summary_and_the_configuration_of_the_run_come_first(tmp_path):
    play(tmp_path)
    entry = {"seat": "a", "name": "a", "policy": "p", "model": None, "score": 7, "metrics": {}}
    summary = {
        "name": "my run",
        "retailers": [entry],
        "wall_seconds": 9.5,
        "journal_digest": "d",
    }
    (tmp_path / "summary.json").write_text(json.dumps(summary))
    (tmp_path / "config.json").write_text(json.dumps(CONFIG | {"deadline_seconds": 30}))
    view = load_view(tmp_path)
    assert (view.title, view.wall_seconds, view.journal_digest) == ("my run", 9.5, "d")
    assert [(r.seat, r.score) for r in view.retailers] == [("a", 7)]
    assert "deadline_seconds" in view.config


def test_without_a_summary_the_journal_names_the_game(tmp_path):
    view = load_view(play(tmp_path))
    assert view.journal_digest == journal_digest(tmp_path / "episodes/e1/journal.jsonl")
    assert view.wall_seconds is None


def test_an_unfinished_game_is_shown_as_far_as_it_went(tmp_path):
    view = load_view(play(tmp_path, batches=4))
    assert view.episode == "unfinished, at step 2"
    assert [r.score for r in view.retailers] == [None, None, None]
    assert all(path[0] is not None and path[1] is None for path in view.capital.values())
    assert write_report(tmp_path).stat().st_size > 1_000_000


def test_another_environment_has_a_report_of_what_every_environment_has(tmp_path):
    journal = tmp_path / "episodes" / "e1" / "journal.jsonl"
    journal.parent.mkdir(parents=True)
    recorded.record(journal)
    write_tables(tmp_path)
    view = load_view(tmp_path)
    assert view.steps == 3
    assert [r.seat for r in view.retailers] == ["stand-1", "stand-2"]
    assert None not in [r.score for r in view.retailers]
    page = write_report(tmp_path).read_text(encoding="utf-8")
    assert "stand-2" in page


def test_a_report_replaces_an_earlier_one_and_leaves_nothing_else(tmp_path):
    play(tmp_path)
    path = write_report(tmp_path)
    first = path.read_bytes()
    assert write_report(tmp_path) == tmp_path / "report.html"
    assert path.read_bytes() == first
    assert not list(tmp_path.glob("*.part"))


def test_a_folder_without_an_episode_is_refused_in_one_sentence(tmp_path):
    with pytest.raises(ReportError, match="holds no recorded episode"):
        load_view(tmp_path)


def test_rules_of_another_version_are_named(tmp_path):
    folder = play(tmp_path)
    rules = {**CONFIG["rules"], "tariff": 2}
    (folder / "config.json").write_text(json.dumps({**CONFIG, "rules": rules}))
    with pytest.raises(
        ReportError, match=r"config\.json: `rules\.tariff`: is no key here; .+"
    ) as told:
        load_view(folder)
    assert "\n" not in str(told.value)
    assert str(told.value).endswith("so make the report with the one that played them")


def test_a_damaged_summary_is_named(tmp_path):
    play(tmp_path)
    (tmp_path / "summary.json").write_text("[1]")
    with pytest.raises(ConfigError, match=r"summary\.json is no mapping"):
        load_view(tmp_path)
