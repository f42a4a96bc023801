"""B03 on the command line: asked for by name, explained by its id, and in every audit of a bucketized release."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.shell import record, tacit


@pytest.fixture
def smokers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Kifer's smokers: 10 groups of a smoker and another with one cancer and one flu, 10 of two smokers with two, 10 of others without."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "groups"
    folder.mkdir()
    kinds = [(("yes", "no"), ("cancer", "flu")), (("yes", "yes"), ("cancer", "cancer")), (("no", "no"), ("flu", "flu"))]
    groups = [kind for kind in kinds for _ in range(10)]
    people = [f"{smokes},{number}" for number, (who, _) in enumerate(groups) for smokes in who]
    values = [f"{number},{value}" for number, (_, held) in enumerate(groups) for value in held]
    (folder / "qit.csv").write_text("\n".join(["smokes,group", *people]) + "\n", encoding="utf-8")
    (folder / "st.csv").write_text("\n".join(["group,ill", *values]) + "\n", encoding="utf-8")
    return folder


def test_a_finding_is_explained_by_its_id(smokers: Path) -> None:
    made = record("audit", smokers, "--attack", "B03", "--max-posterior", "0.7", "--top", "40", code=1)
    mixed = [one for one in made["findings"] if one["event"]["group"] == ["0"]]
    assert {(one["event"]["smokes"][0], one["event"]["ill"][0]) for one in mixed} == {("yes", "cancer"), ("no", "flu")}
    result = tacit("explain", smokers, "--finding", mixed[0]["id"], "--max-posterior", "0.7")
    assert result.exit_code == 0, result.output
    text = " ".join(result.stdout.split())
    assert mixed[0]["statement"] in text
    assert "In the group 1 of 2 people have the value" in text


def test_it_measures_without_deciding(smokers: Path) -> None:
    made = record("audit", smokers, "--l", "1", "--max-posterior", "1")
    run = next(one for one in made["attacks"] if one["code"] == "B03")
    assert (run["status"], run["findings"], made["verdict"]) == ("ran", 0, "clean")
    assert made["measures"]["surviving_above_90"] == 60
    assert made["measures"]["surviving_expected_right"] > 0.95
    assert made["measures"]["group_guess_right"] == pytest.approx((10 + 20 + 20) / 60)


def test_what_it_finds_is_no_proof_to_verify(smokers: Path) -> None:
    assert tacit("audit", smokers, "--attack", "B03", "--max-posterior", "0.7", "--json", "audit.json").exit_code == 1
    result = tacit("verify", "audit.json", smokers)
    assert result.exit_code == 0, result.output
