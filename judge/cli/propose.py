"""`judge goldens propose LOG…`: a file of real queries for a person to fill in."""

from __future__ import annotations

import sys

import click

from judge.cli.notes import note
from judge.cli.writing import write_lines


@click.command("propose")
@click.argument("logs", nargs=-1, required=True, type=click.Path(allow_dash=True))
@click.option("-o", "--out", required=True, metavar="FILE", help="Write the proposals there.")
@click.option("-n", type=click.IntRange(0), default=50, help="Queries to draw by traffic. [50]")
@click.option(
    "--empty", type=click.IntRange(0), default=10, help="Queries that returned nothing. [10]"
)
@click.option(
    "--reformulated", type=click.IntRange(0), default=10, help="Queries soon asked anew. [10]"
)
@click.option(
    "--sessions", type=click.IntRange(1), default=2, help="Sessions that make a candidate. [2]"
)
@click.option("--seed", type=int, default=0, help="Another seed draws other queries. [0]")
def command(
    logs: tuple[str, ...],
    out: str,
    n: int,
    empty: int,
    reformulated: int,
    sessions: int,
    seed: int,
) -> None:
    """Propose goldens from read LOGS: real queries, with candidates to accept or not.

    Queries are drawn by traffic and weighted by how often they were drawn; those that
    returned nothing and those soon asked anew come on top, without a weight. Each line
    lists chunks that several sessions read or cited. Move what is right into "expected";
    a line that is left as it is keeps `judge` from reading the file.

    \b
    Example:
      judge goldens propose reads.jsonl -o proposed.jsonl
    """
    from judge.readlog.proposing import proposal_lines, propose

    proposals = propose(
        [sys.stdin.buffer if log == "-" else log for log in logs],
        n=n,
        n_empty=empty,
        n_reformulated=reformulated,
        least_sessions=sessions,
        seed=seed,
    )
    write_lines(proposal_lines(proposals), out)
    having = sum(bool(proposal.candidates) for proposal in proposals)
    note(
        f"wrote {len(proposals)} queries to {out}, {having} with candidates;"
        " fill in what is expected"
    )
