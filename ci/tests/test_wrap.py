"""Ranks under a command of the user's."""

import pytest
from conftest import assert_sound, only


def test_rank_is_replaced(pingpong, tmp_path):
    wrapper = tmp_path / "wrapper"
    wrapper.write_text(f'#!/bin/sh\necho "$1" >>{tmp_path}/ranks\nshift\nexec "$@"\n')
    wrapper.chmod(0o700)
    done = pingpong("--wrap", f"'{wrapper}' 'no {{rank}}'", "--transports", "tcp", "--sizes", "8")
    assert_sound(only(done.file["cases"]))
    assert sorted((tmp_path / "ranks").read_text().splitlines()) == ["no 0", "no 1"]


@pytest.mark.parametrize(
    "wrap", ["env FOO={rank}", """sh -c '"$@"; exit $?' sh""", "nice -n 1", "setsid -w"]
)
def test_usual_wrappers(pingpong, wrap):
    done = pingpong("--wrap", wrap, "--transports", "tcp", "--transports", "shm", "--sizes", "8,300000")
    for case in done.file["cases"]:
        assert_sound(case)


def test_a_wrapper_that_changes_the_transports_is_refused(pingpong):
    done = pingpong("--wrap", "env UCX_TLS=tcp", "--transports", "shm", "--sizes", "8", code=2)
    assert "UCX_TLS" in only(done.complaints)
    assert not any(case["state"] == "measured" for case in done.file["cases"])


@pytest.mark.parametrize(
    "wrap, word",
    [
        ("no-such-program", "no-such-program"),
        ("'unclosed", "unclosed"),
        ("false", "status 1"),
        ("true", "status 0"),
    ],
)
def test_wrappers_that_start_nothing(bench, wrap, word):
    done = bench("pingpong", "--wrap", wrap, "--transports", "tcp", "--sizes", "8", "--iterations", "80",
                 "--launches", "1")
    assert done.code in (2, 3, 5)
    assert any(word in line for line in done.err.splitlines()), done
