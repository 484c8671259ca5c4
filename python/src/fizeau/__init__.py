"""What `fizeau` wrote, as lists of dictionaries: `fizeau.open("runs/a").levels`, `.requests`."""

import itertools
import json
import pathlib
from typing import NamedTuple

_UNSEEN = "session turn endpoint connection stamps released_s send_end_s first_byte_s requested.output_tokens requested.eos".split()
_KILLED = {"status": "partial", "status_reason": "it has no summary.json", "validity": {"verdict": "suspect"}}


class Run(NamedTuple):
    document: dict  # run.json
    levels: list  # a row a level: every figure of its summary.json, or else of its imported.json, by its path in there
    requests: list  # a row a request of any level, in the order in which they ended; `part` is load or probe


def open(path):
    """The run, sweep, search or import in a folder, or one level of it. What is no run raises `ValueError`, which says what to open instead.

    Levels that a resumed sweep set aside and measured again are left out. Where `tapes.jsonl` is cut, its whole lines are used, and its level
    is partial and at best suspect, as for `fizeau report`.
    """
    path = pathlib.Path(path)
    folders = [path] if _is_level(path) else [it for it in sorted(path.iterdir()) if _is_level(it) and "-partial" not in it.name]
    # One level of a sweep has its run.json in the folder above.
    above = path if (path / "run.json").is_file() or not _is_level(path) else path.resolve().parent
    if not folders or not (above / "run.json").is_file():
        raise ValueError(_no_run(path))
    levels, requests = [], []
    for folder in folders:
        level = {"level": "" if folder == above else folder.resolve().name}
        summary, imported, tapes = (folder / it for it in ("summary.json", "imported.json", "tapes.jsonl"))
        known = next((_json(it) for it in (summary, imported) if it.is_file()), _KILLED)
        read, is_cut = _lines(tapes) if tapes.is_file() else ([], False)
        if is_cut or (tapes.is_file() and len(read) != _counted(known, len(read))):
            known = _doubted(known, len(read))
        levels.append(level | _flat(known))
        rows = [level | _request(tape) for tape in read]
        for row in rows if imported.is_file() else []:  # A tape has a value for what a tool's file does not tell, too.
            row.update(dict.fromkeys(_UNSEEN + ["intended_s"] * (row.get("intended_s") == row.get("send_start_s"))))
        requests.extend(rows)
    return Run(_json(above / "run.json"), levels, requests)


def _is_level(folder):
    return any((folder / it).is_file() for it in ("tapes.jsonl", "imported.json"))


def _json(path):
    return json.loads(path.read_text(encoding="utf-8"))


def _no_run(path):
    inner = [it for it in sorted(path.iterdir()) if (it / "run.json").is_file()]
    if inner:
        return f"{path} has several runs side by side: open one of them, such as {inner[0]}"
    if (path / "run.json").is_file():
        return f"{path} is a run without levels: neither it nor a folder in it has tapes.jsonl or imported.json"
    return f"{path} is not a run: a run's folder has run.json, and tapes.jsonl or a folder for each level"


def _counted(known, otherwise):
    """How many tapes the summary counted, those of probes among them."""
    parts = [it["requests"]["sent"] for it in (known, known.get("probe")) if it and "requests" in it]
    return sum(parts) if parts else otherwise


def _doubted(known, whole):
    """The same level, of which some tapes are not there, or more than there were."""
    reasons = [known.get("status_reason"), f"tapes.jsonl is cut or was changed: {whole} of {_counted(known, 'unknown')} tapes are used"]
    validity = known.get("validity") or {}
    verdict = "invalid" if validity.get("verdict") == "invalid" else "suspect"
    return known | {"status": "partial", "status_reason": "; ".join(filter(None, reasons)), "validity": validity | {"verdict": verdict}}


def _flat(value, above=""):  # `{"a": {"b": 1}}` as `{"a.b": 1}`; lists stay
    inner = [(above + key, it) for key, it in value.items()]
    return {k: v for key, it in inner for k, v in (_flat(it, key + ".") if isinstance(it, dict) else {key: it}).items()}


def _lines(path):
    """What is in the whole lines of a file, and whether the last one is cut."""
    *lines, last = path.read_bytes().split(b"\n")
    read = [json.loads(line) for line in lines if line]
    try:
        return read + [json.loads(it) for it in (last,) if it], False
    except ValueError:
        return read, True


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
