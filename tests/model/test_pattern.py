"""The language of patterns: what texts mean, and where they go wrong."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress

import pytest

from tacit.model.errors import OptionError
from tacit.model.pattern import Pattern

MEANINGS: dict[str, Callable[[bool, bool, bool], bool]] = {
    "a": lambda a, b, c: a,
    "a and b": lambda a, b, c: a and b,
    "a or b and c": lambda a, b, c: a or (b and c),
    "(a or b) and c": lambda a, b, c: (a or b) and c,
    "not a and b": lambda a, b, c: not a and b,
    "not (a and b)": lambda a, b, c: not (a and b),
    "not not a": lambda a, b, c: a,
    "NOT a OR b AND NOT c": lambda a, b, c: not a or (b and not c),
    "a and(b or(not c))": lambda a, b, c: a and (b or not c),
    "'a' and \"b\" or ((c))": lambda a, b, c: (a and b) or c,
    "a and not a": lambda a, b, c: False,
}


@pytest.mark.parametrize("text", MEANINGS)
def test_patterns_mean_what_they_say(text: str) -> None:
    pattern = Pattern.parse(text)
    truth = pattern.truth()
    for row in range(len(truth)):
        held = {name: bool(row >> place & 1) for place, name in enumerate(pattern.names)}
        assert truth[row] == MEANINGS[text](*(held.get(name, False) for name in "abc"))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("salary=<=50K and not sex=F", ("salary=<=50K", "sex=F")),
        ("'age=[20,30)' and \"peanut butter\"", ("age=[20,30)", "peanut butter")),
        ('\'it\'\'s\' or "say ""hi"""', ("it's", 'say "hi"')),
        ("'and' and 'not'", ("and", "not")),
        ("orange and android", ("orange", "android")),
        ("b or a or b", ("b", "a")),
        ("don't", ("don't",)),
        ("''", ("",)),
    ],
)
def test_names_are_read_as_they_are_written(text: str, names: tuple[str, ...]) -> None:
    assert Pattern.parse(text).names == names


@pytest.mark.parametrize(
    ("text", "position", "what"),
    [
        ("a and", 6, "an item is missing"),
        ("a and  ", 6, "an item is missing"),
        ("and a", 1, "an item is missing"),
        ("a b", 3, "'and' or 'or' is missing"),
        ("a not b", 3, "'and' or 'or' is missing"),
        ("(a or b", 1, "not closed"),
        ("a and (b or (c)", 7, "not closed"),
        ("a)", 2, "no opening one"),
        ("a and ()", 8, "an item is missing"),
        ('a and "b', 7, "quotation mark"),
        ("(" * 200 + "a" + ")" * 200, 101, "too deeply"),
        ("not " * 200 + "a", 401, "too deeply"),
    ],
)
def test_errors_say_where(text: str, position: int, what: str) -> None:
    with pytest.raises(OptionError, match=what) as caught:
        Pattern.parse(text)
    assert caught.value.where == f"--pattern, position {position}"


@pytest.mark.parametrize("text", ["", "   "])
def test_an_empty_text_is_no_pattern(text: str) -> None:
    with pytest.raises(OptionError, match="is empty"):
        Pattern.parse(text)


def test_too_many_items_are_refused() -> None:
    assert len(Pattern.parse(" and ".join(f"i{n}" for n in range(16))).names) == 16
    with pytest.raises(OptionError, match="17 items"):
        Pattern.parse(" and ".join(f"i{n}" for n in range(17)))


def test_any_text_is_a_pattern_or_an_option_error() -> None:
    chance = random.Random(5)
    parts = ["a", "b", "and", "or", "not", "(", ")", "'", '"', " ", "\t", "=", "é", "'x y'"]
    for _ in range(3000):
        text = "".join(chance.choice(parts) + chance.choice(["", " "]) for _ in range(chance.randint(0, 9)))
        with suppress(OptionError):
            assert Pattern.parse(text).names
