"""Holds the reader against what the program wrote, and the program's way in: `python test_fizeau.py FOLDER_OF_RUNS`."""

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import fizeau


def main(runs):
    for name, levels in (("bench", 1), ("sweep", 4), ("faults", 1), ("killed", 2), ("interrupted", 1), ("imported", 1)):
        run = fizeau.open(runs / name)
        assert len(run.levels) == levels, (name, len(run.levels))
        assert run.document["schema"].startswith("fizeau.run/"), name
        for level in run.levels:
            agrees(level, [row for row in run.requests if row["level"] == level["level"]])
    cut_is_passed_over(runs / "bench")
    what_a_request_was_for_is_told(runs / "bench")
    what_a_tool_did_not_say_is_not_told(runs / "imported")
    said = subprocess.run([sys.executable, "-m", "fizeau", "--version"], capture_output=True, text=True, check=True)
    assert said.stdout.startswith("fizeau "), said
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
