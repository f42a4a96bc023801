"""Negative rules as a file that stands alone: a CSV file whose lines list the raw values that coarser ones stand for, and a header beside it."""

from __future__ import annotations

import csv
import json
import os

from tacit.errors import OptionError
from tacit.formats.files import FilePath, replace_file, shown
from tacit.formats.header import header_path
from tacit.model.negative import NegativeRules

COLUMNS = ("antecedent", "excluded", "count", "expectation", "confidence", "at_most", "minimal", "nodes")


def check_negative_output(path: FilePath) -> None:
    """Raise when the ending names no format that negative rules are written in."""
    if not os.fspath(path).casefold().endswith(".csv"):
        raise OptionError("negative rules are written as CSV", where=shown(path), remedy="End the name with .csv")


def write_negative_rules(rules: NegativeRules, path: FilePath) -> None:
    """Write the rules, and beside them what they were mined from and how."""
    check_negative_output(path)
    header = rules.header
    entries = {
        "format": "tacit.negative/1", "n": header.n, "qi": list(header.qi), "sa": list(header.sa), "sa_values": list(header.sa_values),
        "min_expectation": rules.min_expectation, "significance": rules.significance, "min_confidence": float(rules.min_confidence),
        "fuzzy": dict(rules.fuzzy), "rules": rules.all_rules, "minimal_rules": rules.minimal_rules,
        "missing": header.missing, "missing_rule": header.missing_rule,
    }  # fmt: skip
    with replace_file(path) as temporary, replace_file(header_path(path)) as beside:
        with open(temporary, "w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(COLUMNS)
            for record in rules.records():
                cells = (
                    json.dumps(record["antecedent"], ensure_ascii=False),
                    record["excluded"],
                    record["count"],
                    record["expectation"],
                    record["confidence"],
                    record["at_most"],
                )
                writer.writerow((*cells, str(record["minimal"]).lower(), json.dumps(record["nodes"], ensure_ascii=False)))
        beside.write_text(json.dumps(entries, indent=2, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")
