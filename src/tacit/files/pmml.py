"""PMML files with an ``AssociationModel``, any version.

The model's rules are read; a model without rules is read as itemsets with their supports. The antecedent's support, where its ``Itemset``
prints one, is the number of people with the antecedent. The file is read as a stream without building a tree; a document type
declaration, which could define entities, is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any
from xml.parsers import expat

from tacit.errors import InputError, OptionError
from tacit.files.disk import Input, readable
from tacit.files.header import FileHeader
from tacit.files.printout import Printout, TextColumn, named_sets, place, with_extras
from tacit.model.numbers import Threshold, share
from tacit.model.release import Header


@dataclass(slots=True)
class _Model:
    """State of reading: attributes with their lines."""

    where: str
    line: int = 1
    inside: int = 0
    model: tuple[int, dict[str, str]] | None = None
    items: dict[str, str] = field(default_factory=dict)
    itemsets: dict[str, list[str]] = field(default_factory=dict)
    itemset_attributes: dict[str, tuple[int, dict[str, str]]] = field(default_factory=dict)
    rules: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    current: str | None = None

    def fault(self, what: str, remedy: str = "Write the PMML file again", line: int | None = None) -> InputError:
        return InputError(what, where=place(self.where, line or self.line), remedy=remedy)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(" ")[2]
        if local == "AssociationModel":
            if self.model is not None:
                raise self.fault("is a second AssociationModel in one file", "Keep one model in a file")
            self.model = (self.line, attributes)
            self.inside = 1
        elif not self.inside:
            return
        elif local == "Item":
            number = self._need(attributes, "id", local)
            # PMML 4.3 and later may give field and category instead of the value.
            parts = [attributes[key] for key in ("field", "category") if key in attributes]
            self.items[number] = attributes.get("value", "=".join(parts)) or number
        elif local == "Itemset":
            self.current = self._need(attributes, "id", local)
            if self.current in self.itemsets:
                raise self.fault("an Itemset has the id of another one")
            self.itemsets[self.current] = []
            self.itemset_attributes[self.current] = (self.line, attributes)
        elif local == "ItemRef" and self.current is not None:
            item = self._need(attributes, "itemRef", local)
            if item not in self.items:
                raise self.fault("an ItemRef names no Item of the file")
            self.itemsets[self.current].append(self.items[item])
        elif local == "AssociationRule":
            self.rules.append((self.line, attributes))

    def end(self, name: str) -> None:
        local = name.rpartition(" ")[2]
        if local == "Itemset":
            self.current = None
        elif local == "AssociationModel":
            self.inside = 0

    def _need(self, attributes: dict[str, str], key: str, element: str) -> str:
        if key not in attributes:
            raise self.fault(f"{element} has no attribute {key!r}")
        return attributes[key]


def read(file: Input, known: FileHeader) -> Printout:
    """Read the rules or itemsets of an association model."""
    model = _parse(file)
    if model.model is None:
        raise InputError("holds no AssociationModel", where=model.where, remedy="Give a PMML file of association rules")
    known = replace(known, header=_header(model, known.header))
    if model.rules:
        return _rules(model, known)
    entries = model.itemset_attributes.values()
    lines = [line for line, _ in entries]
    support = TextColumn("support", [attributes.get("support", "") for _, attributes in entries])
    return Printout.of(model.where, lines, named_sets(model.itemsets.values()), known, support=support)


def _parse(file: Input) -> _Model:
    model = _Model(file.name)
    parser = expat.ParserCreate(namespace_separator=" ")

    def start(name: str, attributes: dict[str, str]) -> None:
        model.line = parser.CurrentLineNumber
        model.start(name, attributes)

    def doctype(*_: Any) -> None:
        model.line = parser.CurrentLineNumber
        raise model.fault("a document type declaration is not read", "Remove the <!DOCTYPE ...> from the file")

    parser.StartElementHandler = start
    parser.EndElementHandler = model.end
    parser.StartDoctypeDeclHandler = doctype
    try:
        with file.open_bytes() as stream, readable(file):
            parser.ParseFile(stream)
    except expat.ExpatError as exc:
        raise model.fault("is not well-formed XML", line=exc.lineno) from None
    return model


def _header(model: _Model, header: Header) -> Header:
    """Return the header, completed by attributes of the model."""
    assert model.model is not None
    line, attributes = model.model
    people = attributes.get("numberOfTransactions", "").strip()
    if people and not (people.isdecimal() and people.isascii() and len(people) < 19):
        raise model.fault("numberOfTransactions is not a whole number", "Correct it", line)
    n = int(people) if people else header.n
    if header.n not in (None, n):
        raise model.fault(f"numberOfTransactions is not n = {header.n} of the header file", "Correct one of the two", line)
    changes: dict[str, Any] = {"n": n}
    try:
        if header.min_support is None and n is not None and float(attributes.get("minimumSupport", 0)) > 0:
            threshold = Threshold(share(attributes["minimumSupport"], where="minimumSupport"), is_count=False)
            changes["min_support"] = threshold.least_count(n)
        if header.min_confidence is None and float(attributes.get("minimumConfidence", 0)) > 0:
            changes["min_confidence"] = share(attributes["minimumConfidence"], where="minimumConfidence")
    except (ValueError, OptionError):
        raise model.fault("minimumSupport or minimumConfidence is not a share from 0 to 1", "Correct it", line) from None
    return replace(header, **changes)


def _rules(model: _Model, known: FileHeader) -> Printout:
    sides: list[list[list[str]]] = [[], []]
    for line, attributes in model.rules:
        for side, key in zip(sides, ("antecedent", "consequent"), strict=True):
            if attributes.get(key) not in model.itemsets:
                raise model.fault(f"the {key} of a rule names no Itemset of the file", line=line)
            side.append(model.itemsets[attributes[key]])
    wholes = [model.itemset_attributes[attributes["antecedent"]][1] for _, attributes in model.rules]

    def texts(key: str) -> list[str]:
        return [attributes.get(key, "") for _, attributes in model.rules]

    printout = Printout.of(
        model.where,
        [line for line, _ in model.rules],
        named_sets(*sides),
        known,
        support=TextColumn("support", texts("support")),
        confidence=TextColumn("confidence", texts("confidence")),
        whole_support=TextColumn("support of the antecedent", [attributes.get("support", "") for attributes in wholes]),
    )
    read_here = ("id", "antecedent", "consequent", "support", "confidence")
    beside = dict.fromkeys(key for _, attributes in model.rules for key in attributes if key not in read_here)
    return with_extras(printout, {key: texts(key) for key in beside})
