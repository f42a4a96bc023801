"""Several releases under attack together, and how their people hang together."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.errors import OptionError
from tacit.model.people import People
from tacit.model.release import Itemsets, Listed, Release, Rules


@dataclass(frozen=True, slots=True, eq=False)
class JointCase:
    """Releases of lines with counts, with what is declared about their people."""

    releases: tuple[Listed, ...]
    people: People

    @classmethod
    def of(cls, releases: tuple[Release, ...], people: People) -> JointCase:
        """The case of these releases; refuses those that cannot be taken together yet."""
        listed = tuple(release for release in releases if isinstance(release, (Itemsets, Rules)))
        for number, release in enumerate(releases):
            if not isinstance(release, (Itemsets, Rules)):
                what = "is a table with blanks" if release.kind == "table" else "is a bucketized release"
                where = release.source.name if release.source else f"release {number + 1}"
                remedy = "Audit it by itself; itemsets, rules and leaves of trees can be audited together"
                raise OptionError(f"{what}, which is not audited together with others", where=where, remedy=remedy)
        return cls(listed, people)

    def name(self, release: int) -> str:
        """What a release is called in sentences: its file, or its number."""
        source = self.releases[release].source
        return source.name if source else f"release {release + 1}"
