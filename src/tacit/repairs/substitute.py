"""substitute: replace rows of small groups by similar ones, and mine again.

Changes
    A row that lies in a group of fewer than k people becomes a copy of the nearest row that lies in none (fewest different items). The number
    of people stays, and every published count is true of a real database close to the original one.
Guarantee
    Whatever anybody infers from the result is true of the changed database. The groups of fewer than k people on the published maximal sets
    and on the sets just below the threshold are emptied, so neither sums (I01) nor deduction at the first level (I02) reach one; what deduction
    still finds deeper is emptied in the next round. Different rows become fewer each round, so it ends.
Cost
    One round of mining, audit and nearest-row search per round; one to three rounds are usual.
Example
    49 people have a and b, 1 has a only: the one becomes a row with a and b.
Reference
    Our own; the idea to sanitise patterns through a real database is that of Atzori, Bonchi, Giannotti, Pedreschi, Blocking Anonymity Threats
    Raised by Frequent Itemset Mining, ICDM 2005.
"""

from __future__ import annotations

import numpy as np

from tacit.model.arrays import Ints, Words
from tacit.model.policy import check_time
from tacit.model.repair import Proposal, RepairCase, itemsets_of
from tacit.repairs.people import BitRows, until_clean

NAME = "substitute"


def propose(case: RepairCase) -> Proposal:
    """Propose a release mined from rows without small groups."""
    itemsets_of(case, NAME)
    return until_clean(case, _replace)


def _replace(rows: BitRows, masks: Words, groups: Words) -> Ints:
    """Move people in small groups to the nearest safe row."""
    exposed = rows.within(masks, groups)
    safe = np.flatnonzero(~exposed & (rows.weights > 0))
    if len(safe) == 0:
        # Everybody is in some small group: all take the row of most people, after which there is one group only.
        safe = np.array([int(np.argmax(rows.weights))])
        exposed[safe] = False
    moved = rows.weights.copy()
    for row in np.flatnonzero(exposed).tolist():
        check_time("repair")
        moved[rows.nearest(row, safe)] += rows.weights[row]
        moved[row] = 0
    return moved
