"""What `fizeau` wrote, as lists of dictionaries: `fizeau.open("runs/a").levels`, `.requests`."""

import itertools
import json
import pathlib
from typing import NamedTuple


class Run(NamedTuple):
    document: dict  # run.json
    levels: list  # a row a level: every figure of its summary.json, or else of its imported.json, by its path in there
    requests: list  # a row a request of any level, in the order in which they ended; `part` is load or probe


def open(path):
    """The run, sweep, search or import in a folder. A line that a kill cut off at the end of a file is passed over."""
    path = pathlib.Path(path)
    document = json.loads((path / "run.json").read_text(encoding="utf-8"))
    folders = [path] if _is_level(path) else sorted(path.iterdir())
    folders = [it for it in folders if _is_level(it) and not it.name.endswith("-partial")]
    levels, requests = [], []
    for folder in folders:
        name = "" if folder == path else folder.name
        summary, imported, tapes = (folder / it for it in ("summary.json", "imported.json", "tapes.jsonl"))
        known = next((it for it in (summary, imported) if it.is_file()), None)
        known = json.loads(known.read_text(encoding="utf-8")) if known else {"status": "partial"}
        levels.append({"level": name, **_flat(known)})
        rows = [_request(tape) for tape in _lines(tapes)] if tapes.is_file() else []
        requests.extend({"level": name, **(_seen(row) if imported.is_file() else row)} for row in rows)
    return Run(document, levels, requests)


def _is_level(folder):
    return any((folder / it).is_file() for it in ("tapes.jsonl", "imported.json"))


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
    row = {key: tape.get(key) for key in ("request", "session", "turn", "model", "connection", "stamps", "outcome")}
    row.update(part=tape.get("part", "load"), endpoint=tape.get("endpoint", 0))
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


def _seen(row):
    """A row of a tool's file without what a tape has only because it has a value for everything."""
    unseen = "session turn endpoint connection stamps released_s send_end_s first_byte_s requested.output_tokens requested.eos".split()
    if row.get("intended_s") == row.get("send_start_s"):
        unseen.append("intended_s")
    return {key: None if key in unseen else value for key, value in row.items()}
