"""What `fizeau` wrote, as lists of dictionaries: `fizeau.open("runs/a").levels`, `.requests`."""

import itertools
import json
import pathlib
from typing import NamedTuple


class Run(NamedTuple):
    document: dict  # run.json
    levels: list  # a row a level: every figure of its summary.json, by its path in there
    requests: list  # a row a request of any level, in the order in which they ended


def open(path):
    """The run, sweep or search in a folder. A line that a kill cut off at the end of a file is passed over."""
    path = pathlib.Path(path)
    document = json.loads((path / "run.json").read_text(encoding="utf-8"))
    folders = [path] if (path / "tapes.jsonl").is_file() else sorted(path.iterdir())
    folders = [it for it in folders if (it / "tapes.jsonl").is_file() and not it.name.endswith("-partial")]
    levels, requests = [], []
    for folder in folders:
        name = "" if folder == path else folder.name
        summary = folder / "summary.json"
        known = json.loads(summary.read_text(encoding="utf-8")) if summary.is_file() else {"status": "partial"}
        levels.append({"level": name, **_flat(known)})
        requests.extend({"level": name, **_request(tape)} for tape in _lines(folder / "tapes.jsonl"))
    return Run(document, levels, requests)


def _flat(value, above=""):
    row = {}  # `{"a": {"b": 1}}` as `{"a.b": 1}`; lists stay
    for key, inner in value.items():
        row.update(_flat(inner, f"{above}{key}.") if isinstance(inner, dict) else {above + key: inner})
    return row


def _lines(path):
    *lines, cut = path.read_bytes().split(b"\n")
    try:
        return [json.loads(line) for line in [*lines, cut] if line]
    except ValueError:
        return [json.loads(line) for line in lines if line]


def _request(tape):
    marks, arrivals = tape["marks"], tape["arrivals"]
    row = {key: tape.get(key) for key in ("request", "session", "turn", "connection", "stamps", "outcome")}
    row.update({name[:-3] + "_s": at / 1e9 for name, at in _flat(marks).items() if name.endswith("_ns") and at is not None})
    row.update(_flat(tape.get("requested") or tape.get("asked") or {}, "requested."), **_flat(tape.get("usage") or {}, "usage."))
    row["failed"] = "complete" not in tape["outcome"]
    # Stamps as the marks have them; `tokens` has runs of equal counts.
    stamps = list(itertools.accumulate(arrivals["gap_ns"]))
    tokens = [count for count, times in arrivals["tokens"] for _ in range(times)]
    first = next((at for at, count in zip(stamps, tokens) if count and not row["failed"]), None)
    last = stamps[-1] if stamps and not row["failed"] else None
    for name, at in ("ttft_ms", first), ("e2el_ms", last):
        row[name] = None if at is None else (at - marks["send_start_ns"]) / 1e6
    row["output_tokens"] = sum(tokens)
    return row
