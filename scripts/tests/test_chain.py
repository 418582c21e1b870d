"""With which run each row is compared: a loss stands until it is recovered or accepted, however it came."""

import json

import pytest

import synthetic_tree
from made_pages import made, program, text_of

from dashboards import triage, verdicts

LOST = 1.3
FIRST = "pingpong/tag/host-host/tcp/8B latency_us"


def told(program, word, *files):
    """As `compare` says where a change of 4 % is sure, and where the host reference explains what it reached."""
    if word != "compare" or "--with-itself" in files:
        return None, "not asked"
    base, new = ({case["key"]: case for case in json.loads(file.read_text())["cases"]} for file in files[:2])
    host = abs(new["canary/syscall"]["metrics"]["round_trip_us"]["p50"] / base["canary/syscall"]["metrics"]["round_trip_us"]["p50"] - 1)
    rows = []
    for key in sorted({*base, *new} - {"canary/syscall"}):
        for name in base.get(key, new.get(key))["metrics"]:
            row = {"key": key, "metric": name, "better": "lower" if name == "latency_us" else "higher", "why": "", "by": "",
                   "base": 1.0, "new": 1.0, "matched_base": None, "matched_new": None, "ratio": None, "base_launches": 12, "new_launches": 12, "interval": None, "floor": 0.01, "p_corrected": None}
            if new.get(key, {}).get("state") == "failed":
                rows.append(row | {"new": None, "verdict": "failed", "why": new[key]["reason"]})
                continue
            if name not in new.get(key, {"metrics": ()})["metrics"] or key not in base:
                rows.append(row | {"base": None, "verdict": "new" if key not in base else "missing"})
                continue
            told_of = {of: side.get(key, {}).get("reason") for of, side in (("base", base), ("new", new))}
            if "impossible" in told_of.values():
                rows.append(row | {"verdict": "inconclusive", "reason": "impossible", "why": "impossible",
                                   "base_is_flawed": told_of["new"] != "impossible"})
                continue
            if "zero" in told_of.values():
                rows.append(row | {"verdict": "failed" if told_of["new"] == "zero" else "inconclusive", "reason": "zero",
                                   "why": "zero", "base_is_flawed": told_of["new"] != "zero"})
                continue
            ratio = new[key]["metrics"][name]["p50"] / base[key]["metrics"][name]["p50"]
            slower = ratio if name == "latency_us" else 1 / ratio
            verdict = "unchanged" if abs(slower - 1) < 0.04 else "regressed" if slower > 1 else "improved"
            if verdict != "unchanged" and abs(slower - 1) < 1.2 * host:
                verdict = "inconclusive"
            rows.append(row | {"verdict": verdict, "ratio": ratio, "interval": [ratio, ratio]})
    return {"incomparable": "", "alpha": 0.005, "tests": len(rows), "differences": [], "host_changed": "", "series": rows}, ""


@pytest.fixture
def page(tmp_path, monkeypatch, program):
    """What the page of these nights says; `until` leaves out what came later."""
    monkeypatch.setattr(verdicts, "told", told)

    def page_of(nights, entry="", change=None):
        folder = tmp_path / f"runs-{len(list(tmp_path.iterdir()))}"
        files = synthetic_tree.write_nights(folder, nights)
        for night, how in (change or {}).items():
            run = json.loads(files[night].read_text())
            how(run)
            files[night].write_text(json.dumps(run))
        (folder / triage.FILE).write_text(entry)
        return text_of(made(folder, program))

    return page_of


def night(number):
    return f"2025-01-{number:02} 00:00 · night-{number} · commit"


def is_red(text, since, base):
    head, _, rest = text.partition("Verdicts")
    return (head.startswith("ucx-bench: 4 regressed, 4 unchanged") and f"4 rows worse since {night(since)}" in text
            and f"held against {night(base)}" in text and f"base: {night(base)}" in text
            and f"last good run: {night(base)}" in text
            and f"regressed since 2025-01-{since:02} " in text and f", since 2025-01-{since:02}" in text)


def is_green(text, good):
    return text.startswith("ucx-bench: 8 unchanged") and "worse since" not in text and f"last good run: {night(good)}" in text


BEFORE = [1] * 8


@pytest.mark.parametrize("newest", [9, 10, 11, 15])
def test_a_loss_stands_however_many_nights_pass(page, newest):
    assert is_red(page(BEFORE + [LOST] * (newest - 8)), since=9, base=8)


def test_the_night_of_a_loss_is_named_with_its_commits(page):
    text = page(BEFORE + [LOST] * 5)
    commit = [synthetic_tree.hashlib.sha1(str(number).encode()).hexdigest()[:12] for number in range(15)]
    assert f"suspects: git log --oneline {commit[8]}..{commit[9]}" in text
    assert f"git bisect start {commit[9]} {commit[8]}" in text


def test_missing_nights_in_between_change_nothing(page):
    assert is_red(page(BEFORE + [None, LOST, None, None, LOST, None, LOST]), since=10, base=8)


def test_a_run_that_failed_is_no_base(page):
    failed = {night: lambda run: run["run"].update(state="failed") for night in (8, 10)}
    assert is_red(page(BEFORE + [LOST] * 3, change=failed), since=9, base=7)


def test_it_recovers(page):
    assert is_green(page(BEFORE + [LOST] * 7 + [1]), good=16)
    assert f"base: {night(16)}" in page(BEFORE + [LOST] * 7 + [1, 1])


def test_it_is_lost_again(page):
    assert is_red(page(BEFORE + [LOST] * 2 + [1] + [LOST] * 2), since=12, base=11)


def without_figure(run):
    """As if `compare` found that no machine gives it."""
    for case in run["cases"]:
        if case["key"] + " latency_us" == FIRST:
            case["reason"] = "impossible"
            case["metrics"]["latency_us"]["p50"] /= 100


def test_an_impossible_figure_is_no_base_and_no_level(page):
    text = page([1] * 9, change={night: without_figure for night in range(3, 7)})
    assert text.startswith("ucx-bench: 8 unchanged")
    assert "worse since" not in text and "regressed since" not in text
    text = page([1] * 3, change={1: without_figure})
    assert text.startswith("ucx-bench: 8 unchanged"), "the next night is the base"
    text = page([1] * 5, change={night: without_figure for night in (2, 3, 4)})
    assert text.startswith("ucx-bench: 8 unchanged"), "three such nights begin no level"
    text = page([1] * 5, change={5: without_figure})
    assert text.startswith("ucx-bench: 2 inconclusive, 6 unchanged")
    assert f"last good run: {night(4)}" in text


def test_a_row_that_failed_in_a_night_is_no_base(page):
    def at_zero(run):
        run["cases"][0]["reason"] = "zero"

    text = page([1] * 6, change={night: at_zero for night in range(2, 7)})
    assert text.startswith("ucx-bench: 2 failed, 6 unchanged") and f"last good run: {night(1)}" in text


def test_a_night_without_a_verdict_recovers_nothing(page):
    text = page(BEFORE + [LOST, (LOST, 1.5)])
    assert is_red(text, since=9, base=8) and "last good 2025-01-08 (commit fe5dbbcea5); this run does not say otherwise: " in text


ENTRY = "- {{id: '*/tcp/*', state: {state}, reason: a header, owner: ann, expiry: {expiry}{day}}}\n"


def entry(state="accepted", expiry="2999-01-01", day=""):
    return ENTRY.format(state=state, expiry=expiry, day=day and f", day: {day}")


def test_what_is_accepted_is_the_new_level(page):
    nights = BEFORE + [LOST] * 5
    assert is_green(page(nights, entry(day="2025-01-12")), good=13)
    assert is_green(page(nights, entry()), good=13)
    # On the night itself it is shown, and not counted.
    text = page(BEFORE + [LOST], entry())
    assert text.startswith("ucx-bench: 4 unchanged, 4 excused") and "Look into" not in text
    # A further loss is none that was accepted.
    assert is_red(page(nights + [LOST * LOST] * 2, entry(day="2025-01-12")), since=14, base=13)
    for other in (entry("open"), entry("fixed"), entry(expiry="2025-01-12"), entry(day="2025-01-08")):
        assert is_red(page(nights, other), since=9, base=8)
    assert page(nights, entry("ignored")).startswith("ucx-bench: 4 unchanged, 4 excused")


def test_a_slow_loss_is_held_against_where_it_began(page):
    slowly = [1.01 ** night for night in range(16)]
    for newest in (7, 10, 16):
        text = page(slowly[:newest])
        assert text.startswith("ucx-bench: 4 regressed") and f"held against {night(1)}" in text, newest
        assert f"last good run: {night(1)}" in text
    assert page(slowly[:3]).startswith("ucx-bench: 8 unchanged")


def test_what_the_host_reference_explains_is_no_loss(page):
    assert "0 regressed" not in page(BEFORE + [(LOST, 1.3)]) and "worse since" not in page(BEFORE + [(LOST, 1.3)])
    # The next night tells: it is held against a night that was good, not against that one.
    assert is_red(page(BEFORE + [(LOST, 1.3), LOST, LOST]), since=10, base=8)
    assert is_red(page(BEFORE + [(LOST, 1.02)] * 2), since=9, base=8)


def test_one_lucky_night_is_no_base(page):
    assert is_green(page(BEFORE + [0.8, 1]), good=10)
    text = page(BEFORE + [0.8] * 4 + [1])
    assert text.startswith("ucx-bench: 4 regressed") and f"held against {night(12)}" in text


def test_rows_have_bases_of_their_own(page):
    """What loses on the twelfth night is held against the eleventh, whatever was lost on the ninth."""
    def lose(run):
        [case] = [case for case in run["cases"] if case["key"] == "pingpong/tag/host-host/shm/8B"]
        case["metrics"]["latency_us"]["p50"] *= LOST

    text = page(BEFORE + [LOST] * 5, change={number: lose for number in (12, 13)})
    assert text.startswith("ucx-bench: 5 regressed, 3 unchanged")
    for since, base, rows in ((9, 8, "4 rows"), (12, 11, "1 row")):
        told = text[text.index(f"{rows} worse since {night(since)}"):]
        assert told.index(f"held against {night(base)}") < 120


def fail(run):
    """With figures, as an older file has them, that are better than any."""
    case = run["cases"][0]
    case.update(state="failed", reason="it crashed")
    case["metrics"]["latency_us"]["p50"] /= 3


def wrong(run):
    run["cases"][0].update(verified={"checked": 80, "errors": 80})
    fail(run)


def lose(run):
    run["cases"][0]["metrics"]["latency_us"]["p50"] *= LOST


@pytest.mark.parametrize("how", [fail, wrong])
def test_a_case_that_did_not_pass_is_no_base_and_recovers_nothing(page, how):
    failed = {9: how, 10: how, 11: how}
    text = page([1] * 12, change={**failed, 12: how})
    assert text.startswith("ucx-bench: 2 failed, 6 unchanged"), text[:200]
    assert f"2 rows worse since {night(9)}" in text and f"held against {night(8)}" in text and f"last good run: {night(8)}" in text
    assert "Find out why 2 rows failed" in text and "it crashed" in text
    assert page([1] * 40, change=dict.fromkeys(range(9, 41), how)).startswith("ucx-bench: 2 failed")
    # It passes again, as fast as before: nothing of the nights in between counts.
    assert is_green(page([1] * 13, change=failed), good=13)
    # What was lost before is still lost.
    lost = page([1] * 12, change={8: lose, **failed, 12: lose})
    assert lost.startswith("ucx-bench: 1 regressed, 7 unchanged") and f"1 row worse since {night(8)}" in lost


def test_an_environment_that_returns_has_its_base(page):
    """One night in another environment forgets no loss, and is held against no night of this one."""
    others = [lambda run: run["machine"].update(topology_hash="b" * 16), lambda run: run["ucx"].update(version="1.99.0")]
    for other in others:
        assert is_red(page(BEFORE + [LOST] * 5, change={10: other}), since=9, base=8)
        assert is_red(page(BEFORE + [LOST] * 6, change={10: other, 12: other}), since=9, base=8)
        assert is_green(page([1] * 13, change={10: other}), good=13)
        assert "nothing to compare with" in page(BEFORE + [LOST] * 2, change={10: other})
        # Of the other environment its own runs are the base.
        assert is_green(page(BEFORE + [LOST, 1, LOST], change={9: other, 11: other}), good=11)


def test_a_case_that_is_gone_each_night_stays_missing(page):
    def drop(run):
        del run["cases"][0]

    text = page([1] * 12, change={number: drop for number in (9, 10, 11, 12)})
    assert text.startswith("ucx-bench: 2 missing, 6 unchanged"), text[:100]
    # What nobody has measured for long is no longer missed.
    assert page([1] * 40, change={number: drop for number in range(9, 41)}).startswith("ucx-bench: 6 unchanged")
