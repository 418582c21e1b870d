"""LogGP's parameters from the command line to the run file, tables and the picture."""

import pytest
from conftest import only

METRICS = {"latency_us", "message_us", "send_overhead_us", "receive_overhead_us"}
PARAMETERS = ("L_ns", "o_s_ns", "o_r_ns", "g_ns", "G_ns_per_byte")


def test_parameters(bench):
    sizes = [1, 16, 256, 4096]
    done = bench("loggp", "--transports", "shm", "--sizes", "1:4KiB:x16", "--iterations", 5, "--warmup-runs", 1, "--launches", 6, "--bind", "none",
                 "--json", "run.json", "--markdown", "run.md")
    assert done.code == 0, done
    cases = done.file["cases"]
    assert [case["parameters"]["bytes"] for case in cases] == sizes
    for case in cases:
        assert case["state"] == "measured", case["reason"]
        assert case["verified"] == {"checked": 6 * (6 + 2 * 32), "errors": 0}
        assert METRICS <= case["metrics"].keys()
    entry = only(done.file["loggp_fits"])
    assert [size["bytes"] for range in entry["ranges"] for size in range["sizes"]] == sizes
    for range in entry["ranges"]:
        assert range.keys() >= set(PARAMETERS)
        for name in PARAMETERS:
            # A busy launch may lack what the others have.
            assert range["ci95"][name] is None or range["ci95"][name][0] <= range["ci95"][name][1]
        for size in range["sizes"]:
            case = only([case for case in cases if case["key"] == size["key"]])
            assert size["latency_us"] == pytest.approx(case["metrics"]["latency_us"]["p50"], rel=1e-4)
            beyond = size["bytes"] - 1
            # No latency is below 0.
            assert range["L_ns"] is None and range["overlap_ns"] > 0 or range["L_ns"] >= 0 and "overlap_ns" not in range
            # A gap that these sizes do not show is null, as where ranks lost their processors.
            assert range["o_s_ns"] is not None and range["o_r_ns"] is not None
            assert range["g_ns"] is not None or range["G_ns_per_byte"] is not None
            shown = {name: range[name] or 0 for name in PARAMETERS} | ({"L_ns": -range["overlap_ns"]} if range["L_ns"] is None else {})
            of = {name: value * 1e-3 for name, value in shown.items()}
            latency = of["L_ns"] + of["o_s_ns"] + of["o_r_ns"] + beyond * of["G_ns_per_byte"]
            # Of numbers with six digits, of which the largest may be milliseconds where a rank lost its processor.
            digits = 1e-4 + 2e-5 * max(abs(value) for value in (*of.values(), beyond * of["G_ns_per_byte"]))
            assert size["model_latency_us"] == pytest.approx(latency, rel=1e-3, abs=digits)
            assert size["model_message_us"] == pytest.approx(of["g_ns"] + beyond * of["G_ns_per_byte"], rel=1e-3)
            assert size["latency_off"] == pytest.approx(size["model_latency_us"] / size["latency_us"] - 1, rel=1e-3, abs=1e-3)
    for text in done.out, (done.folder / "run.md").read_text():
        assert "LogGP model and measurement, " in text and "G, ns/B" in text
    assert max(len(line) for line in done.out.splitlines()) <= 100
    assert bench("plot", "run.json", "-o", "run.png").code == 0
    page = bench("report", "run.json", "--html", "run.html")
    assert page.code == 0 and "LogGP parameters" in (done.folder / "run.html").read_text(), page


def test_other_devices(bench):
    done = bench("loggp", "--transports", "tcp", "--comm", "sockets", "--sizes", "8,64KiB", "--iterations", 5, "--warmup-runs", 1, "--launches", 1,
                 "--bind", "none", "--json", "run.json")
    assert done.code == 0, done
    assert [case["state"] for case in done.file["cases"]] == ["measured"] * 2
    # Two sizes are too few for a model.
    assert "loggp_fits" not in done.file
