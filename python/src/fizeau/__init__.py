"""What `fizeau` wrote, as lists of dictionaries: `fizeau.open("runs/a").levels`, `.requests`."""

import itertools
import json
import pathlib
from typing import NamedTuple

_UNSEEN = "session turn endpoint connection stamps released_s send_end_s first_byte_s requested.output_tokens requested.eos".split()


class Run(NamedTuple):
    document: dict  # run.json
    levels: list  # a row a level: every figure of its summary.json, or else of its imported.json, by its path in there
    requests: list  # a row a request of any level, in the order in which they ended; `part` is load or probe


def open(path):
    """The run, sweep, search or import in a folder. A line that a kill cut off at the end of a file is passed over."""
    path, levels, requests = pathlib.Path(path), [], []
    for folder in [path, *sorted(path.iterdir())]:
        summary, imported, tapes = (folder / it for it in ("summary.json", "imported.json", "tapes.jsonl"))
        if folder.name.endswith("-partial") or not (tapes.is_file() or imported.is_file()):
            continue
        level = {"level": "" if folder == path else folder.name}
        known = next((it for it in (summary, imported) if it.is_file()), None)
        levels.append(level | _flat(json.loads(known.read_text(encoding="utf-8")) if known else {"status": "partial"}))
        rows = [level | _request(tape) for tape in _lines(tapes)] if tapes.is_file() else []
        for row in rows if imported.is_file() else []:  # A tape has a value for what a tool's file does not tell, too.
            row.update(dict.fromkeys(_UNSEEN + ["intended_s"] * (row.get("intended_s") == row.get("send_start_s"))))
        requests.extend(rows)
    return Run(json.loads((path / "run.json").read_text(encoding="utf-8")), levels, requests)


def _flat(value, above=""):  # `{"a": {"b": 1}}` as `{"a.b": 1}`; lists stay
    inner = [(above + key, it) for key, it in value.items()]
    return {k: v for key, it in inner for k, v in (_flat(it, key + ".") if isinstance(it, dict) else {key: it}).items()}


def _lines(path):
    *lines, cut = path.read_bytes().split(b"\n")
    try:
        return [json.loads(line) for line in [*lines, cut] if line]
    except ValueError:
        return [json.loads(line) for line in lines if line]


def _request(tape):
    marks, arrivals, failed = tape["marks"], tape["arrivals"], "complete" not in tape["outcome"]
    row = {key: tape.get(key) for key in ("request", "session", "turn", "model", "connection", "stamps", "outcome")}
    row.update(part=tape.get("part", "load"), endpoint=tape.get("endpoint", 0), failed=failed)
    row.update({name[:-3] + "_s": at / 1e9 for name, at in _flat(marks).items() if name.endswith("_ns") and at is not None})
    row.update(_flat(tape.get("requested") or tape.get("asked") or {}, "requested."), **_flat(tape.get("usage") or {}, "usage."))
    # Stamps as the marks have them; `tokens` has runs of equal counts.
    stamps = list(itertools.accumulate(arrivals["gap_ns"]))
    tokens = [count for count, times in arrivals["tokens"] for _ in range(times)]
    first = next((at for at, count in zip(stamps, tokens) if count), None)
    for name, at in ("ttft_ms", first), ("e2el_ms", stamps[-1] if stamps else None):
        row[name] = None if failed or at is None else (at - marks["send_start_ns"]) / 1e6
    return row | {"output_tokens": sum(tokens)}
