"""What became of a table in which cells were hidden, as text."""

from __future__ import annotations

from tacit.model.hidden import Hidden
from tacit.model.repair import Tried
from tacit.reports.summary import counted, told, visible

#: Regions in words.
PLACES = {
    "ns": "sensitive cells of other records",
    "nc": "condition cells of other records",
    "sc": "condition cells of the sensitive records",
}


def hidden_text(made: Hidden, *, dropped: int = 0, origin: str = "") -> str:
    """The hidden cells in a few lines: how many and where, what the audits say, and what they do to the use of the table.

    ``dropped`` rows had a missing value; ``origin`` is the file that settings came from.
    """
    cost = made.cost
    hidden, sensitive = counted(cost["cells_hidden"], "cell"), counted(cost["sensitive_cells"], "sensitive cell")
    lines = [f"{hidden} hidden besides {sensitive}; {cost['cells_hidden_share']:.3%} of the cells in use"]
    lines.append(f"Method   {made.method}{_optimum(made)}")
    lines += [f"Where    {count:,} of the {PLACES[region]} ({region})" for region, count in cost["by_region"].items() if count]
    if cost["by_column"]:
        lines.append("Columns  " + ", ".join(f"{visible(name)} {count:,}" for name, count in cost["by_column"].items()))
    lines += _others(made)
    if dropped:
        lines.append(f"Missing  {counted(dropped, 'row')} with the mark of a missing value dropped; row numbers count the others")
    if origin:
        lines.append(f"Settings from {visible(origin)}")
    if made.before is not None:
        lines.append(f"Before   {told(made.before)} (only the sensitive cells hidden)")
    if made.after is not None:
        lines.append(f"After    {told(made.after)}")
    lines.append(_use(made))
    lines += [_instead(one) for one in made.tried]
    return "\n".join(lines) + "\n"


def _others(made: Hidden) -> list[str]:
    """What became of columns without a role."""
    if not made.other_names:
        return []
    names = ", ".join(map(visible, made.other_names))
    columns = counted(len(made.other_names), "column")
    if made.other_columns == "drop":
        return [f"Dropped  {columns} without a role: {names} (--other-columns keep publishes them)"]
    return [f"Others   {columns} without a role published, and protected against: {names}"]


def _optimum(made: Hidden) -> str:
    """How far the table may be from the best one, where that is known."""
    if "least_cells" not in made.cost:
        return ""
    if made.cost["gap"] == 0:
        return "; no safe table hides fewer cells"
    return f"; every safe table hides at least {counted(made.cost['least_cells'], 'cell')}"


def _use(made: Hidden) -> str:
    """What is left of rules and counts."""
    cost = made.cost
    rules = f"{cost['rules_lost']:,} of {counted(cost['rules'], 'rule')} lost, {cost['rules_changed']:,} changed, {cost['rules_new']:,} new"
    return f"Use      {rules}; counts are off by {cost['query_error']:.1%} on average"


def _instead(one: Tried) -> str:
    """What hiding the same attributes of all sensitive records would come to."""
    if one.verdict is None:
        return f"Instead  --may-hide sc --method {one.method} is not possible: {one.reason}"
    cells = counted(one.cost["cells_hidden"], "cell")
    return f"Instead  --may-hide sc --method {one.method} would hide {cells} of the sensitive records, and its audit is {one.verdict}"
