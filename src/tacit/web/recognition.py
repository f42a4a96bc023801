"""Process that recognises the files of a project: ``python -m tacit.web.recognition``.

Files may be hostile, so the server itself never reads them. This process has the limits of every other command, and writes one record.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tacit.files.disk import replace_file
from tacit.verbs.describe import describe_files


def main(words: Sequence[str] | None = None) -> None:
    """Describe files, and write the record."""
    parser = argparse.ArgumentParser(prog="tacit.web.recognition")
    parser.add_argument("--release", action="append", default=[])
    parser.add_argument("--data", action="append", default=[])
    parser.add_argument("--reading", default="{}")
    parser.add_argument("--json", required=True)
    asked = parser.parse_args(words)
    reading: dict[str, Any] = json.loads(asked.reading)
    record = describe_files(asked.release, asked.data, reading)
    with replace_file(Path(asked.json)) as temporary:
        temporary.write_text(json.dumps(record), encoding="utf-8")


if __name__ == "__main__":
    main()
