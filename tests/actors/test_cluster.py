"""On a cluster a lost node costs time and nothing else; what the files for clusters say holds."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from market.config import load
from market.config.plans import expand
from tests.actors.three_nodes import CAP, config, journals, play_here

ROOT = Path(__file__).parents[2]

STORIES = ["scripts", "models", "per node"]


#: The story of the lost nodes takes two minutes or more on a busy machine.
pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("cluster")
    command = [sys.executable, "-m", "tests.actors.three_nodes", str(folder)]
    played = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=500)
    assert played.returncode == 0, played.stderr[-6_000:]
    found: dict[str, Any] = json.loads((folder / "told.json").read_text())
    return found


@pytest.mark.slow
@pytest.mark.parametrize("story", STORIES)
def test_a_lost_node_changes_no_byte(told: dict[str, Any], story: str) -> None:
    assert told[story]["owed"] is None
    assert told[story]["ended"] == 3
    assert told[story]["same"]


@pytest.mark.slow
@pytest.mark.parametrize("story", STORIES)
def test_episodes_go_on_soon_after_a_loss(told: dict[str, Any], story: str) -> None:
    assert 0.0 < told[story]["longest"] < 60.0


@pytest.mark.slow
def test_work_is_done_by_workers_and_shared_actors_live_with_the_driver(
    told: dict[str, Any],
) -> None:
    lived = told["models"]["lived"]
    assert lived["MarketActor"] == lived["RetailerActor"] == ["worker"]
    assert lived["EncoderActor"] == lived["LanguageActor"] == ["head"]


@pytest.mark.slow
def test_a_language_actor_per_node_lives_where_work_is_done(told: dict[str, Any]) -> None:
    assert told["per node"]["lived"]["LanguageActor"] == ["worker"]
    assert "worker" in told["per node"]["lived"]["EncoderActor"]


@pytest.mark.slow
def test_caps_hold_over_the_language_actors_of_all_nodes(told: dict[str, Any]) -> None:
    assert told["models"]["most_at_once"] > CAP
    # What a lost actor had under way may still be answered when its permits are given anew.
    assert told["per node"]["most_at_once"] <= CAP + told["per node"]["lost"]


@pytest.mark.slow
def test_a_lost_market_costs_no_call(told: dict[str, Any]) -> None:
    asked, undisturbed = told["models"]["asked"]
    assert asked == undisturbed == told["models"]["replied"]
    assert told["models"]["lost"] == 0


@pytest.mark.slow
def test_calls_that_a_lost_node_had_under_way_are_recorded_as_lost(told: dict[str, Any]) -> None:
    asked, undisturbed = told["per node"]["asked"]
    assert told["per node"]["replied"] == undisturbed
    assert undisturbed <= asked <= undisturbed + told["per node"]["lost"]


def manifests() -> dict[str, Any]:
    text = (ROOT / "configs" / "cluster" / "kuberay.yaml").read_text()
    return {each["kind"]: each for each in yaml.safe_load_all(text)}


def containers() -> list[Any]:
    cluster = manifests()["RayJob"]["spec"]["rayClusterSpec"]
    groups = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]
    return [one for group in groups for one in group["template"]["spec"]["containers"]]


def test_the_manifest_is_a_job_with_its_tournament_and_a_volume() -> None:
    kinds = {kind: each["apiVersion"] for kind, each in manifests().items()}
    assert kinds == {"PersistentVolumeClaim": "v1", "ConfigMap": "v1", "RayJob": "ray.io/v1"}
    head = manifests()["RayJob"]["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]
    claims = [one.get("persistentVolumeClaim", {}).get("claimName") for one in head["volumes"]]
    assert manifests()["PersistentVolumeClaim"]["metadata"]["name"] in claims
    maps = [one.get("configMap", {}).get("name") for one in head["volumes"]]
    assert manifests()["ConfigMap"]["metadata"]["name"] in maps
    mounted = {one["name"] for one in containers()[0]["volumeMounts"]}
    assert mounted == {one["name"] for one in head["volumes"]}


def test_the_manifest_takes_keys_from_a_secret_and_holds_none() -> None:
    for container in containers():
        assert container["envFrom"] == [{"secretRef": {"name": "market-keys"}}]
        assert "env" not in container
    text = json.dumps(manifests())
    assert "runtimeEnv" not in text
    assert "Secret" not in manifests()
    assert "create secret generic market-keys" in (ROOT / "docs" / "clusters.md").read_text()


def test_the_manifests_containers_ask_for_what_they_may_have() -> None:
    for container in containers():
        assert container["resources"]["requests"] == container["resources"]["limits"]
    assert len({container["image"] for container in containers()}) == 1


def test_the_manifest_names_the_ray_that_the_project_is_tested_with() -> None:
    version = manifests()["RayJob"]["spec"]["rayClusterSpec"]["rayVersion"]
    assert f"ray=={version}" in (ROOT / "constraints.txt").read_text().splitlines()
    assert f"rayproject/ray:{version}-py311" in (ROOT / "docs" / "clusters.md").read_text()


def test_the_manifests_tournament_loads_and_its_script_runs_it(tmp_path: Path) -> None:
    files = manifests()["ConfigMap"]["data"]
    (tmp_path / "tournament.yaml").write_text(files["tournament.yaml"])
    assert len(expand(load(str(tmp_path / "tournament.yaml")))) == 10
    script = files["run.sh"].replace("exec market", "echo market")
    script = script.replace("/results", str(tmp_path))
    mounts = {one["name"]: one["mountPath"] for one in containers()[0]["volumeMounts"]}
    first = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
    command = f"market run {mounts['tournament']}/tournament.yaml --address auto --out"
    assert first.stdout == f"{command} {tmp_path}/models\n"
    (tmp_path / "models" / "episodes").mkdir(parents=True)
    again = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
    assert again.stdout == f"{command} {tmp_path}/models --resume\n"


@pytest.fixture
def head() -> Iterator[tuple[str, dict[str, str]]]:
    """A head that takes jobs, by its address, and the environment to submit them in."""
    with tempfile.TemporaryDirectory(prefix="ma-", dir="/tmp", ignore_cleanup_errors=True) as short:
        tools = str(Path(sys.executable).parent)
        own = {
            "PATH": os.pathsep.join([tools, os.environ["PATH"]]),
            "RAY_TMPDIR": short,  # sockets live there: a longer path is too long
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(16),
            "RAY_USAGE_STATS_ENABLED": "0",
        }
        environment = {**os.environ, **own}
        (Path(short) / "ray").mkdir()
        gcs, dashboard, client, agent = free_ports(4)
        command = ["ray", "start", "--head", "--block", "--num-cpus=2", f"--port={gcs}"]
        command += [f"--dashboard-port={dashboard}", f"--ray-client-server-port={client}"]
        command += [f"--dashboard-agent-listen-port={agent}"]
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as started:
            try:
                address = f"http://127.0.0.1:{dashboard}"
                wait_for(dashboard)
                yield address, environment
            finally:
                started.terminate()


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens at now."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def wait_for(port: int, seconds: float = 120.0) -> None:
    """Wait until somebody listens."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", port), timeout=1.0).close()
            return
        time.sleep(0.2)
    raise TimeoutError(f"nobody listens at {port}")


@pytest.mark.slow
def test_a_submitted_job_plays_on_its_cluster_and_says_what_went_wrong(
    head: tuple[str, dict[str, str]], tmp_path: Path
) -> None:
    address, environment = head
    folder, out = tmp_path / "mine", tmp_path / "out"
    folder.mkdir()
    (folder / "mine.yaml").write_text(yaml.safe_dump(config().model_dump(mode="json")))

    def submit(*arguments: str, **others: str) -> subprocess.CompletedProcess[str]:
        command = ["ray", "job", "submit", "--address", address, "--working-dir", str(folder)]
        command += ["--", "market", "run", *arguments, "--address", "auto"]
        return subprocess.run(
            command, env={**environment, **others}, capture_output=True, text=True, timeout=200
        )

    played = submit("mine.yaml", "--out", str(out))
    assert played.returncode == 0, played.stdout + played.stderr
    asyncio.run(play_here(config(inline=True), tmp_path / "calm"))
    assert journals(out) == journals(tmp_path / "calm")
    assert (out / "report.html").exists()

    wrong = submit("nothing.yaml", "--out", str(out))
    assert wrong.returncode == 1
    assert "There is no file and no preset `nothing.yaml`" in wrong.stdout
    assert "exit code 2" in wrong.stdout

    stranger = submit("mine.yaml", "--out", str(out), RAY_AUTH_TOKEN="not-the-token")
    assert stranger.returncode == 1
    assert environment["RAY_AUTH_TOKEN"] not in played.stdout + wrong.stdout + stranger.stdout
