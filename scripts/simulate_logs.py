"""Simulate read logs over human grades: searchers with position bias and noise, and agents.

    python scripts/simulate_logs.py run.json qrels.trec --impressions 12 -o reads.jsonl
    python scripts/simulate_logs.py run.json qrels.trec --agents --ubi ubi.ndjson
    python scripts/simulate_logs.py run.json qrels.trec --figures

`--figures` mines what it simulates and says how often the decided pairs agree with the
human order, by impressions a query, and what leaving out each precaution costs. Cranfield:
`cranfield_files.py` writes corpus, queries and qrels, `judge retrieve` the run.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from judge.formats import ReadOptions, read_grades, read_run
from judge.readlog.events import parse_event
from judge.readlog.mining import Mined, MiningOptions, mine_events
from judge.readlog.ordering import in_time_order
from judge.readlog.tally import Tally
from judge.readlog.writer import ReadLog
from judge.run import Row

BEGIN_S = 1_700_000_000.0
IMPRESSIONS = (3, 5, 8, 12, 20, 50)
Events = list[dict[str, object]]


@dataclass(frozen=True, slots=True)
class Searcher:
    """How someone reads a list; attraction is 0 for grade 0, from 0.4 for the next up to 1.

    goes_on: chance to look at the next result; satisfied: to stop after a perfect one
    reads_best, reads_worst: chance to read a perfect and a worthless result looked at
    returns: chance that an impression is a session coming back, to what it read before
    """

    goes_on: float = 0.9
    satisfied: float = 0.5
    reads_best: float = 0.85
    reads_worst: float = 0.12
    returns: float = 0.2

    def reads(self, attraction: Sequence[float], choose: random.Random) -> list[int]:
        """Return the positions read, in order, going down the list."""
        read = []
        for position, grade in enumerate(attraction):
            reading = self.reads_worst + (self.reads_best - self.reads_worst) * grade
            if choose.random() < reading:
                read.append(position)
                if choose.random() < self.satisfied * grade:
                    break
            if choose.random() > self.goes_on:
                break
        return read


@dataclass(frozen=True, slots=True)
class RandomSearcher(Searcher):
    """Someone who reads one result at random, whatever it is and wherever it stands."""

    def reads(self, attraction: Sequence[float], choose: random.Random) -> list[int]:
        """Return one random position."""
        return [choose.randrange(len(attraction))]


@dataclass(frozen=True, slots=True)
class Agent(Searcher):
    """A model that is given the whole list and cites what it used."""

    reads_best: float = 0.95
    reads_worst: float = 0.05

    def reads(self, attraction: Sequence[float], choose: random.Random) -> list[int]:
        """Return the positions cited."""
        span = self.reads_best - self.reads_worst
        return [
            position
            for position, grade in enumerate(attraction)
            if choose.random() < self.reads_worst + span * grade
        ]


@dataclass(frozen=True, slots=True)
class World:
    """Lists and human grades: query text to ids in order, and to the grade of each id."""

    lists: Mapping[str, tuple[str, ...]]
    grades: Mapping[str, Mapping[str, int]]
    best: int


def read_world(run: Path, qrels: Path, *, depth: int) -> World:
    """Read a run with query texts and the human grades of its queries."""
    options = ReadOptions(grade_max=100)
    by_id: dict[str, dict[str, int]] = {}
    for known in read_grades(qrels, options).grades:
        by_id.setdefault(known.query_id or "", {})[known.id] = known.lo
    rows = [row for row in read_run(run).rows if row.query and row.results]
    grades = {row.query or "": _chunk_grades(row, by_id) for row in rows}
    return World(
        lists={row.query or "": tuple(r.id for r in row.results[:depth]) for row in rows},
        grades=grades,
        best=max(grade for of_query in grades.values() for grade in of_query.values()),
    )


def _chunk_grades(row: Row, by_id: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """Return the grades of a row's chunks: their own, or else that of their document."""
    known = by_id.get(row.query_id or row.key, {})
    return {r.id: known.get(r.id, known.get(r.document, 0)) for r in row.results}


def simulate(
    world: World, searcher: Searcher, *, impressions: int, seed: int, share: float = 0.05
) -> Events:
    """Return the events of `impressions` searches of each query, in order of time."""
    choose = random.Random(seed)
    log = ReadLog("unused", seed=seed)
    agent = isinstance(searcher, Agent)
    events: Events = []
    for number, (query, ids) in enumerate(world.lists.items()):
        session, read_before = "", list[str]()
        for at in range(impressions):
            came_back = bool(read_before) and choose.random() < searcher.returns
            if not came_back:
                session = f"s{number}-{at}"
            shown = log.shuffle(ids, share=share)
            grade = world.grades[query]
            attraction = [_attraction(grade.get(id, 0), world.best) for id in shown]
            # Whoever comes back looks for what they read before: no second opinion.
            read = (
                read_before if came_back
                else [shown[at] for at in searcher.reads(attraction, choose)]
            )  # fmt: skip
            read_before = read
            time_s = BEGIN_S + 86_400 * at + choose.uniform(0, 40_000)
            head = {"v": 1, "session": session}
            search = {"event": "search", "time": time_s, "query": query, "ids": shown}
            if shown.swapped is not None:
                search["swapped"] = shown.swapped
            events.append(head | search)
            if agent:
                events.append(head | {"event": "inject", "time": time_s + 1, "ids": list(shown)})
                if read:
                    events.append(head | {"event": "cite", "time": time_s + 9, "ids": read})
                continue
            for step, id in enumerate(read, 1):
                events.append(head | {"event": "read", "time": time_s + 5 * step, "id": id})
    events.sort(key=lambda event: float(str(event["time"])))
    return events


def _attraction(grade: int, best: int) -> float:
    return 0.4 + 0.6 * (grade - 1) / max(1, best - 1) if grade > 0 else 0.0


def ubi_lines(events: Events) -> Iterator[str]:
    """Yield searches and reads as OpenSearch UBI bulk lines; agents have no place there."""
    latest: dict[object, str] = {}
    for number, event in enumerate(events):
        stamp = round(1000 * float(str(event["time"])))
        head = {"application": "simulated", "client_id": event["session"], "timestamp": stamp}
        if event["event"] == "search":
            latest[event["session"]] = f"query-{number}"
            index = "ubi_queries"
            fields = {"user_query": event["query"], "query_response_hit_ids": list(event["ids"])}  # type: ignore[call-overload]
        elif event["event"] == "read":
            index = "ubi_events"
            target = {"object_id": event["id"], "object_id_field": "id"}
            fields = {"action_name": "click", "event_attributes": {"object": target},
                      "session_id": event["session"]}  # fmt: skip
        else:
            continue
        yield json.dumps({"index": {"_index": index, "_id": str(number)}})
        yield json.dumps({**head, "query_id": latest[event["session"]], **fields})


def mined(events: Events, options: MiningOptions) -> Mined:
    """Return what a simulated log says."""
    parsed = (parse_event(event) for event in events)
    return mine_events(in_time_order(parsed, window_s=1800, tally=Tally()), options)


@dataclass(frozen=True, slots=True)
class Figures:
    """What a log decided, against the human order."""

    queries: int
    queries_decided: int
    decided: int
    differ: int
    agree: int
    voted_thrice: int
    voted_thrice_decided: int

    def __str__(self) -> str:
        agreement = f"{self.agree / self.differ:6.1%}" if self.differ else "   n/a"
        return (
            f"{self.queries_decided / self.queries:6.1%} of queries, {self.decided:5d} pairs;"
            f" of {self.differ:5d} whose grades differ {agreement} in the human order"
        )


def figures(result: Mined, world: World) -> Figures:
    """Compare decided pairs with the human grades."""
    differ = agree = 0
    for pair in result.preferences:
        grade = world.grades[pair.query]
        gap = grade.get(pair.winner, 0) - grade.get(pair.loser, 0)
        if pair.decided and gap:
            differ, agree = differ + 1, agree + (gap > 0)
    thrice = [pair for pair in result.preferences if pair.wins + pair.losses >= 3]
    return Figures(
        queries=len(result.queries),
        queries_decided=sum(query.decided > 0 for query in result.queries),
        decided=sum(pair.decided for pair in result.preferences),
        differ=differ,
        agree=agree,
        voted_thrice=len(thrice),
        voted_thrice_decided=sum(pair.decided for pair in thrice),
    )


def print_figures(world: World, *, seed: int, share: float) -> None:
    """Print the tables: by impressions, without each precaution, and at random."""
    plain = MiningOptions()
    without = {
        "as it is": plain,
        "without opposition": replace(plain, opposition=False),
        "without one vote a session": replace(plain, one_vote=False),
        "without both": replace(plain, opposition=False, one_vote=False),
        "concluding nothing": replace(plain, rule=replace(plain.rule, hops=1)),
    }
    for name, searcher in (("clicks", Searcher()), ("citations", Agent())):
        print(f"{name}, by impressions a query")
        for n in IMPRESSIONS:
            events = simulate(world, searcher, impressions=n, seed=seed, share=share)
            print(f"  {n:3d}: {figures(mined(events, plain), world)}")
    for n in (12, 50):
        print(f"clicks at {n} impressions, leaving out a precaution")
        events = simulate(world, Searcher(), impressions=n, seed=seed, share=share)
        for name, options in without.items():
            print(f"  {name + ':':28s}{figures(mined(events, options), world)}")
    print("a searcher who reads at random: of pairs with at least 3 votes, decided")
    for n in IMPRESSIONS:
        events = simulate(world, RandomSearcher(), impressions=n, seed=seed, share=share)
        found = figures(mined(events, plain), world)
        part = found.voted_thrice_decided / max(1, found.voted_thrice)
        print(f"  {n:3d}: {found.voted_thrice_decided} of {found.voted_thrice} ({part:.1%})")


def main() -> None:
    """Simulate a log to a file, or print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("qrels", type=Path)
    parser.add_argument("--impressions", type=int, default=12)
    parser.add_argument("--depth", type=int, default=10)
    parser.add_argument("--share", type=float, default=0.05, help="searches with a swapped pair")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--agents", action="store_true", help="citations in place of clicks")
    parser.add_argument("-o", "--out", type=Path, help="write our log there")
    parser.add_argument("--ubi", type=Path, help="write OpenSearch UBI there")
    parser.add_argument("--figures", action="store_true")
    args = parser.parse_args()
    world = read_world(args.run, args.qrels, depth=args.depth)
    if args.figures:
        print_figures(world, seed=args.seed, share=args.share)
        return
    searcher = Agent() if args.agents else Searcher()
    events = simulate(
        world, searcher, impressions=args.impressions, seed=args.seed, share=args.share
    )
    for path, lines in ((args.out, map(json.dumps, events)), (args.ubi, ubi_lines(events))):
        if path is not None:
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
