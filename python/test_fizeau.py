"""Holds the reader against what the program wrote, and the program's way in: `python test_fizeau.py FOLDER_OF_RUNS`."""

import importlib.metadata
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

import fizeau


def main(runs):
    for name, levels in (("bench", 1), ("sweep", 4), ("faults", 1), ("killed", 2), ("interrupted", 1), ("imported", 1), ("resumed", 2), ("turns", 1), ("search", 3)):
        run = fizeau.open(runs / name)
        assert len(run.levels) == levels, (name, len(run.levels))
        assert run.document["schema"].startswith("fizeau.run/"), name
        for level in run.levels:
            agrees(level, [row for row in run.requests if (row["level"], row["part"]) == (level["level"], "load")])
    cut_is_passed_over(runs / "bench")
    cut_between_lines_is_no_finished_level(runs)
    what_was_set_aside_is_left_out(runs)
    one_level_has_its_run_above(runs)
    what_is_no_run_says_what_to_open(runs)
    what_a_request_was_for_is_told(runs / "bench")
    what_a_tool_did_not_say_is_not_told(runs / "imported")
    said = subprocess.run([sys.executable, "-m", "fizeau", "--version"], capture_output=True, text=True, check=True)
    assert said.stdout.startswith("fizeau "), said
    carried = [it.name for it in importlib.metadata.files("fizeau")]
    assert {"third-party.txt", "sbom.cdx.json"} <= set(carried), carried
    print(f"ok: {said.stdout.strip()}, in {fizeau.__file__}")


def agrees(level, requests):
    if level["status"] != "finished":
        return
    assert level["requests.sent"] == len(requests), level["level"]
    assert level["requests.failed"] == sum(row["failed"] for row in requests)
    for figure in ("ttft_ms", "e2el_ms"):
        mean = statistics.fmean(row[figure] for row in requests if row[figure] is not None)
        assert abs(mean - level[f"metrics.{figure}.mean"]) < 1e-6, (figure, mean)


def cut_is_passed_over(run):
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        (copy / "run.json").write_bytes((run / "run.json").read_bytes())
        tapes = (run / "tapes.jsonl").read_bytes()
        (copy / "tapes.jsonl").write_bytes(tapes[:-40])
        read = fizeau.open(copy)
        assert len(read.requests) == tapes.count(b"\n") - 1
        assert read.levels[0]["status"] == "partial"


def cut_between_lines_is_no_finished_level(runs):
    for name, verdict in (("bench", "invalid"), ("turns", "suspect")):
        with tempfile.TemporaryDirectory() as folder:
            copy = shutil.copytree(runs / name, pathlib.Path(folder) / name)
            lines = (copy / "tapes.jsonl").read_bytes().splitlines(keepends=True)
            (copy / "tapes.jsonl").write_bytes(b"".join(lines[:5]))
            (level,) = fizeau.open(copy).levels
            assert (level["status"], level["validity.verdict"]) == ("partial", verdict), level
            assert f"5 of {len(lines)} tapes" in level["status_reason"], level["status_reason"]
            (copy / "tapes.jsonl").write_bytes(b"".join(lines) + b'{"request": 9')
            assert fizeau.open(copy).levels[0]["status"] == "partial"


def what_was_set_aside_is_left_out(runs):
    with tempfile.TemporaryDirectory() as folder:
        # The run's own folder may be called as one likes.
        copy = shutil.copytree(runs / "resumed", pathlib.Path(folder) / "my-partial")
        shutil.copytree(copy / "concurrency-0002-partial", copy / "concurrency-0002-partial-2")
        whole = fizeau.open(runs / "resumed")
        assert fizeau.open(copy) == whole and len(whole.levels) == 2, whole.levels
        alone = shutil.copytree(runs / "bench", pathlib.Path(folder) / "a-partial")
        assert fizeau.open(alone) == fizeau.open(runs / "bench") and fizeau.open(alone).requests


def one_level_has_its_run_above(runs):
    sweep = fizeau.open(runs / "sweep")
    one = fizeau.open(runs / "sweep" / "concurrency-0001")
    assert one.document == sweep.document
    assert one.levels == [it for it in sweep.levels if it["level"] == "concurrency-0001"], one.levels
    assert one.requests == [it for it in sweep.requests if it["level"] == "concurrency-0001"]


def what_is_no_run_says_what_to_open(runs):
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        refused(copy, "is not a run")
        (copy / "run.json").write_text("{}")
        refused(copy, "a run without levels")
        # A folder for each system of `fizeau sweep --system`.
        for name in ("system-a", "system-b"):
            shutil.copytree(runs / "sweep", copy / "systems" / name)
        refused(copy / "systems", "system-a")
    refused(runs / "what-if", "configuration-01")


def refused(folder, words):
    try:
        fizeau.open(folder)
    except ValueError as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"{folder} was opened")


def what_a_request_was_for_is_told(run):
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        (copy / "run.json").write_bytes((run / "run.json").read_bytes())
        tapes = [json.loads(line) for line in (run / "tapes.jsonl").read_text().splitlines()]
        tapes[1].update(part="probe", endpoint=1, model="an-adapter")
        (copy / "tapes.jsonl").write_text("\n".join(map(json.dumps, tapes)))
        rows = [[row[key] for key in ("part", "endpoint", "model")] for row in fizeau.open(copy).requests[:2]]
        assert rows == [["load", 0, None], ["probe", 1, "an-adapter"]], rows


def what_a_tool_did_not_say_is_not_told(run):
    row = fizeau.open(run).requests[0]
    assert row["ttft_ms"] is not None and row["send_start_s"] is not None, row
    assert [row[key] for key in ("connection", "stamps", "session", "released_s", "requested.output_tokens")] == [None] * 5, row
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        for file in ("run.json", "imported.json"):
            (copy / file).write_bytes((run / file).read_bytes())
        read = fizeau.open(copy)
        (level,) = read.levels
        assert level["figures.p50_ttft_ms"] > 0 and not read.requests, level


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
