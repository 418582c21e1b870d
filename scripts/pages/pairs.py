"""What a page says about pairs of ranks: vs. the peak of their path, both ways, alone and all at once, in a log of before."""

import heapq

from pages.sections import known, without_unknown
from plots.common import by_at_once, percent, promised

MOST_PAIRS = 200
MOST_BOTH_WAYS = 8
MOST_WAITS = 16
LOG_HEAD = ["NUMA", "size p50, B", "size p99, B", "recorded, under way", "recorded, % of peak", "here, under way", "here, % of peak"]


def percent_of(part, whole):
    return "?" if part is None or not whole else percent(part / whole)


def rate_of(pair):
    return pair.get("p50_GBps") or pair.get("goodput_GBps")


def of_calibrated(rate, limit):
    """Percent; more than was calibrated is possible, and is said."""
    return percent_of(rate, limit) + (" (above)" if rate and limit and rate > limit else "")


def of_log(pair):
    """What a log has of a pair, and what the recorded run and this one, which sent it again, reached of the peak."""
    limit, calibrated = pair.get("limit_GBps"), pair.get("calibrated_GBps")
    cells = [pair.get("numa") or "?", known(pair.get("p50_bytes")), known(pair.get("p99_bytes"))]
    for name in ("recorded_GBps", "under_way_GBps"):
        rate = pair.get(name)
        cells += ["cannot tell" if rate is None else known(rate),
                  percent_of(rate, limit) if limit else of_calibrated(rate, calibrated)]
    return cells


def waits_of(run):
    """A table: of each rank that sent a log again its phases, of which in the last it waited, and whom it waited for
    longest; of a case those that waited longest first."""
    names, rows = [], []
    for case in run["cases"]:
        phases = [phase for phase in case.get("phases") or [] if phase["kind"] != "moving"]
        if not any(phase["kind"] == "gap" for phase in phases) or not all(phase.get("by_rank_ms") for phase in phases):
            continue
        names, longest = [phase["name"] for phase in phases], {}
        for pair in case["pairs"]:
            longest[pair["dst"]] = max(longest.get(pair["dst"], (0, 0)), (pair.get("waiting_ms") or 0, pair["src"]))
        ranks = zip(*(phase["by_rank_ms"] for phase in phases))
        for rank, spent in heapq.nlargest(MOST_WAITS, enumerate(ranks), key=lambda entry: entry[1][-1]):
            ms, src = longest.get(rank, (0, 0))
            rows.append([case["key"], known(rank), *(known(part, 3) for part in spent), percent_of(spent[-1], sum(spent)),
                         known(src) if ms else "–"])
    return {"head": ["case", "rank", *names, *(f"% {name}" for name in names[-1:]), "most for rank"], "rows": rows}


def expected_of(case, pair):
    """GB/s of the path that it should take; None where the run file does not say."""
    for limit in promised(case):
        if (limit["class"], limit["path"], limit["GBps"]) == (pair.get("class"), pair.get("path"), pair.get("limit_GBps")):
            return limit["expected_GBps"]
    return None


def together_of(run):
    """{key of a case of single pairs: {(from, to): GB/s of that pair when all send at once}}"""
    rates = {}
    for cases in by_at_once(run):
        if "all" in cases:
            of = {(pair["src"], pair["dst"]): rate_of(pair) for pair in cases["all"]["pairs"]}
            rates |= {case["key"]: of for at_once, case in cases.items() if at_once != "all"}
    return rates


def tables_of(run):
    """Pairs of each case that sent each other something, the slowest first, at most MOST_PAIRS."""
    together, tables = together_of(run), []
    for case in run["cases"]:
        pairs = [pair for pair in case.get("pairs") or [] if pair["bytes"]]
        if case["state"] != "measured" or len(pairs) < 2:
            continue
        limited = any(pair.get("class") for pair in pairs)
        calibrated = any(pair.get("calibrated_GBps") for pair in pairs)
        logged = any(pair.get("p50_bytes") is not None for pair in pairs)
        shared = any(pair.get("calibrated_share_GBps") for pair in pairs)
        at_once = together.get(case["key"], {})
        rows = []
        for pair in heapq.nsmallest(MOST_PAIRS, pairs, key=lambda pair: rate_of(pair) or 0.0):
            cells = [known(pair["src"]), known(pair["dst"]), known(pair.get("messages")), known(pair["bytes"] / 1e6)]
            cells += [known(pair.get(name)) for name in ("p25_GBps", "p50_GBps", "p75_GBps", "goodput_GBps", "delivery_p50_us")]
            if limited:
                expected = expected_of(case, pair)
                cells += [known(pair.get("class")), known(pair.get("path")), known(pair.get("limit_GBps")),
                          percent_of(rate_of(pair), pair.get("limit_GBps")), known(expected), percent_of(rate_of(pair), expected)]
            if calibrated:
                limit = pair.get("calibrated_GBps")
                cells += [known(limit), of_calibrated(rate_of(pair), limit)]
            if shared:
                share = pair.get("calibrated_share_GBps")
                cells += [known(share), percent_of(rate_of(pair), share)]
            if logged:
                cells += of_log(pair)
            if at_once:
                rate = at_once.get((pair["src"], pair["dst"]))
                cells += [known(rate), percent_of(rate, rate_of(pair))]
            rows.append(cells)
        head = ["from", "to", "messages, all runs", "MB, all runs", "p25", "p50", "p75", "goodput", "sent to received, us"]
        head += ["class", "transport used", "peak", "% of peak", "best path", "% of best"] if limited else []
        head += ["calibrated", "% of calibrated"] if calibrated else []
        head += ["fair share", "% of fair share"] if shared else []
        head += LOG_HEAD if logged else []
        head += ["all at once", "of alone"] if at_once else []
        tables.append({"key": case["key"], **without_unknown(head, rows), "rated": any(map(rate_of, pairs)), "left_out": len(pairs) - len(rows)})
    return tables


def both_ways(run):
    """The pairs whose two directions differ most: (case, pair, there, back, the slower by the faster)."""
    found, more = [], 0
    for case in run["cases"]:
        if case["state"] != "measured":
            continue
        rates = {(pair["src"], pair["dst"]): rate for pair in case.get("pairs") or [] if (rate := rate_of(pair))}
        both = [(min(there, back) / max(there, back), case["key"], ends, there, back)
                for ends, there in rates.items() if ends[0] < ends[1] and (back := rates.get(ends[::-1]))]
        more += len(both)
        found += heapq.nsmallest(MOST_BOTH_WAYS, both)
    shown = heapq.nsmallest(MOST_BOTH_WAYS, found)
    rows = [(key, f"{src} ↔ {dst}", known(there), known(back), percent_of(part, 1)) for part, key, (src, dst), there, back in shown]
    return {"rows": rows, "more": more - len(rows)}


def limits_of(run):
    """A row per class of each case: what its median pair reaches of the peak."""
    rows = []
    for case in run["cases"]:
        for limit in case.get("limits") or []:
            p50, source = limit["p50_GBps"], known(limit["source"])
            of_limit = of_calibrated if source == "calibrated" else percent_of
            rows.append([
                case["key"], limit["class"], known(limit["path"]), known(limit["pairs"]), known(limit.get("min_GBps")),
                known(p50), known(limit["GBps"]), of_limit(p50, limit["GBps"]), known(limit.get("expected_GBps")),
                percent_of(p50, limit.get("expected_GBps")), known(limit.get("share_GBps")), known(limit["resource"]),
                f"{source}: {limit['detail']}" if limit["detail"] else source,
            ])
    head = ["case", "class", "transport used", "pairs", "slowest", "p50", "peak", "% of peak", "best path", "% of best",
            "fair share", "resource", "source"]
    return without_unknown(head, rows)
