"""A random command in which something goes wrong at a random moment, many times: it ends, leaves nothing, and what was
measured can be read. Several are played side by side, each in namespaces of its own. See ci/chaos."""

import concurrent.futures
import json
import os
import pathlib
import queue
import subprocess
import sys

import pytest
from conftest import SANITIZED, drawn

SEED = os.environ.get("CHAOS_SEED") or str(drawn(0, 1_000_000, 1))
ROUNDS = int(os.environ.get("CHAOS_ROUNDS") or (8 if SANITIZED else 120))
ONLY = os.environ.get("CHAOS_ROUND")
NUMBERS = [int(ONLY)] if ONLY else range(ROUNDS)
# They wait most of their time.
AT_ONCE = 12
PLAYER = pathlib.Path(__file__).with_name("chaos_player.py")
# Its first process stays the shell, which waits for whatever loses its parent.
OWN = ("ip link set lo up && mount -t tmpfs tmpfs /dev/shm && mkdir -p /run/netns && mount -t tmpfs tmpfs /run/netns && "
       "\"$@\"; exit $?")
ALONE = ["unshare", "--net", "--mount", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", OWN, "sh"]


class Player:
    def __init__(self, folder):
        alone = subprocess.run([*ALONE, "true"], capture_output=True, timeout=20).returncode == 0
        environment = os.environ | {"CHAOS_SEED": SEED} | ({"CHAOS_ALONE": "yes"} if alone else {})
        self.process = subprocess.Popen([*(ALONE if alone else []), sys.executable, PLAYER, folder], env=environment, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def play(self, number):
        print(number, file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline() or '"its player has ended"')

    def end(self):
        self.process.stdin.close()
        self.process.wait(timeout=20)


@pytest.fixture(scope="module")
def rounds(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rounds")
    print(f"ci/chaos --seed {SEED} --rounds {len(NUMBERS)}", flush=True)
    players = [Player(folder) for _ in range(min(AT_ONCE, len(NUMBERS)))]
    free = queue.Queue()
    for player in players:
        free.put(player)

    def play(number):
        player = free.get()
        try:
            return player.play(number)
        finally:
            free.put(player)

    with concurrent.futures.ThreadPoolExecutor(len(players)) as pool:
        yield {number: pool.submit(play, number) for number in NUMBERS}
    for player in players:
        player.end()


@pytest.mark.parametrize("number", NUMBERS)
def test_round(rounds, number):
    wrong = rounds[number].result()
    assert wrong is None, wrong
