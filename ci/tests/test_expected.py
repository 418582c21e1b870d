"""pingpong --expected: UCX's own estimate beside the measurement."""

from conftest import SANITIZED, only, quick


def test_estimates_ranges_and_findings(bench):
    # lo says no speed; and the protocol changes where it is told to.
    words = ["--transports", "tcp", "--sizes", "64,64KiB", "--expected", "--ucx", "UCX_RNDV_THRESH=1024"]
    done = bench("pingpong", *quick(words))
    assert done.code == 0, done
    run = done.file
    newer = tuple(map(int, run["ucx"]["version"].split(".")[:2])) >= (1, 16)
    for case in run["cases"]:
        if case["benchmark"] == "canary":
            continue
        rows = {row["use"]: row for row in case["path"]["protocols"] if row["use"] != "counted"}
        for use in ("latency", "bandwidth"):
            row, size = rows[use], case["parameters"]["bytes"]
            assert row["expected_us"] > 0 and row["expected_by"] == ("request" if newer else "ucp_ep_evaluate_perf")
            assert row["from"] <= size and (row["to"] is None or size <= row["to"])
            assert (row["from"] == 1024) == (size > 1024), row
        assert case["path"]["speed_unknown"] == ["tcp/lo"] and case["parameters"]["expected"] is True
    # Both sides of the threshold are measured as UCX sends the other side.
    small, large = [case for case in run["cases"] if case["benchmark"] != "canary"]
    for case, setting in ((small, "64"), (large, "inf")):
        for launch in case["launches"]:
            row = only([row for row in launch["path"]["protocols"] if row["use"] == "forced"])
            assert row["settings"] == {"UCX_RNDV_THRESH": setting} and row["latency_us"] > 0
            assert any(word in row["protocol"] for word in ("rendezvous", "rndv")) == (case is small), row
    guess = only([finding for finding in run["findings"] if finding["id"] == "guessed-speed"])
    assert guess["subject"] == "tcp/lo" and "for 64 KiB, measured" in guess["evidence"]
    assert done.out.count("UCX's estimate") == 2 and "time / estimate" in done.out and "1 KiB and up" in done.out
    assert bench("report", "run.json").out == done.out
    page = bench("report", "run.json", "--html", "run.html")
    assert page.code == 3 or SANITIZED or "expected by UCX" in (done.folder / "run.html").read_text(), page


def test_only_ucx_expects_anything(bench):
    done = bench("pingpong", "--comm", "sockets", "--transports", "tcp", "--expected")
    assert done.code == 2 and "--expected: only UCX has estimates; leave out --expected or --comm sockets" in only(done.complaints), done
