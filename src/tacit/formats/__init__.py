"""Files to model and back: one reader or writer per published form.

``FORMATS`` lists the release files that can be read, in the order in which they are tried.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tacit.formats import arules, borgelt, mlxtend, own, pmml, spark, spmf
from tacit.formats.files import FilePath
from tacit.formats.head import Head
from tacit.formats.header import FileHeader
from tacit.formats.printout import Printout


@dataclass(frozen=True, slots=True)
class Format:
    """One form of release file: its name, what it holds, how it is known by its content, and its reader."""

    name: str
    kinds: tuple[str, ...]
    looks_like: Callable[[Head], bool]
    read: Callable[[FilePath, FileHeader], Printout]
    about: str


def _never(_: Head) -> bool:
    return False


BOTH = ("itemsets", "rules")

FORMATS: tuple[Format, ...] = (
    Format("tacit", BOTH, own.looks_like, own.read, "Tacit's own CSV or Parquet, with a JSON header beside it"),
    Format("mlxtend", BOTH, mlxtend.looks_like, mlxtend.read, "CSV of mlxtend frames"),
    Format("arules", BOTH, arules.looks_like, arules.read, "CSV of R's arules"),
    Format("spark", BOTH, spark.looks_like, spark.read, "Parquet of Spark's FPGrowth, a file or a folder"),
    Format("pmml", BOTH, pmml.looks_like, pmml.read, "PMML with an AssociationModel"),
    Format("spmf", BOTH, spmf.looks_like, spmf.read, "text of SPMF"),
    Format(
        "borgelt-or-fimi",
        BOTH,
        borgelt.looks_like,
        borgelt.read,
        "text of Borgelt's or of FIMI programs, told apart by their numbers",
    ),
    Format("borgelt", BOTH, _never, borgelt.read_percentages, "text of Borgelt's programs, supports in percent"),
    Format("fimi", BOTH, _never, borgelt.read_counts, "text of FIMI programs, supports as counts"),
)
