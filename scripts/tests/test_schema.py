"""The schema accepts what the C++ code writes, and nothing that its readers would trip over."""

import copy
import json

import jsonschema
import pytest

from conftest import ROOT, printed

SCHEMA = json.loads((ROOT / "results/schema/run-1.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def refuse_constant(name):
    raise ValueError(f"{name} is not JSON")


def test_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_accepts_what_is_written(any_run):
    VALIDATOR.validate(any_run)


def test_written_json_has_no_nan():
    json.loads(printed("result", "json"), parse_constant=refuse_constant)
    with pytest.raises(ValueError):
        json.loads('{"p50": NaN}', parse_constant=refuse_constant)


def recorded_runs():
    for file in sorted((ROOT / "results").rglob("*.json")):
        run = json.loads(file.read_text())
        if isinstance(run, dict) and run.get("schema") == "ucx-bench/run/1":
            yield file.relative_to(ROOT), run


def test_accepts_every_recorded_run():
    for file, run in recorded_runs():
        errors = [f"{file}: {error.json_path}: {error.message}" for error in VALIDATOR.iter_errors(run)]
        assert not errors


def measured(run):
    return run["cases"][0]


def metric(run):
    return next(iter(measured(run)["metrics"].values()))


def rename_metric(run):
    metrics = measured(run)["metrics"]
    metrics["latency"] = metrics.pop(next(iter(metrics)))


BROKEN = {
    "metric without unit": rename_metric,
    "missing quantile": lambda run: metric(run).pop("p99"),
    "number as text": lambda run: metric(run).update(p50="1.5"),
    "half an interval": lambda run: metric(run).update(ci95=[1]),
    "unknown state": lambda run: measured(run).update(state="maybe"),
    "state planned": lambda run: measured(run).update(state="planned"),
    "measured nothing": lambda run: measured(run).update(metrics={}),
    "no reason": lambda run: measured(run).update(state="skipped", reason=""),
    "no cold cost": lambda run: measured(run)["launches"][0].pop("cold"),
    "sample as text": lambda run: measured(run)["launches"][0]["samples"].update(latency_us=["x"]),
    "negative count": lambda run: measured(run)["verified"].update(errors=-1),
    "zero bytes": lambda run: measured(run)["parameters"].update(bytes=0),
    "another schema": lambda run: run.update(schema="ucx-bench/run/2"),
    "no environment": lambda run: run["ucx"].pop("environment"),
    "clock without a step": lambda run: run["ranks"][0].update(clock_step_ns=0),
    "local time": lambda run: run["run"].update(started_utc="2026-01-02 03:04:05"),
    "missing cases": lambda run: run.pop("cases"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_refuses(any_run, name):
    broken = copy.deepcopy(any_run)
    BROKEN[name](broken)
    assert not VALIDATOR.is_valid(broken)


def test_fields_may_be_added(any_run):
    any_run["cases"][0]["verdicts"] = []
    any_run["run"]["note"] = "x"
    VALIDATOR.validate(any_run)
