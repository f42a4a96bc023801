"""Writes facts into the pages, so that they cannot go stale: tables from the program, and what commands really print.

    python docs/generate.py            rewrite the generated parts of README.md and docs/**/*.md
    python docs/generate.py --check    only say which pages are not up to date; exit 1 when there are any

A generated part stands between ``<!-- table: NAME -->`` or ``<!-- run: COMMAND -->`` and the next ``<!-- end -->``. Commands of one page
run one after the other in an empty folder that holds a copy of examples/, as they would in a clone of the repository. A command that is
meant to end with another exit code than 0 says so: ``<!-- run (exit 1): COMMAND -->``; of a long answer some paragraphs can be shown:
``<!-- run (exit 1, paragraphs 1 5): COMMAND -->``. ``<!-- file: NAME -->`` before a fenced block writes the block into that folder.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import tacit
from tacit.cli import cli as program
from tacit.kernels.jit import NOTICE
from tacit.model.policy import ACRO_NAMES, LIMITS
from tacit.model.reproduction import Reproduction
from tacit.papers.report import papers_markdown
from tacit.repairs import REPAIRS
from tacit.reports.document import format_limit
from tacit.reports.sentences import MEANINGS

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from docs import commands, reference  # noqa: E402 - found only once the folder above is known

WIDTH = 100
ENVIRONMENT = {"COLUMNS": str(WIDTH), "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "PYTHONUTF8": "1"}
PART = re.compile(
    r"<!-- (?P<kind>table|run)(?P<how> \([^)\n]*\))?: (?P<what>[^\n]*?) -->\n.*?<!-- end -->"
    r"|<!-- file: (?P<name>\S+) -->\n+```[^\n]*\n(?P<content>.*?)```",
    re.DOTALL,
)

#: The exit code of a command, what it printed, and what it said on standard error.
Answer = tuple[int, str, str]
Run = Callable[[str, Path], Answer]


class Stale(Exception):
    """A part that cannot be generated; the text says why."""


def pages() -> list[Path]:
    """All pages that may hold generated parts."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def regenerated(text: str, run: Run | None = None) -> str:
    """The text of a page with every generated part written anew; ``run`` runs a command, by default a shell."""
    if not PART.search(text):
        return text
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(ROOT / "examples", folder / "examples")
        return PART.sub(lambda match: _part(match, folder, run or in_a_shell), text)


def _part(match: re.Match[str], folder: Path, run: Run) -> str:
    if match["name"]:
        (folder / match["name"]).parent.mkdir(exist_ok=True)
        (folder / match["name"]).write_text(match["content"], encoding="utf-8")
        return match[0]
    what, how = match["what"].strip(), match["how"] or ""
    if match["kind"] == "run":
        code = re.search(r"exit (\d+)", how)
        answer = printed(what, folder, int(code[1]) if code else 0, run)
        chosen = re.search(r"paragraphs ([\d ]+)", how)
        body = f"```console\n$ {what}\n{abridged(answer, [int(n) for n in chosen[1].split()]) if chosen else answer}```"
    else:
        name, _, argument = what.partition(" ")
        if name not in TABLES:
            raise Stale(f"there is no table {name!r}; the tables are {', '.join(TABLES)}")
        body = "\n".join(TABLES[name](argument))
    return f"<!-- {match['kind']}{how}: {what} -->\n{body}\n<!-- end -->"


def abridged(answer: str, chosen: list[int]) -> str:
    """Some paragraphs of an answer, the first being 1; three dots stand for the others.

    >>> abridged("a\\n\\nb\\n\\nc\\nd\\n", [1, 3])
    'a\\n...\\nc\\nd\\n'
    """
    paragraphs = answer.rstrip("\n").split("\n\n")
    if max(chosen) > len(paragraphs):
        raise Stale(f"there are {len(paragraphs)} paragraphs, and no paragraph {max(chosen)}")
    shown = ""
    for before, number in zip([0, *chosen], [*chosen, len(paragraphs) + 1], strict=True):
        dots = "...\n" if number - before > 1 else "\n" if shown and number <= len(paragraphs) else ""
        shown += dots + (f"{paragraphs[number - 1]}\n" if number <= len(paragraphs) else "")
    return shown


def in_a_shell(command: str, folder: Path) -> Answer:
    """Run a command as a user does."""
    where = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))
    environment = {**os.environ, **ENVIRONMENT, "PATH": where}
    done = subprocess.run(
        ["sh", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8", check=False
    )
    return done.returncode, done.stdout, done.stderr


def printed(command: str, folder: Path, expected: int, run: Run) -> str:
    """What a command prints in a folder; raises when it ends with another exit code than expected."""
    code, out, err = run(command, folder)
    if code != expected:
        raise Stale(f"`{command}` ended with {code}, not {expected}: {err.strip()[-500:]}")
    said = [line for line in err.splitlines() if not line.endswith(NOTICE)]
    return "".join(f"{line.rstrip()}\n" for line in [*out.splitlines(), *said])


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _attacks(prefix: str) -> Iterator[str]:
    """The table of attacks; ``prefix`` leads from the page to the pages of the attacks."""
    yield from ("| code | attack | needs | claim | what it infers | source |", "|---|---|---|---|---|---|")
    for a in tacit.ATTACKS:
        needs = "a list, or a table of counts" if a.needs == "lines" else a.needs
        yield _row(f"[{a.code}]({prefix}{a.code}.md)", a.name, needs, a.claim, a.summary, a.source)


def _repairs(prefix: str) -> Iterator[str]:
    """The table of repairs."""
    yield from ("| repair | of | what it does | source |", "|---|---|---|---|")
    for r in REPAIRS:
        yield _row(f"[{r.name}]({prefix}{r.name}.md)", ", ".join(r.of), r.summary, r.source)


def _measures(_: str) -> Iterator[str]:
    """The table of measures."""
    yield from ("| name | unit | meaning |", "|---|---|---|")
    for m in tacit.MEASURES:
        yield _row(f"`{m.name}`", m.unit, m.meaning)


def _limits(_: str) -> Iterator[str]:
    """The limits of a policy: name, ACRO's name, default, meaning."""
    acro = {ours: theirs for theirs, ours in ACRO_NAMES.items()}
    yield from ("| limit | in ACRO | default | meaning |", "|---|---|---|---|")
    for name, meaning in MEANINGS.items():
        theirs = f"`{acro[name]}`" if name in acro else ""
        yield _row(f"`{name}`", theirs, format_limit(LIMITS[name]), meaning)


def _attack(code: str) -> Iterator[str]:
    """What the module of an attack says about itself, section by section."""
    attack = next(a for a in tacit.ATTACKS if a.code == code)
    yield from _explain_module(attack.run)


def _repair(name: str) -> Iterator[str]:
    """What the module of a repair says about itself, section by section."""
    repair = next(r for r in REPAIRS if r.name == name)
    yield from _explain_module(repair.propose)


def _explain_module(function: Callable[..., object]) -> Iterator[str]:
    """The docstring of a function's module, with sections as paragraphs, and the module's file."""
    module = sys.modules[function.__module__]
    text = inspect.getdoc(module) or ""
    yield f"**{text.splitlines()[0]}**"
    for section, body in sections(text).items():
        yield f"\n*{section}.* {' '.join(body.split()).replace('``', '`')}"
    yield f"\n*Code.* `src/{module.__name__.replace('.', '/')}.py`"


def sections(text: str) -> dict[str, str]:
    """The sections of an attack's or repair's docstring: a heading at the margin, its text indented below."""
    return dict(re.findall(r"^([A-Z]\w+)\n((?:    .*\n?)+)", text, re.MULTILINE))


def _papers(_: str) -> Iterator[str]:
    """What was found when all papers were reproduced with their data; docs/papers.md says how it is made again."""
    record = json.loads((ROOT / "docs" / "papers.json").read_bytes())
    yield papers_markdown([Reproduction.from_dict(paper) for paper in record["papers"]], body_only=True).rstrip()


def _python(_: str) -> Iterator[str]:
    """The public names, as the program describes them: functions with their parameters and examples, types with what they offer."""
    yield from reference.pages(tacit)


def _errors(_: str) -> Iterator[str]:
    """The tree of exceptions."""
    tree = (sys.modules["tacit.model.errors"].__doc__ or "").split("::\n", 1)[1].split("\n\nEvery")[0]
    yield from ("```text", inspect.cleandoc(tree), "```")


def _commands(_: str) -> Iterator[str]:
    """Every command: what it does, examples, and its options."""
    yield from commands.pages(program)


TABLES: dict[str, Callable[[str], Iterator[str]]] = {
    "attacks": _attacks,
    "repairs": _repairs,
    "measures": _measures,
    "limits": _limits,
    "attack": _attack,
    "repair": _repair,
    "errors": _errors,
    "papers": _papers,
    "python": _python,
    "commands": _commands,
}


def stale(path: Path, run: Run | None = None) -> str | None:
    """Why a page is not up to date, or None."""
    text = path.read_text(encoding="utf-8")
    try:
        fresh = regenerated(text, run)
    except Stale as why:
        return str(why)
    if fresh == text:
        return None
    differs = next((i for i, (a, b) in enumerate(zip(text.splitlines(), fresh.splitlines(), strict=False), 1) if a != b), 0)
    return f"differs from what is generated, first in line {differs}; run `make docs`"


def main(arguments: list[str]) -> int:
    """Rewrite or check all pages."""
    problems = 0
    for path in pages():
        if "--check" in arguments:
            why = stale(path)
            if why:
                problems += 1
                print(f"{path.relative_to(ROOT)}: {why}")
            continue
        text = path.read_text(encoding="utf-8")
        try:
            fresh = regenerated(text)
        except Stale as why:
            problems += 1
            print(f"{path.relative_to(ROOT)}: {why}")
            continue
        if fresh != text:
            path.write_text(fresh, encoding="utf-8")
            print(f"{path.relative_to(ROOT)}: rewritten")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
