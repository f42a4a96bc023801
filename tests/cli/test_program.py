"""Exit codes, and every way to end as one sentence."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.shell_completion import BashComplete, get_completion_class
from click.testing import CliRunner, Result

from tacit.cli import Program, cli, lacks_memory
from tacit.cli.completion import install_completion
from tacit.cli.output import Session, wrote
from tacit.model.errors import EngineError, InputError, InternalError, LimitReached, OptionError
from tests.shell import tacit


def ending(raised: BaseException) -> Result:
    """How the program ends when a verb raises this."""

    @click.group(cls=Program)
    def program() -> None: ...

    @program.command("verb")
    def verb() -> None:
        raise raised

    return CliRunner().invoke(program, ["verb"])


@pytest.mark.parametrize(
    ("raised", "code"),
    [
        (InputError("is empty", where="a.csv", remedy="Fill it"), 2),
        (OptionError("is empty", where="a.csv", remedy="Fill it"), 2),
        (EngineError("is empty", where="a.csv", remedy="Fill it"), 2),
        (LimitReached("is empty", where="a.csv", remedy="Fill it"), 3),
    ],
)
def test_errors_are_one_sentence(raised: Exception, code: int) -> None:
    result = ending(raised)
    assert (result.exit_code, result.stdout, result.stderr) == (code, "", "a.csv: is empty. Fill it.\n")


@pytest.mark.parametrize(
    "raised", [ValueError("CANARY"), InternalError("CANARY", where="x", remedy="y"), AssertionError("CANARY")]
)
def test_a_bug_is_owned_up_to_without_its_text(raised: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    result = ending(raised)
    assert result.exit_code == 70
    assert "a bug in Tacit" in result.stderr
    assert "CANARY" not in result.output
    assert "Traceback" not in result.output
    monkeypatch.setenv("TACIT_DEBUG", "1")
    assert "Traceback" in ending(raised).stderr


def test_ctrl_c_says_that_nothing_was_written() -> None:
    result = ending(KeyboardInterrupt())
    assert result.exit_code == 130
    assert result.stderr.strip() == "interrupted; nothing was written"


def test_ctrl_c_after_a_file_was_written_does_not_lie() -> None:
    @click.group(cls=Program)
    def program() -> None: ...

    @program.command("verb")
    def verb() -> None:
        wrote("r.csv")
        raise KeyboardInterrupt

    assert CliRunner().invoke(program, ["verb"]).stderr.strip() == "interrupted; written before: r.csv"
    assert Session().written == []


def test_too_little_memory_is_not_a_bug() -> None:
    assert ending(MemoryError()).exit_code == 2


def test_no_command_shows_help_and_fails() -> None:
    result = tacit()
    assert result.exit_code == 2
    assert "Usage: tacit" in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["mien"],
            "tacit: there is no command 'mien'. Did you mean 'mine'? The commands are: demo, init, mine, tabulate, audit,",
        ),
        (["mine", "itemset"], "tacit mine: there is no command 'itemset'. Did you mean 'itemsets'?"),
        (
            ["audit", "x", "--raport", "y"],
            "tacit audit: there is no option --raport. Did you mean --report or --report-kind",
        ),
        (["sweep", "--bogus"], "tacit sweep: there is no option --bogus. tacit sweep --help lists the options."),
        (["audit"], "tacit audit: RELEASE is missing. See tacit audit --help."),
        (["audit", "x", "--k", "many"], "--k: 'many' is not a valid integer. See tacit audit --help."),
        (["audit", "x", "--only", "closd"], "--only: 'closd' is not one of 'all', 'closed', 'maximal'. See tacit audit --help."),
        (["audit", "x", "--top", "-1"], "--top: must be 0 or more. Write for instance 10."),
        (["audit", "x", "--report"], "--report: requires an argument. See tacit"),
        (["audit", "x", "--quiet=1"], "--quiet: does not take a value. See tacit"),
        (
            ["audit", "x", "y", "--people", "sme"],
            "--people: does not say how the populations of the releases are related. Write same, nested, unknown,",
        ),
        (
            ["mine", "itemsets", "x", "y"],
            "tacit mine itemsets: got unexpected extra argument (y). See tacit mine itemsets --help.",
        ),
        (["mine", "itemsets", "x", "--engine", "duckdp"], "--engine: unknown engine 'duckdp'. Did you mean 'duckdb'?"),
        (
            ["mine", "itemsets", "x.csv"],
            "--min-support: is missing. Write for instance --min-support 5%, or set it in tacit.toml.",
        ),
    ],
)
def test_mistakes_in_options_are_sentences(
    arguments: list[str], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = tacit(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith(sentence)
    assert result.stderr.count("\n") == 1


COMMANDS = (["demo"], ["init"], ["mine"], ["mine", "itemsets"], ["mine", "rules"], ["audit"], ["attacks"])


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_verb_has_help_with_an_example_that_it_understands(command: list[str]) -> None:
    for option in ("--help", "-h"):
        result = tacit(*command, option)
        assert result.exit_code == 0
        assert "Example" in result.stdout
        assert f"  tacit {' '.join(command)}" in result.stdout
        assert command == ["mine"] or "--json FILE" in result.stdout


def test_a_shell_completes_verbs_and_options() -> None:
    complete = BashComplete(cli, {}, "tacit", "_TACIT_COMPLETE")
    assert [item.value for item in complete.get_completions([], "re")] == ["register", "repair", "repairs", "reproduce"]
    assert [item.value for item in complete.get_completions(["mine"], "i")] == ["itemsets"]
    assert [item.value for item in complete.get_completions(["audit", "r.csv"], "--max")] == [
        "--max-length",
        "--max-posterior",
        "--max-gain",
    ]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_names_and_files(shell: str) -> None:
    install_completion()
    made = get_completion_class(shell)
    assert made is not None
    complete = made(cli, {}, "tacit", "_TACIT_COMPLETE")
    assert [item.value for item in complete.get_completions(["repair", "r.csv", "--method"], "r")] == [
        "raise-threshold",
        "round",
        "round-controlled",
    ]
    assert [item.value for item in complete.get_completions(["audit", "--attack"], "b")] == ["B01", "B02", "B03"]
    assert [(item.value, item.type) for item in complete.get_completions(["audit"], "rel")] == [("rel", "file")]
    assert [(item.value, item.type) for item in complete.get_completions(["audit", "--report-kind"], "e")] == [
        ("external", "plain")
    ]


def test_the_version_is_printed() -> None:
    from tacit.model.version import __version__

    assert tacit("--version").stdout == f"tacit {__version__}\n"


@pytest.mark.parametrize(
    "raised",
    [OSError(12, "Cannot allocate memory"), ImportError("x.so: failed to map segment from shared object"), MemoryError()],
)
def test_memory_that_is_short_is_no_bug(raised: Exception) -> None:
    done = ending(raised)
    assert done.exit_code == 2
    assert done.stderr == "tacit: there is not enough memory. Raise --min-support, or use a machine with more.\n"


def test_a_library_short_of_memory_is_recognised() -> None:
    assert lacks_memory(ImportError("libx.so: failed to map segment from shared object"))
    assert not lacks_memory(ValueError("x"))
