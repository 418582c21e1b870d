"""The timelines of a page, and what stands there without them."""

import pytest

from logs import RECEIVE, keep_two_ranks, log_of, records, section
from pages import timeline
from seen import made
from transferlog import Rank, Timeline, longest_of, zeros_of


def with_log(run):
    run["run"]["transfers"] = "run.transfers.bin"


def test_the_timeline_is_of_the_median_launch(run_file, tmp_path):
    # Launch medians grow with the launch's number: of six the third is the lower median.
    (tmp_path / "run.transfers.bin").write_bytes(log_of(2))
    text = made(run_file(with_log, which="workload")).text
    assert "merge/tag/host-host/tcp/1M/ranks=2" not in text.split("Timeline of the median run")[1].split("Pairs")[0]
    assert "has nothing of merge/tag/host-host/tcp/1M/ranks=4" in text  # the largest number of ranks

    text = made(run_file(keep_two_ranks, which="workload")).text
    drawn = text.split("Timeline of the median run")[1].split("Directional asymmetry")[0]
    assert "ranks=2 over tcp : 10.0 ms" in drawn and "2 ranks: time in each phase, ms" in drawn
    assert "shuffle (waiting)" in drawn and "messages under way" in drawn and "No timeline" not in text


@pytest.mark.parametrize(
    ("log", "words"),
    [
        (None, "run.transfers.bin is missing"),
        (b"UCXTRF02", "'run.transfers.bin' is not a transfer log of ucx-bench"),
        (log_of(2)[:-1], "cut off at byte"),
        (b"UCXTRF01" + section(2, 2, 0, b"")[:-3], "cut off at byte"),
        (b"UCXTRF01" + section(2, 2, 0, records((RECEIVE, 0, 5, 3, 4))), "has no complete run of"),
        (log_of(9), "has nothing of"),
    ],
)
def test_a_log_that_cannot_be_read_is_named(run_file, tmp_path, log, words):
    if log is not None:
        (tmp_path / "run.transfers.bin").write_bytes(log)
    text = made(run_file(with_log, which="workload")).text
    assert "No timeline: " in text and words in text


def test_a_log_is_never_looked_for_elsewhere(run_file, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "elsewhere.transfers.bin").write_bytes(log_of(2))

    def elsewhere(run):
        run["run"]["transfers"] = "../elsewhere.transfers.bin"

    file = run_file(elsewhere, which="workload").rename(tmp_path / "a/run.json")
    assert "elsewhere.transfers.bin is missing" in made(file).text


def rank_of(*intervals, messages=()):
    """Of (name, begin, end)."""
    import numpy

    def arrays(of):
        return tuple(numpy.array([part[at] for part in of], dtype=float) for at in (-2, -1))

    names = dict.fromkeys(name for name, *_ in intervals)
    return Rank({name: arrays([part for part in intervals if part[0] == name]) for name in names}, arrays(messages))


def test_a_timeline_has_the_longest_phase_of_each_step_and_how_much_of_it_messages_took(monkeypatch):
    monkeypatch.setattr(timeline, "STEPS", (10,))
    rank = rank_of(("build", 0, 2), ("wait", 2, 4.7), ("build", 4.7, 6), messages=[(1, 3), (5, 5.4)])
    [made_of] = timeline.charts_of([("a case", Timeline({7: rank}, end_ms=10, kinds={"build": "computing", "wait": "waiting"}))])
    chart = made_of["chart"]
    assert [part["name"] for part in chart["parts"]] == ["build", "wait (waiting)"]
    assert chart["rows"] == [{"name": "rank 7", "phases": [0, 2, 0, 2, 3, 1, 5, 1, 0], "messages": [1, 2, 4, 5, 1, 2]}]
    assert made_of["rows"] == [["7", "3.30", "2.70", "2.40"]]


def test_a_timeline_of_very_many_parts_is_coarser(monkeypatch):
    monkeypatch.setattr(timeline, "MOST_NUMBERS", 100)
    rank = rank_of(*(("build", at, at + 0.5) for at in range(100)))
    assert timeline.charts_of([("a case", Timeline({0: rank}, end_ms=100))])[0]["chart"]["steps"] == 1000


def test_a_run_takes_as_long_as_all_ranks_of_a_host():
    hosts = {0: "a", 1: "a", 2: "b", 3: "b"}
    one_by_one, later = {0: (0, 10), 1: (10, 20)}, {2: (5000, 5012), 3: (5001, 5013)}
    assert longest_of(one_by_one, hosts) == 20
    assert longest_of(later, hosts) == 13
    assert longest_of(one_by_one | later, hosts) == 20, "nothing is known between two clocks"


def test_ranks_of_several_hosts_stand_side_by_side_by_their_clocks():
    def seen(at_ns, offset_ns, uncertainty_ns):
        return {"at_ns": at_ns, "offset_ns": offset_ns, "uncertainty_ns": uncertainty_ns}

    clock = {"launch": 2, "cases": [1], "host": "b", "begin": seen(1000, 500, 3000), "end": seen(2000, 510, 2000)}
    run = {"machine": {"hosts": [{"name": "a"}, {"name": "b"}]}, "run": {"clocks": [clock]}}
    assert zeros_of(run, 1, 2, {"a": 1500, "b": 2010}) == ({"a": 1500, "b": 2005}, 3.0)
    assert zeros_of(run, 1, 2, {"a": 1500}) == ({"a": 1500}, 0)
    # Without a clock each host's ranks begin at 0.
    assert zeros_of(run, 1, 3, {"a": 1500, "b": 2010}) == ({"a": 1500, "b": 2010}, None)

    rank = rank_of(("build", 0, 2))
    for uncertainty_us, said in ((0, ""), (34.5, "; clocks of its hosts to within ± 34.5 µs"), (None, "; the clocks of its hosts")):
        [made_of] = timeline.charts_of([("a case", Timeline({0: rank}, 2, uncertainty_us))])
        assert made_of["about"].startswith("2.00 ms" + said) and (said or made_of["about"] == "2.00 ms")
        assert made_of["chart"]["uncertainty_ms"] == (uncertainty_us or 0) * 1e-3


def test_phases_have_one_colour_in_bars_and_timelines():
    kinds = {"build": "computing", "wait": "waiting", "probe": "computing"}
    assert timeline.colors_of(kinds) == {"build": "--color-0", "wait": "--wait", "probe": "--color-2"}
