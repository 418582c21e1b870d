"""What goes wrong in ci/tests/test_fault_matrix.py, when and where, and what of each is documented.

`python3 ci/tests/fault_matrix.py` writes the table of docs/method/faults.md anew, of this list and of
results/faults/matrix.json, which a run of the whole matrix leaves (FAULT_MATRIX=full)."""

import dataclasses
import itertools
import json
import pathlib
import re
import signal

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORD = ROOT / "results/faults/matrix.json"
PAGE = ROOT / "docs/method/faults.md"
BEGIN, END = "<!-- the matrix -->\n", "<!-- end of the matrix -->\n"

# Name: the rank that reaches it, and by which words it is known there (shims/fault.cpp). What no rank does is the
# program's (shims/hold.cpp).
MOMENTS = {
    "start-up": (1, "starting UCX"),
    "connecting": (1, "connecting"),
    "warm-up": (1, "64 B: warm-up"),
    "measuring": (1, "64 B: latency"),
    "gathering": (0, "report/case/1/"),
    "writing": (None, "run.json.partial finished_utc"),
}
OF_RANKS = list(MOMENTS)[:-1]
ALL = list(MOMENTS)
START = ALL[:1]
FIRST_CASE_IS_MEASURED = ALL[2:]

LOCAL = [("local", "tcp"), ("local", "shm")]
LAUNCHERS = ["mpirun", "srun"]
FAR = [("two hosts", "tcp"), *((launcher, "tcp") for launcher in LAUNCHERS)]
EVERYWHERE = [*LOCAL, *FAR]


@dataclasses.dataclass(frozen=True)
class Fault:
    name: str
    says: str  # of one line of the first host, as a regular expression: {rank}, {host}, {place} (of the phase)
    moments: list
    places: list
    code: int = 5
    limit_s: tuple = (1, 3)  # from the fault to the end of everything: on one host, over several
    action: str = ""  # of shims/fault.cpp; "": what the test does while that rank, or the program, is held
    options: tuple = ()  # of a program that is wrong from its start, and begins nothing


FAULTS = [
    Fault("a rank is killed (SIGKILL)", r"rank {rank} on {host} was killed by signal 9 \(Killed\) in phase \"{phase}",
          OF_RANKS, EVERYWHERE, action="kill"),
    Fault("a rank crashes (SIGSEGV)", r"rank {rank} on {host} was killed by signal 11 \(Segmentation fault\) in phase \"{phase}",
          OF_RANKS, EVERYWHERE, action="segv"),
    # Before, the set cannot run; and who has reported its last case needs no more. The other rank may notice first.
    Fault("a rank has no memory left", r"rank [01] on .* (failed|was killed by signal \d+ \(.*\)) in phase \"",
          ["warm-up", "measuring"], EVERYWHERE, action="oom"),
    Fault("a rank is stopped (SIGSTOP)", r"rank {rank} on {host} was stopped by signal 19 \(SIGSTOP\) in phase \"{phase}",
          OF_RANKS, EVERYWHERE, limit_s=(3, 3), action="stop"),
    Fault("the program is killed", "", ALL, LOCAL, code=-signal.SIGKILL, action="kill-parent"),
    Fault("the first host's agent is killed", "", ALL, FAR, code=-signal.SIGKILL),
    Fault("another host's agent is killed", r"rank 1 on node1 was lost: node1 closed the control connection in phase \"",
          OF_RANKS, FAR),
    Fault("mpirun is killed", "", ALL, [("mpirun", "tcp")], code=-signal.SIGKILL),
    Fault("a link goes down", r"rank 1 on node1 was lost: nothing was heard from node1 for 2.5 s (in phase \"|before its first)", OF_RANKS, FAR,
          limit_s=(5, 5)),
    Fault("a link loses everything", r"rank 1 on node1 was lost: nothing was heard from node1 for 2.5 s (in phase \"|before its first)", OF_RANKS,
          FAR, limit_s=(5, 5)),
    Fault("the disk is full", r"cannot write '.*': No space left on device: the run goes on in '", OF_RANKS,
          [*LOCAL, *FAR[:-1]]),  # what is mounted after Slurm has begun, its hosts do not have
    Fault("the results' folder is removed", r"cannot write '.*': No such file or directory: the run goes on in '", ALL,
          EVERYWHERE),
    Fault("/dev/shm is full", r"rank [01] on .* failed in phase \"tag: starting UCX\"", START, [("local", "shm")], code=3,
          limit_s=(5, 5), options=("--transports", "shm")),
    Fault("the other host cannot be reached", r"nobody listens on 10.203.8.99 port 13337 \(.*\): start the other side with --listen",
          START, [("two hosts", "tcp")], code=3, limit_s=(15, 15), options=("--connect", "10.203.8.99:13337")),
    Fault("the other host's name is unknown", r"cannot resolve 'no-such-host.invalid' port '13337': ", START,
          [("two hosts", "tcp")], code=2, options=("--connect", "no-such-host.invalid:13337")),
    Fault("the port is taken", "cannot listen on 10.203.8.1 port 13337: Address already in use; give --listen IP:PORT an "
          "address of this host and a free port", START, [("two hosts", "tcp")], code=2, options=("--listen", "10.203.8.1:13337")),
    Fault("the clock is set back by a day", "", OF_RANKS, EVERYWHERE, code=0, action="step:-86400"),
]


def cases(full):
    """(fault, moment, place, transport): all, or of each fault each moment once, its places in turn."""
    chosen = []
    for number, fault in enumerate(FAULTS):
        if full:
            chosen += [(fault, moment, *place) for moment, place in itertools.product(fault.moments, fault.places)]
        else:
            chosen += [(fault, moment, *fault.places[(at + number) % len(fault.places)])
                       for at, moment in enumerate(fault.moments)]
    return chosen


def name_of(case):
    fault, moment, place, transport = case
    return f"{fault.name}, {moment}, {place}, {transport}"


def in_words(fault):
    if not fault.says:
        return ""
    text = fault.says.replace("{rank}", "1").replace("{host}", "node1").replace("{phase}", "…\"")
    text = re.sub(r"\(([^|()]+)\|[^()]*(\\\(.*\\\))?\)", r"\1", text).replace("\\", "")
    text = text.replace("[01]", "1").replace("'.*'", "'FILE'").replace("on .*", "on node1").replace("(.*)", "(…)")
    text = re.sub(r"phase \"$", "phase \"…\"", re.sub(r" '$", " 'FILE'", text))
    return f"`{text}`"


def table():
    """As the page has it: of each fault the moments and places, what is documented, and the longest that was seen."""
    seen = json.loads(RECORD.read_text()) if RECORD.exists() else {"took_s": {}}
    lines = ["| what happens | while | where | status | one line says | ends within | longest seen |", "|---|---|---|---|---|---|---|"]
    for fault in FAULTS:
        took = {True: [], False: []}
        for case in cases(True):
            if case[0] is fault and name_of(case) in seen["took_s"]:
                took[case[2] == "local"].append(seen["took_s"][name_of(case)])
        here = [place for place in fault.places if place in LOCAL]
        far = [place for place in fault.places if place not in LOCAL]
        both = [(fault.limit_s[0], took[True])] * bool(here) + [(fault.limit_s[1], took[False])] * bool(far)
        moments = "any moment" if fault.moments == ALL else ", ".join(fault.moments)
        places = "; ".join(f"{place}: {', '.join(t for p, t in fault.places if p == place)}"
                           for place in dict.fromkeys(place for place, _ in fault.places))
        code = "killed" if fault.code < 0 else str(fault.code)
        limits = "the run goes on" if fault.code == 0 or "goes on" in fault.says else ", ".join(
            dict.fromkeys(f"{limit} s" for limit, _ in both))
        longest = ", ".join(f"{max(times):.1f} s" for _, times in both if times) if "goes on" not in limits else ""
        lines.append(f"| {fault.name} | {moments} | {places} | {code} | {in_words(fault)} | {limits} | {longest} |")
    return "\n".join([*lines, "", recorded(seen)]) + "\n"


def recorded(seen):
    """What the record has: which of all cases, on which machine."""
    if not seen["took_s"]:
        return "Nothing is recorded."
    all_cases = cases(True)
    had = [case for case in all_cases if name_of(case) in seen["took_s"]]
    without = [place for place in dict.fromkeys(case[2] for case in all_cases) if place not in {case[2] for case in had}]
    none = f", none under {', '.join(without)}" if without else ""
    took = f" in {seen['wall_s']:.0f} s, {seen['at_once']} at once" if "wall_s" in seen else ""
    return f"The recorded run had {len(had)} of these {len(all_cases)} cases{none}{took}, on {seen['machine']}."


def page_with_table(text):
    before, _, rest = text.partition(BEGIN)
    return before + BEGIN + table() + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(page_with_table(PAGE.read_text()))
