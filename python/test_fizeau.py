"""Holds the reader against what the program wrote, and the program's way in: `python test_fizeau.py FOLDER_OF_RUNS`."""

import pathlib
import statistics
import subprocess
import sys
import tempfile

import fizeau


def main(runs):
    for name, levels in (("bench", 1), ("sweep", 4), ("faults", 1), ("killed", 2), ("interrupted", 1)):
        run = fizeau.open(runs / name)
        assert len(run.levels) == levels, (name, len(run.levels))
        assert run.document["schema"].startswith("fizeau.run/"), name
        for level in run.levels:
            agrees(level, [row for row in run.requests if row["level"] == level["level"]])
    cut_is_passed_over(runs / "bench")
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


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
