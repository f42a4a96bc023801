"""Columns of a list that Tacit does not use.

Some repeat what was read; those that say more are named, since an audit without them is incomplete.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tacit.files.printout import Printout

#: Measures of a rule that follow from its support, that of its antecedent, and that of its consequent.
_OF_CONSEQUENT = (
    *("consequent support", "rhssupport", "rhs support"),
    *(
        "lift",
        "leverage",
        "conviction",
        "zhangs_metric",
        "jaccard",
        "certainty",
        "kulczynski",
        "cosine",
        "phi",
        "oddsratio",
        "affinity",
    ),
)


def with_extras(printout: Printout, columns: Mapping[str, Sequence[str]]) -> Printout:
    """Name the unread columns that add information.

    Line numbers, lengths, texts without numbers and columns of one value say nothing more. Measures of rules follow from the support of their
    consequents, so that only the first of them is named, and none where every consequent is counted in another line.
    """
    found = [name for name, texts in columns.items() if not _says_nothing(texts, printout)]
    if printout.consequents is None:
        return _with_names(printout, found)
    measures = [name for name in found if name.casefold() in _OF_CONSEQUENT]
    others = [name for name in found if name not in measures]
    measures.sort(key=lambda name: _OF_CONSEQUENT.index(name.casefold()))
    return _with_names(printout, [*([] if _counts_consequents(printout) else measures[:1]), *others], measures)


def _with_names(printout: Printout, names: Iterable[str], alike: Sequence[str] = ()) -> Printout:
    return replace(printout, unread=tuple(names), alike=tuple(alike))


def _says_nothing(texts: Sequence[str], printout: Printout) -> bool:
    """Tell if a column repeats what is known."""
    told = [text.strip() for text in texts]
    if len(set(told)) <= 1 and len(told) > 1:
        return True
    if not any(sign.isdigit() for text in told for sign in text):
        return True
    if told in ([str(row) for row in range(len(told))], [str(row) for row in range(1, len(told) + 1)]):
        return True
    sizes = printout.sets.lengths
    if printout.consequents is not None:
        sizes = sizes + printout.consequents.lengths
    return told == [str(size) for size in sizes.tolist()] or told == [f"{size}.0" for size in sizes.tolist()]


def _counts_consequents(printout: Printout) -> bool:
    """Tell if some line prints each consequent's support."""
    assert printout.consequents is not None
    counted: set[frozenset[int]] = set()
    wanted: set[frozenset[int]] = set()
    has_whole = printout.whole_count is not None or printout.whole_support is not None or printout.confidence is not None
    for line in range(len(printout.sets)):
        antecedent = frozenset(printout.sets[line].tolist())
        consequent = frozenset(printout.consequents[line].tolist())
        counted.add(antecedent | consequent)
        if has_whole:
            counted.add(antecedent)
        wanted.add(consequent)
    return wanted <= counted
