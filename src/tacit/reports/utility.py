"""What a bucketized release is good for, as text; for the owner of the data only."""

from __future__ import annotations

from tacit.model.utility import ESTIMATORS, Utility
from tacit.reports.layout import WIDTH, bullet
from tacit.reports.summary import counted, visible
from tacit.reports.sweeps import table

#: What the columns of the table of errors are called, by the names of the measures.
_COLUMNS = {
    "confidence_error": "confidence",
    "identification_false_positive": "rules added",
    "identification_false_negative": "rules lost",
    "query_error": "answers",
    "query_error_median": "median answer",
}
_WAYS = {
    "uniform": "by the shares of groups, as the papers do",
    "rule-aware": "all assignments that fit the knowledge equally likely",
    "debiased": "the mixing of values in groups undone on average",
    "modelled": "what groups show about who has what, used for everybody (B03)",
}


def utility_text(found: Utility, *, width: int = WIDTH) -> str:
    """What is known of the groups, the errors of each way to read them, and how often guesses are right."""
    blocks = ["\n".join(line for name, text in _lines(found) for line in bullet(f"{name:<8}", text, width, indent=""))]
    shown = [name for name in ESTIMATORS if name in found.errors]
    measured = [name for name in _COLUMNS if any(name in found.errors[one] for one in shown)]
    if measured:
        rows = [[one, *(_percent(found.errors[one].get(name)) for name in measured)] for one in shown]
        lines = table(["read", *(_COLUMNS[name] for name in measured)], rows, left=[0]).splitlines()
        blocks.append("\n".join(["Errors, relative to the data", *(f"  {line}" for line in lines)]))
        blocks.append("\n".join(line for one in shown for line in bullet(f"{one:<10}", _WAYS[one], width)))
    if found.notes:
        blocks.append("\n".join(line for note in found.notes for line in bullet("Note:", f"{note}.", width, indent="")))
    return "\n\n".join(blocks) + "\n"


def _lines(found: Utility) -> list[tuple[str, str]]:
    figures, guesses, settings = found.figures, found.guesses, found.settings
    sure = int(guesses["surviving_above_90"])
    told = (
        f"; {counted(sure, 'person', 'people')} above 0.9, of which {_percent(guesses['surviving_above_90_right'])} right"
        if sure
        else ""
    )
    support = settings["min_support"]
    least = f"{support:,} people" if isinstance(support, int) else _percent(support)
    return [
        (
            "People",
            f"{counted(found.n, 'person', 'people')} in {counted(found.groups, 'group')}, {visible(found.sensitive)} in them",
        ),
        (
            "Groups",
            f"k = {figures['k_anonymity']:,.0f}, l = {figures['l_diversity']:.0f} different values (entropy l = "
            f"{figures['entropy_l']:.4g}), t = {figures['t_closeness']:.3g}, largest share {figures['largest_share']:.3g}",
        ),
        (
            "Rules",
            f"{found.rules:,} with a support of at least {least}, a conviction of at least {settings['min_conviction']:g} and up "
            f"to {counted(settings['max_length'], 'column')}",
        ),
        (
            "Answers",
            f"to {counted(found.queries, 'question')} about {counted(settings['dim'], 'column')}, each for up to "
            f"{_percent(settings['selectivity'])} of its values",
        ),
        (
            "Guesses",
            f"right for {_percent(guesses['surviving_guess_right'])} of the people by what survives in the groups (B03); by the most "
            f"frequent value of each group for {_percent(guesses['group_guess_right'])}{told}",
        ),
    ]


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f} %"
