"""Items of other programs, read as values of the columns of the data."""

from __future__ import annotations

import pandas as pd
from mlxtend.frequent_patterns import association_rules, fpgrowth

import tacit

DATA = pd.DataFrame({"age": range(20, 60), "age_band": ["20-39"] * 20 + ["40-59"] * 20, "ill": (["no"] * 9 + ["yes"]) * 4})
SETS = fpgrowth(pd.get_dummies(DATA[["age_band", "ill"]]), 0.02, use_colnames=True)


def test_the_longest_column_of_the_data_is_meant() -> None:
    audit = tacit.audit(SETS, data=DATA, qi="age_band", sa="ill")
    assert "age_band=20-39" in audit.findings[0].statement + audit.findings[1].statement


def test_known_people_say_how_many_there_are() -> None:
    rules = association_rules(SETS, min_threshold=0.5)
    audit = tacit.audit(rules, known=DATA[["age_band"]], qi="age_band", sa="ill")
    assert audit.release[0]["n"] == 40
