#!/usr/bin/env python3
"""Whether `ucx-bench compare` is right: how often it raises an alarm where nothing changed, and how often
it finds a planted loss. The first three commands measure, on a machine with nothing else to do, and go
on where they were interrupted; judge asks the program for its verdicts and can be repeated at any time.
Exit status: 0 done, 2 usage, 3 cannot run here, 130 interrupted (all whole turns are written)."""

import argparse
import contextlib
import datetime
import functools
import json
import os
import pathlib
import shutil
import signal
import sys
import tempfile

import duet_verdicts
import duets
import going_on
import planted_run
import resample
import table
import turns
import unchanged_runs
import verdicts
from launches import Recording, Unfit
from link import RATE, shaped_link

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
SLOWDOWNS = (0.01, 0.02, 0.03, 0.05, 0.10, 0.20)
NOTHING, SHIM, SHAPED = "nothing changed", "shim, all cases", "shaped link"


def say(line):
    print(line, file=sys.stderr, flush=True)


def record(options):
    session = turns.Session(options.folder / "launches.json", say)
    session.record(options.launches, lambda: turns.one_turn(options.ucx_bench, HERE / "suite.toml"))


def existing(shim, target):
    if not pathlib.Path(shim).exists():
        raise Unfit(f"no '{shim}': build it (target {target}), or give --shim")
    return pathlib.Path(shim).absolute()


def real(options):
    session = turns.Session(options.folder / "real.json", say)
    shim = existing(options.shim, "slow")
    two_sides = functools.partial(turns.two_sides, options.ucx_bench, options.suite)
    session.compare(NOTHING, 0, options.unchanged, lambda: two_sides({}, {}))
    for slowdown in options.slowdowns:
        # Both sides have the shim, so that what it costs itself is no difference.
        base, new = ({"LD_PRELOAD": shim, "SLOW_SHARE": share} for share in (0, slowdown))
        session.compare(SHIM, slowdown, options.planted, functools.partial(two_sides, base, new))


def shaped(options):
    with shaped_link() as link, tempfile.TemporaryDirectory(prefix="verdict-study-") as folder:
        suite = pathlib.Path(folder, "shaped.toml")
        suite.write_text((HERE / "shaped.toml").read_text().replace("LINK", link.name))
        session = turns.Session(options.folder / "shaped.json", say)

        def four_turns(slowdown):
            for side in "ABBA":
                link.set_rate(RATE / (1 + slowdown) if side == "B" else RATE)
                yield side, turns.one_turn(options.ucx_bench, suite)

        for slowdown, count in ((0, options.unchanged), *((s, options.planted) for s in options.slowdowns)):
            session.compare(SHAPED, slowdown, count, lambda slowdown=slowdown: list(four_turns(slowdown)))


def record_duets(options):
    duets.record(options.ucx_bench, existing(options.shim, "work"), options.folder / "duets.json", options.duets,
                 options.slowdowns, say)


def write(output, result, made):
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(result, indent=1) + "\n")
    output.with_suffix(".md").write_text(made)
    print(made, end="")


def judge_duets(options):
    result = duet_verdicts.judge(options.ucx_bench, options.folder / "duets.json", options.draws)
    write(options.output, result, duet_verdicts.markdown(result))


def simulate_duets(options):
    """Adds to what judge-duets wrote."""
    if not options.output.exists():
        raise Unfit(f"no '{options.output}': judge duets first")
    result = json.loads(options.output.read_text(encoding="utf-8"))
    result["simulated"] = going_on.simulated(result["unchanged"], options.draws)
    write(options.output, result, duet_verdicts.markdown(result))


def run_planted(options):
    result = planted_run.measured(options.ucx_bench, existing(options.shim, "work"), options.slowdown[0], say)
    write(options.output, result, planted_run.markdown(result))


def run_unchanged(options):
    options.output.parent.mkdir(parents=True, exist_ok=True)
    result = unchanged_runs.record(options.ucx_bench, options.output, options.runs, say)
    made = unchanged_runs.markdown(result)
    options.output.with_suffix(".md").write_text(made)
    print(made, end="")


def judged_real(program, recording, in_turns):
    """(A/A, power rows) of comparisons that were measured for it."""
    unchanged, rows = {}, []
    for how, slowdown in turns.kinds_of(recording):
        pairs = turns.comparisons_of(recording, how, slowdown)
        found = resample.in_parallel(
            [functools.partial(verdicts.sides, program, recording, *pair, in_turns) for pair in pairs])
        if slowdown == 0:
            unchanged[how] = resample.alarm_counts(found, windows=False)
            continue
        planted = [set(recording.cases)] * len(found)
        rows.append({"slowdown": slowdown, "how": how} | resample.counted(found, planted, slowdown, windows=False) | {
            "changes_seen": resample.changes_seen(found)})
    return unchanged, rows


def only_unchanged(recording):
    """Without the turns in which something was planted."""
    kept = [turn for turn in recording.turns if turn.get("slowdown", 0) == 0]
    return Recording(recording.frame, recording.series, kept)


def judge(options):
    program = options.ucx_bench
    main_recording = Recording.load(options.folder / "launches.json")
    others = {file.stem: Recording.load(file) for file in sorted(options.folder.glob("*.json"))
              if file.stem != "launches"}
    if len(main_recording.rows) < 2 * resample.LAUNCHES:
        raise Unfit(f"{len(main_recording.rows)} launches are too few: a comparison takes {2 * resample.LAUNCHES}")
    layouts = resample.false_alarms(program, main_recording, options.draws)
    aa = {"layouts": layouts, "real": {}}
    power = resample.power(program, main_recording, options.slowdowns, options.draws, "resampled")
    power += resample.power_in((resample.BLOCKS, resample.UNEQUAL), program, main_recording, options.slowdowns,
                               options.draws)
    for name, recording in others.items():
        unchanged, rows = judged_real(program, recording, in_turns=name != "shaped")
        aa["real"] |= unchanged
        power += rows
    if "shaped" in others:
        steady = only_unchanged(others["shaped"])
        power += resample.power(program, steady, options.slowdowns, options.draws, "shaped link, resampled")
    # What is known of false alarms: of comparisons that share no launch.
    independent = aa["real"].get(NOTHING, layouts[resample.TURNS]["disjoint"])
    aa |= {name: independent[name] for name in ("comparisons", "false_alarms", "upper95", "canary_alarms")}
    frame = main_recording.frame
    result = {
        "schema": "ucx-bench/verdict-study/1",
        "judged_utc": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "judged_by": verdicts.version_of(program),
        "machine": {"id": frame["machine"]["id"], "labels": frame["machine"]["labels"]},
        "ucx": frame["ucx"]["version"],
        "commit": frame["build"]["commit"],
        "recorded": {name: about(recording) for name, recording in {"launches": main_recording, **others}.items()},
        "aa": aa,
        "power": power,
        "by_launches": resample.by_launches(program, main_recording, 0.05, options.draws),
    }
    write(options.output, result, table.markdown(result))


def about(recording):
    return {
        "launches": len(recording.rows),
        "started_utc": recording.turns[0]["started_utc"],
        "finished_utc": recording.turns[-1]["finished_utc"],
        "highest_load_1min_before_a_turn": max((t.get("load_1min_before", 0) for t in recording.turns), default=None),
    }


def program_at(text):
    found = shutil.which(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"no program '{text}'")
    return os.path.abspath(found)


def count(text):
    if not text.isdecimal() or int(text) > 100_000:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number, 0 to 100000")
    return int(text)


def percentages(text):
    """Of 5,10 the shares 0.05 and 0.1."""
    with contextlib.suppress(ValueError):
        shares = tuple(float(part) / 100 for part in text.split(","))
        if all(0 < share <= 100 for share in shares):
            return shares
    raise argparse.ArgumentTypeError(f"'{text}' is not a list of percentages, as 1,5,10")


def parser_of_all():
    parser = argparse.ArgumentParser(prog="ci/verdict-study/study.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name, function, text):
        added = commands.add_parser(name, help=text, description=text)
        added.set_defaults(function=function)
        added.add_argument("--ucx-bench", type=program_at, default=str(ROOT / "build/release/bin/ucx-bench"))
        added.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/verdict-study",
                           help="of the recordings (default: build/verdict-study)")
        return added

    def comparisons(added, unchanged, planted):
        added.add_argument("--unchanged", type=count, default=unchanged, metavar="N",
                           help=f"comparisons of nothing (default: {unchanged})")
        added.add_argument("--planted", type=count, default=planted, metavar="N",
                           help=f"comparisons for each loss (default: {planted})")

    def slowdowns(added):
        added.add_argument("--slowdowns", type=percentages, default=SLOWDOWNS, metavar="LIST",
                           help="percent (default: 1,2,3,5,10,20)")

    added = command("record", record, "launches of the suite, to draw comparisons from")
    added.add_argument("--launches", type=count, default=304, metavar="N", help="in all (default: 304)")
    added = command("real", real, "whole comparisons by `ucx-bench ab`: of nothing, and with calls of UCX stretched")
    added.add_argument("--suite", type=pathlib.Path, default=HERE / "suite.toml")
    added.add_argument("--shim", default=str(ROOT / "build/release/ci/libslow.so"), help="built of ci/shims/slow.cpp")
    comparisons(added, 20, 5)
    slowdowns(added)
    added = command("shaped", shaped, "the same over a link whose rate is set (needs root)")
    comparisons(added, 20, 5)
    slowdowns(added)
    added = command("duets", record_duets, "duets of nothing, and with fixed work planted")
    added.add_argument("--shim", default=str(ROOT / "build/release/ci/libwork.so"), help="built of ci/shims/work.cpp")
    added.add_argument("--duets", type=count, default=400, metavar="N",
                       help="of nothing, and of all losses together, for each case (default: 400)")
    added.add_argument("--slowdowns", type=percentages, default=(0.01, 0.02, 0.05), metavar="LIST",
                       help="percent (default: 1,2,5)")
    added = command("judge-duets", judge_duets, "of those duets: noise, false alarms, and losses found in one row of 48")
    added.add_argument("--draws", type=count, default=100, metavar="N", help="suites for each row and loss (default: 100)")
    added.add_argument("--output", type=pathlib.Path, default=ROOT / "results/duet-study.json", metavar="FILE",
                       help="and the same as .md beside it (default: results/duet-study.json)")
    added = command("simulate-duets", simulate_duets, "how much more is found where undecided cases go on in the time of "
                    "decided ones, by the noise that judge-duets found")
    added.add_argument("--draws", type=count, default=400, metavar="N", help="suites for each row and loss (default: 400)")
    added.add_argument("--output", type=pathlib.Path, default=ROOT / "results/duet-study.json", metavar="FILE",
                       help="to read and to add to (default: results/duet-study.json)")
    added = command("planted-run", run_planted, "one whole `ucx-bench ab` of 48 rows, of which four are slower")
    added.add_argument("--shim", default=str(ROOT / "build/release/ci/libwork.so"), help="built of ci/shims/work.cpp")
    added.add_argument("--slowdown", type=percentages, default=(0.05,), metavar="PERCENT", help="(default: 5)")
    added.add_argument("--output", type=pathlib.Path, default=ROOT / "results/planted-run.json", metavar="FILE",
                       help="and the same as .md beside it (default: results/planted-run.json)")
    added = command("unchanged-runs", run_unchanged, "many whole runs of `ab` of one case, in which nothing changed")
    added.add_argument("--runs", type=count, default=299, metavar="N", help="in all (default: 299)")
    added.add_argument("--output", type=pathlib.Path, default=ROOT / "results/unchanged-runs.json", metavar="FILE",
                       help="and the same as .md beside it (default: results/unchanged-runs.json)")
    added = command("judge", judge, "the verdicts, their rates and the table")
    added.add_argument("--draws", type=count, default=1000, metavar="N",
                       help="comparisons drawn for each line of the table (default: 1000)")
    slowdowns(added)
    added.add_argument("--output", type=pathlib.Path, default=ROOT / "results/verdict-study.json", metavar="FILE",
                       help="and the same as .md beside it (default: results/verdict-study.json)")
    return parser


def main(argv):
    options = parser_of_all().parse_args(argv)
    # A plain kill ends as Ctrl-C does: nothing is left running.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        options.function(options)
    except Unfit as error:
        say(f"verdict-study: {error}")
        return 3
    except KeyboardInterrupt:
        say("verdict-study: interrupted; the same command goes on")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
