"""``tacit explain``: one finding, the support of one pattern, or the estimate about one person, line by line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from tacit.cli import options, reading, tables
from tacit.cli.output import check_outputs, emit, watched, width, write_file
from tacit.cli.settings import Settings
from tacit.errors import OptionError

if TYPE_CHECKING:
    from tacit.model.release import Release


@click.command(
    "explain",
    epilog=options.examples(
        "tacit explain itemsets.csv",
        "tacit explain itemsets.csv --k 10 --finding I01-3f2a9c1b04de",
        "tacit explain itemsets.csv --pattern 'bread and not (butter or \"peanut butter\")'",
        'tacit explain rules.csv --known adult.csv --who "education=Doctorate,sex=Male" --picture who.svg',
        'tacit explain buckets/ --knowledge negative.csv --who "education=Doctorate,sex=Male"',
    ),
)
@click.argument("release_file", metavar="RELEASE")
@click.option("--finding", "wanted", metavar="ID", help="The id of a finding, as in the record of tacit audit.  [the worst]")
@click.option(
    "--pattern", metavar="PATTERN", help="Tell instead how many people fit a pattern: items with and, or, not and parentheses."
)
@click.option(
    "--who",
    metavar="DESCRIPTION",
    help="Of rules, tables and bucketized releases: tell instead what is guessed about whoever fits, such as education=Doctorate,sex=Male.",
)
@options.data
@click.option("--known", metavar="DATA", help="For rules: the QI columns of everybody, as an adversary may have them.")
@click.option(
    "--knowledge",
    multiple=True,
    metavar="FILE",
    help="For rules and bucketized releases: facts or negative rules that the adversary knows as well (repeatable).",
)
@click.option("--top", type=int, callback=options.positive, metavar="N", help="With --who: how many lines to tell about.  [5]")
@click.option("--picture", "picture_to", metavar="FILE.svg", help="With --who: draw prior, estimate and bounds, as SVG.")
@options.roles
@options.missing
@reading.release_file
@reading.frequency_table
@reading.policy
@tables.of_tables
@options.running
def explain_command(release_file: str, wanted: str | None, pattern: str | None, json_to: str | None, **given: Any) -> None:
    """Explain one finding, how many people fit a pattern, or what is guessed about somebody, line by line.

    Each step names the published line that it adds or takes away, so that a reader can redo the sum. With --pattern the answer is one number
    where the release gives it away, else the tightest bounds, each with the sum that proves it. With --who it is the probability of each
    sensitive value, which published and missing rules make it, and what it would be without single ones; --known or --data must be given.
    """
    check_outputs(
        [json_to, given["picture_to"]],
        inputs=[release_file, *(given[name] for name in ("data", "known") if given[name]), *given["knowledge"]],
    )
    if given["who"] is not None:
        _explain_person(release_file, json_to, given | {"finding": wanted, "pattern": pattern})
        return
    for name, option in (("top", "--top"), ("picture_to", "--picture")):
        if given[name] is not None:
            raise OptionError("belongs to an estimate about somebody", where=option, remedy="Say about whom with --who")
    if pattern is not None:
        _explain_pattern(release_file, pattern, json_to, given | {"finding": wanted})
        return
    from tacit.api import audit

    settings = Settings.of(given, near=given["data"] or given["known"] or release_file)
    with watched("auditing") as progress:
        release = reading.read(release_file, given, settings)
        people, known = reading.owners_data(release, settings), reading.known_people(release, settings)
        limits = {
            "policy": tables.policy_of(release, settings),
            "rows": tables.rows_of(release, people, given),
            "time_limit": given["time_limit"],
        }
        limits["attacks"] = _attack_of(wanted)
        found = audit(release, data=people, known=known, knowledge=list(given["knowledge"]) or None, progress=progress, **limits)
    if wanted is None and not found.findings:
        hints = {"buckets": "Raise --l, or give --knowledge", "table": "Lower --min-confidence or --min-support"}
        remedy = hints.get(release.kind, "Raise --k to see larger groups")
        raise OptionError(f"there is nothing to explain: the audit is {found.verdict}", where=release_file, remedy=remedy)
    finding = found.findings[0] if wanted is None else found.finding(wanted)
    head = f"{finding.id}:", finding.statement
    emit({"format": "tacit.explanation/1", "finding": finding.to_dict()}, lambda: _text(head, finding.steps), json_to=json_to)


def _attack_of(finding: str | None) -> list[str] | None:
    """The attack that a finding is of, by its id; asked for by name, B03 finds as well. None where the id tells none.

    >>> _attack_of("B03-48eb0e5440d3"), _attack_of("x"), _attack_of(None)
    (['B03'], None, None)
    """
    from tacit.attacks import ATTACKS

    code = (finding or "").partition("-")[0]
    return [code] if code in {attack.code for attack in ATTACKS} else None


def _explain_pattern(release_file: str, pattern: str, json_to: str | None, given: dict[str, Any]) -> None:
    """What the release says about the support of a pattern."""
    from tacit.queries import support_of

    for name in ("finding", "data", "known", "k", "knowledge"):
        if given.get(name) not in (None, ()):
            remedy = "Leave one of the two out"
            raise OptionError("belongs to a finding, not to a pattern", where=f"--{name}", remedy=remedy)
    with watched("reading"):
        found = support_of(reading.read(release_file, given), pattern=pattern)
    number, _, rest = found.statement.partition(": ")
    emit({"format": "tacit.explanation/1"} | found.to_dict(), lambda: _text((f"{number}:", rest), found.steps), json_to=json_to)


def _explain_person(release_file: str, json_to: str | None, given: dict[str, Any]) -> None:
    """What rules make an attacker guess about somebody."""
    from tacit.queries import posterior_of

    for name in ("finding", "pattern", "k", "l", "max_posterior", "max_gain"):
        if given.get(name) not in (None, ()):
            option = "--" + name.replace("_", "-")
            raise OptionError("does not go with --who", where=option, remedy="Leave one of the two out")
    settings = Settings.of(given, near=given["data"] or given["known"] or release_file)
    with watched("estimating"):
        release = reading.read(release_file, given)
        if release.kind == "buckets":
            _explain_member(release, json_to, given)
            return
        if release.kind == "table":
            _explain_records(release, settings, json_to)
            return
        people, known = reading.owners_data(release, settings), reading.known_people(release, settings)
        top, seconds = given["top"] or 5, given["time_limit"]
        knowledge = list(given["knowledge"]) or None
        found = posterior_of(
            release, who=given["who"], known=known, data=people, knowledge=knowledge, top=top, time_limit=seconds
        )

    from tacit.reports.person import person_svg, person_text

    if given["picture_to"] is not None:
        write_file(given["picture_to"], person_svg(found).encode())
    emit({"format": "tacit.explanation/1"} | found.to_dict(), lambda: person_text(found, width=width()), json_to=json_to)


def _explain_member(release: Release, json_to: str | None, given: dict[str, Any]) -> None:
    """What a bucketized release says about whoever fits."""
    from tacit.queries import members_of

    for name, option in (("data", "--data"), ("known", "--known"), ("picture_to", "--picture")):
        if given[name]:
            raise OptionError("is for rules, and this release is bucketized", where=option, remedy="Leave it out")
    knowledge = list(given["knowledge"]) or None
    found = members_of(release, who=given["who"], knowledge=knowledge, top=given["top"] or 5)
    record = {"format": "tacit.explanation/1", "members": [one.to_dict() for one in found]}

    def text() -> str:
        told = "\n".join(_text((f"{place}.", one.statement), one.steps) for place, one in enumerate(found, 1))
        how = (
            "Probabilities take all assignments that fit the group as equally likely (B02); the steps say what is possible (B01)."
        )
        return f"{told}\n{how}\n"

    emit(record, text, json_to=json_to)


def _explain_records(release: Release, settings: Settings, json_to: str | None) -> None:
    """Which rules of a table tell the blank cell of whoever fits."""
    given = settings.given
    for name, option in (("known", "--known"), ("picture_to", "--picture"), ("knowledge", "--knowledge")):
        if given[name]:
            raise OptionError("is for rules, and this release is a table", where=option, remedy="Leave it out")
    findings, sentence = tables.rules_about(release, settings, given["who"])
    shown = findings[: given["top"] or 5]

    def text() -> str:
        return "\n".join(
            [f"{sentence}\n", *(_text((f"{place}.", one.statement), one.steps) for place, one in enumerate(shown, 1))]
        )

    record = {"format": "tacit.explanation/1", "statement": sentence, "findings": [one.to_dict() for one in shown]}
    emit(record, text, json_to=json_to)


def _text(head: tuple[str, str], told: Sequence[str]) -> str:
    from tacit.reports.layout import bullet

    steps = [line for number, step in enumerate(told, start=1) for line in bullet(f"{number:>3}.", step, width())]
    return "\n".join([*bullet(*head, width(), indent=""), "", *steps]) + "\n"
