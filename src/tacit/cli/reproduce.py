"""``tacit reproduce``: compare the papers' results with ours."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import click

from tacit.cli import options
from tacit.cli.options import command, option
from tacit.cli.output import check_outputs, emit, note, watched, write_file

if TYPE_CHECKING:
    from tacit.model.reproduction import Reproduction


@command(
    "reproduce",
    "tacit reproduce --data datasets --out papers        # all papers, and one page about them: papers/papers.html",
    "tacit reproduce --data bundled --out papers         # with the Adult data that come with Tacit",
    "tacit reproduce atzori05",
    "tacit reproduce pmicd08 --data fimi --out figures   # fimi holds mushroom.dat.gz and chess.dat.gz",
    "tacit reproduce zhu09 --data uci --out figures      # uci holds adult.data",
    "tacit reproduce injector08 --data uci --out figures",
    "tacit reproduce li07 --data uci --out figures",
)
@click.argument("name", required=False, metavar="[PAPER]")
@option(
    "--data FOLDER",
    "Folder with the public data sets that the paper uses, as distributed; bundled: the Adult data that come with Tacit.",
)
@option(
    "--out DIR",
    "Write CSV files and pictures to this folder, and for all papers one page (papers.html, papers.md); made if missing.",
    into="folder",
)
@option(
    "--time-limit SECONDS",
    "Leave out what there is no time for, and say so (exit 3). Without it, the result depends on the data alone.",
    type=float,
    callback=options.positive,
)
@options.json_option
def reproduce_command(
    name: str | None, data: str | None, folder: str | None, time_limit: float | None, json_to: str | None
) -> None:
    """Compare a paper's tables and figures with ours.

    PAPER is atzori05, injector08, li07, pmicd08 or zhu09; without it, all of them. The worked examples need no data. The figures need the
    papers' data sets, from the FIMI and UCI repositories: download them, and name their folder with --data. Everything but run-times.csv
    depends on the data and the version alone.
    """
    from tacit.files.disk import made_folder
    from tacit.papers import PAPERS, paper_named, reproduce
    from tacit.papers.report import papers_html, papers_markdown, part_csv, part_svg, reproduction_text, times_csv

    names = [paper_named(name).name] if name else [paper.name for paper in PAPERS]
    check_outputs([json_to])
    place = None if folder is None else os.fspath(made_folder(folder))
    made: list[Reproduction] = []
    end = None if time_limit is None else time.monotonic() + time_limit
    for number, paper in enumerate(names):
        # Each paper has an equal share of the time left; what it does not use is there for the next.
        share = None if end is None else max(1.0, (end - time.monotonic()) / (len(names) - number))
        with watched(f"reproducing {paper}") as progress:
            made.append(reproduce(paper, data=data, time_limit=share, progress=progress))
    contents: dict[str, bytes] = {}
    if place is not None:
        for one in made:
            for part in one.parts:
                drawn = {"csv": part_csv(part), "svg": part_svg(part)}
                contents |= {f"{one.name}-{part.name}.{ending}": text for ending, text in drawn.items() if text is not None}
        if name is None:
            contents |= {"papers.html": papers_html(made).encode(), "papers.md": papers_markdown(made).encode()}
        contents["run-times.csv"] = times_csv((one.name, timed) for one in made for timed in one.times)
        for file, content in contents.items():
            write_file(os.path.join(place, file), content)
    for one in made:
        if one.left_out:
            missing = f"{len(one.left_out)} of its parts are left out; the output says why."
            note(f"tacit reproduce: {one.name} is NOT complete: {missing}")
    record = {"format": "tacit.reproduction/1", "papers": [one.to_dict() for one in made]}
    last = "CSV files and pictures: add --out DIR" if place is None else f"{len(contents)} files written to {folder}"

    def text(width: int) -> str:
        papers = "\n".join(reproduction_text(one, width=width) for one in made)
        return f"{papers}\n{last}\n"

    emit(record, text, json_to=json_to)
    if any(one.is_stopped for one in made):
        raise click.exceptions.Exit(3)
