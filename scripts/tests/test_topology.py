"""topology.py draws from the JSON alone, and says in one line what it cannot."""

import copy
import json
import os
import subprocess
import sys

import pytest

from conftest import ROOT
from pages import wiring
from topology import place, read


def device(name, kind, parent, **more):
    empty = dict.fromkeys(("alias", "model", "pci", "state", "numa_node", "cpu_affinity"))
    return {"name": name, "kind": kind, "parent": parent, **empty, **more}


def both_ways(a, b, link_class, capacity):
    link = {"class": link_class, "count": 1, "spec_GBps": capacity, "source": None}
    return [{"from": a, "to": b, **link}, {"from": b, "to": a, **link}]


TOPOLOGY = {
    "hash": "0123456789abcdef",
    "source": "this machine",
    "devices": [
        device("host", "host", None),
        device("NUMA0", "numa", "host", cpu_affinity="0-3"),
        device("GPU0", "gpu", "NUMA0", model="A GPU with a rather long name"),
        device("GPU1", "gpu", "NUMA0"),
        device("mlx5_0", "nic", "NUMA0", alias="ib0"),
        device("NVSwitch", "switch", None),
        device("network", "network", None),
    ],
    "links": [
        *both_ways("NUMA0", "host", "internal", None),
        *both_ways("GPU0", "NUMA0", "PCIe", 31.5),
        *both_ways("GPU1", "NUMA0", "PCIe", 15.75),
        *both_ways("mlx5_0", "NUMA0", "PCIe", None),
        *both_ways("GPU0", "GPU1", "NVLink", 50),
        *both_ways("GPU1", "NVSwitch", "NVLink", None),
        *both_ways("mlx5_0", "network", "network", 12.5),
    ],
    "pairs": [],
}


def draw(*arguments, **environment):
    command = [sys.executable, ROOT / "scripts/topology.py", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, env={**os.environ, **environment}
    )


@pytest.fixture
def file_of(tmp_path):
    def write(topology):
        file = tmp_path / "topology.json"
        file.write_text(topology if isinstance(topology, str) else json.dumps(topology))
        return file

    return write


def refused(status, *arguments, **environment):
    done = draw(*arguments, **environment)
    assert done.returncode == status, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stdout == ""
    return done.stderr


def test_shows_devices_and_capacities(file_of, tmp_path):
    out = tmp_path / "out.svg"
    done = draw(file_of(TOPOLOGY), "-o", out)
    assert done.returncode == 0 and not done.stdout, done.stderr
    text = out.read_text()
    for part in ("GPU0", "A GPU with a rather ", "mlx5_0", "ib0", "CPUs 0-3", "NVSwitch", "PCIe, 15.75 to 31.5 GB/s",
                 "NVLink, 50 GB/s", "this machine, hash 0123456789abcdef"):
        assert part in text, part
    assert ">network<" not in text
    head = text[text.index("<svg") :].split(">")[0]
    assert "viewBox=" in head and "width=" not in head and "height=" not in head  # as large as its window
    assert draw(file_of(TOPOLOGY)).stdout == text


def boxes_of(topology):
    title, devices, links = read(topology)
    return wiring.drawing(title, devices, links, place(devices))


def test_no_box_covers_another_and_a_common_model_is_told_once():
    of_gpus = {"hash": "0", "source": "invented", "links": [], "devices": [
        device("host", "host", None), *(device(f"a switch of GPU{at}", "bridge", "host") for at in range(12)),
        *(device(f"GPU{at}", "gpu", f"a switch of GPU{at}", model="Invented GPU") for at in range(12))]}
    drawn = boxes_of(of_gpus)
    by_level = {}
    for box in drawn["boxes"]:
        by_level.setdefault(box["y"], []).append((box["x"] - box["width"] / 2, box["x"] + box["width"] / 2))
    assert sorted(map(len, by_level.values())) == [1, 12, 12]
    for level in by_level.values():
        level.sort()
        assert all(left[1] < right[0] for left, right in zip(level, level[1:]))
        assert level[0][0] >= 0 and level[-1][1] <= drawn["width"]
    assert [entry["text"] for entry in drawn["entries"]] == ["GPU: Invented GPU"]
    assert {"GPU3"} in [set(box["lines"]) for box in drawn["boxes"]]


def test_draws_a_machine_without_devices(file_of):
    bare = copy.deepcopy(TOPOLOGY)
    bare["devices"], bare["links"] = bare["devices"][:1], []
    done = draw(file_of(bare))
    assert done.returncode == 0 and "host" in done.stdout, done.stderr


def test_says_what_it_cannot(file_of, tmp_path):
    for wrong in ("[]", "{}", '{"devices": 3}'):
        assert "is not a topology" in refused(2, file_of(wrong))
    assert "cannot write" in refused(2, file_of(TOPOLOGY), "-o", tmp_path / "none" / "out.svg")
    assert "see ucx-bench topo --help" in refused(2)


def test_names_the_set_up_without_jinja2(file_of, tmp_path):
    (tmp_path / "jinja2.py").write_text("raise ImportError('no jinja2')")
    assert "./scripts/setup/python" in refused(3, file_of(TOPOLOGY), PYTHONPATH=str(tmp_path))
