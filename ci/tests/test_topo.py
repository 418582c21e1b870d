"""ucx-bench topo: of this machine, of recorded ones, and with emulated GPUs."""

import json
import os
import re

import pytest
from conftest import ROOT
from emulated_gpu import EMULATOR, needs_emulator

FIXTURES = ROOT / "harness/analysis/fixtures"


@pytest.fixture
def topo(bench):
    """topo(ARGUMENTS…): the program's output; keyword `code` is the status that is expected."""

    def run(*arguments, code=0, **options):
        done = bench("topo", *arguments, **options)
        assert done.code == code, done
        return done

    return run


def test_this_machine(topo):
    text = topo().out
    assert re.match(r"topology of this machine, hash [0-9a-f]{16}\n", text)
    known = json.loads(topo("--format", "json").out)
    assert known["hash"] in text and known["source"] == "this machine"
    cpus = {device["name"]: device["cpu_affinity"] for device in known["devices"] if device["kind"] == "numa"}
    assert cpus
    for name, affinity in cpus.items():
        assert re.search(rf"^  {name} +{affinity}\b", text, re.MULTILINE)


def test_unknown_is_null_never_zero(topo):
    for link in json.loads(topo("--format", "json").out)["links"]:
        for key in ("spec_GBps", "calibrated_GBps", "now_GBps"):
            assert link[key] is None or link[key] > 0


@pytest.mark.parametrize("name", ["dgx1.txt", "h100-nvswitch.nccl.xml", "two-socket.hwloc.xml"])
def test_another_machine(topo, name):
    assert topo("--import", FIXTURES / name).out == (FIXTURES / f"{name}.expected").read_text()


def test_the_documents_show_what_is_printed():
    expected = (FIXTURES / "dgx1.nccl.xml.expected").read_text().splitlines()
    shown = (ROOT / "docs/method/topology.md").read_text().split("$ ucx-bench topo --import")[1].split("```")[0].splitlines()[1:]
    assert len(shown) > 10
    assert [line for line in shown if line not in expected] == ["  …", "  …"]


def test_what_is_doubtful_is_said_in_one_line(topo, tmp_path):
    lines = (FIXTURES / "a100-nvswitch.txt").read_text().splitlines(keepends=True)
    (tmp_path / "short.txt").write_text("".join(line for line in lines if not line.startswith("GPU3")))
    done = topo("--import", "short.txt")
    assert done.err == ("ucx-bench: warning: 'short.txt': no row of GPU3: only what other rows say is known of it\n")
    assert re.search(r"^  GPU3 ", done.out, re.MULTILINE)


def test_its_json_is_imported_again(topo, tmp_path):
    topo("--import", FIXTURES / "dgx1.nccl.xml", "--format", "json", "-o", "dgx1.json")
    again = topo("--import", "dgx1.json", "--format", "json").out
    assert again == (tmp_path / "dgx1.json").read_text()
    topo("--format", "json", "-o", "here.json")
    assert topo("--import", "here.json").out.startswith("topology of a recorded machine, hash ")


def test_json_has_the_documented_names(topo):
    known = json.loads(topo("--import", FIXTURES / "dgx1.nccl.xml", "--format", "json").out)
    assert {"devices", "links", "pairs", "hash"} <= known.keys()
    gpu = next(device for device in known["devices"] if device["name"] == "GPU3")
    assert {"name", "alias", "kind", "pci", "numa_node", "cpu_affinity"} <= gpu.keys()
    assert gpu["kind"] == "gpu" and gpu["cpu_affinity"] == "0-19,40-59"
    pair = next(pair for pair in known["pairs"] if (pair["a"], pair["b"]) == ("GPU0", "GPU3"))
    assert pair["class"] == "NV2"
    link = next(link for link in known["links"] if (link["from"], link["to"]) == ("GPU0", "GPU3"))
    assert link["spec_GBps"] == 50 and link["calibrated_GBps"] is None and "V100" in link["source"]


def test_says_what_all_gpus_reach_at_once(topo):
    over_pcie, over_nics = json.loads(topo("--import", FIXTURES / "dgx1.nccl.xml", "--format", "json").out)["limits"]
    assert over_nics["route"] == "NVLink, else the nearest NIC"
    assert over_nics["per_gpu_GBps"] == pytest.approx(7 / 6 * 12.5)
    assert over_nics["resource"] == "port mlx5_0 -> network" and over_nics["unknown"] == []
    assert over_pcie["route"] == "NVLink, else PCIe" and over_pcie["unknown"]
    # Its NVLinks and PCIe links have no speeds.
    assert json.loads(topo("--import", FIXTURES / "dgx1.txt", "--format", "json").out)["limits"] == []


@pytest.mark.parametrize(
    "content, said",
    [
        ("\tGPU0\tGPU1\nGPU0\t X \tNV2\nGPU1\tNV", "line 3: 'NV'"),
        ("\tGPU0\tGPU1\nGPU0\t X \tNV2\nGPU1", "line 3: the matrix is cut off: row GPU1 has 0 of 2 cells"),
        ("\tGPU0\tGPU1\nGPU0\t X \tNV-2\n", "line 2: 'NV-2'"),
        ("\tGPU0\tGPU1\nGPU0\t X \tNEAR\n", "line 2: unknown class 'NEAR'"),
        ("<topology><object>", "not whole XML: line 1"),
        ("<svg></svg>", "XML of <svg>"),
        ("hello", "no matrix of nvidia-smi topo -m"),
        ("", "empty"),
    ],
)
def test_refuses_what_is_no_topology(topo, tmp_path, content, said):
    (tmp_path / "file").write_text(content)
    (line,) = topo("--import", "file", code=2).complaints
    assert line.startswith("ucx-bench: 'file': ") and said in line


def test_refuses_files_that_cannot_be_or_are_too_large(topo, tmp_path):
    (line,) = topo("--import", "none", code=2).complaints
    assert "cannot read 'none': No such file" in line
    with open(tmp_path / "large", "wb") as file:
        file.truncate(101 << 20)
    (line,) = topo("--import", "large", code=2).complaints
    assert "'large' is larger than 16 MiB" in line


def test_refuses_other_formats_and_outputs(topo):
    assert "--format" in topo("--format", "png", code=2).err
    (line,) = topo("-o", "/nowhere/topology.txt", code=2).complaints
    assert "cannot write '/nowhere/topology.txt'" in line


def test_is_drawn(topo, tmp_path):
    pytest.importorskip("matplotlib")
    topo("--import", FIXTURES / "dgx1.nccl.xml", "--format", "svg", "-o", "dgx1.svg")
    text = (tmp_path / "dgx1.svg").read_text()
    assert text.startswith("<?xml") and text == topo("--import", FIXTURES / "dgx1.nccl.xml", "--format", "svg").out
    for name in ("GPU7", "mlx5_3", "NUMA1", "NVLink, 25 to 50 GB/s"):
        assert f">{name}" in text


@needs_emulator
def test_emulated_gpus(topo):
    environment = {"LD_LIBRARY_PATH": str(EMULATOR), "CUDA_EMULATOR_GPUS": "3", "CUDA_VISIBLE_DEVICES": "1"}
    text = topo(environment=environment).out
    assert "Emulated GPU" in text and "GPU2" in text
    known = json.loads(topo("--format", "json", environment=environment).out)
    classes = {(pair["a"], pair["b"]): pair["class"] for pair in known["pairs"]}
    # Four links each to the two others in turn.
    assert classes["GPU0", "GPU1"] == classes["GPU1", "GPU2"] == "NV2"
    gpu = next(device for device in known["devices"] if device["name"] == "GPU2")
    assert gpu["pci"] == "e000:03:00.0" and gpu["cpu_affinity"] == format_cpus(os.cpu_count())
    up = next(link for link in known["links"] if link["from"] == "GPU2" and link["class"] == "PCIe")
    assert up["source"] == "PCIe gen4 x16 by NVML, now PCIe gen1 x16"
    assert up["spec_GBps"] > up["now_GBps"] > 0


@needs_emulator
def test_emulated_gpus_without_links(topo):
    environment = {"LD_LIBRARY_PATH": str(EMULATOR), "CUDA_EMULATOR_NVLINKS": "0"}
    known = json.loads(topo("--format", "json", environment=environment).out)
    # They are not in the PCI tree, so this is NVML's word.
    assert {"a": "GPU0", "b": "GPU1", "class": "PHB"} in known["pairs"]


def format_cpus(count):
    return "0" if count == 1 else f"0-{count - 1}"


def test_a_run_says_where_it_was(bench, pingpong):
    """The run file has the graph that `topo` prints, and its hash beside the machine's name."""
    done = pingpong("--transports", "tcp", "--sizes", "8")
    graph = json.loads(bench("topo", "--format", "json").out)
    assert done.file["topology"]["devices"] == graph["devices"]
    assert done.file["machine"]["topology_hash"] == graph["hash"] == done.file["topology"]["hash"]
