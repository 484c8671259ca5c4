"""Puts into a wheel what whoever passes it on has to pass on: `python notices.py WHEEL THIRD_PARTY.txt SBOM.cdx.json`.

Licences and notices go where PEP 639 has them, the list of parts where PEP 770 has it.
"""

import base64
import hashlib
import pathlib
import sys
import zipfile


def main(wheel, notices, parts):
    with zipfile.ZipFile(wheel) as before:
        files = [(info, before.read(info)) for info in before.infolist()]
    (record,) = (info.filename for info, _ in files if info.filename.endswith(".dist-info/RECORD"))
    folder = record[: -len("RECORD")]
    added = {f"{folder}licenses/{notices.name}": notices.read_bytes(), f"{folder}sboms/{parts.name}": parts.read_bytes()}
    lines = "".join(line(name, data) for name, data in added.items()).encode()
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as after:
        for info, data in files:
            after.writestr(info, data + lines if info.filename == record else data)
        for name, data in added.items():
            after.writestr(name, data)


def line(name, data):
    """Of a file, what RECORD says."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
    return f"{name},sha256={digest},{len(data)}\n"


if __name__ == "__main__":
    main(*map(pathlib.Path, sys.argv[1:]))
