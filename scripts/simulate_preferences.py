"""Measure what logs do to what is printed: made-up worlds, made-up users, grades known.

    python scripts/simulate_preferences.py worlds --n 2000
    python scripts/simulate_preferences.py users --repeats 20

`worlds`: two runs of few queries, pairs of which 80 or 90% are right, and a log that is
believed unchecked. `--until decided` must be the answer of judging everything, one call at a
time and 64 at once. `users`: six kinds of users over 150 queries; the judge knows the truth.
Counted are intervals printed without and with the words "if the log is right" that exclude
it, and printed bounds of the log's error that do not hold; the judge's budget ends soon after
the audit, so that much is left for the log to say. Calls saved are those without a budget.
"""

from __future__ import annotations

import argparse
import json
import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from judge.api.comparing import grade_pair
from judge.api.grading import grade
from judge.api.inputs import Inputs
from judge.comparing.comparison import contrast_of
from judge.evidence.preferences import Preference
from judge.judging.budget import Budget
from judge.judging.exchange import Reply, Request
from judge.judging.judge import Judge
from judge.judging.limits import Limits
from judge.judging.prompt import load_prompt
from judge.measures.names import parse_measure
from judge.readlog.events import parse_event
from judge.readlog.mining import MiningOptions, mine_events
from judge.report.model import Report, RowReport
from judge.run import Golden, KnownGrade, Result, Row, Run
from judge.stopping.goals import mean_range
from judge.stopping.until import Until

MEASURE = "nDCG@10"
_NDCG = parse_measure(MEASURE)
_ROUNDING = 1e-9
Grades = dict[str, int]


class Truthful:
    """A judge that reads the true grade off the end of a text."""

    name = "truth"
    remote = False
    recorded = False
    settings: dict[str, object] = {"kind": "truth"}  # noqa: RUF012 - as the protocol has it

    async def open(self) -> None:
        """Do nothing."""

    async def answer(self, request: Request) -> Reply:
        """Return the grade as the prompt wants it."""
        kinds: dict[str, object] = {"grade": int(request.pair.text[-1]), "text": ""}
        reply = {name: kinds[kind] for name, kind in request.prompt.reply}
        return Reply(json.dumps(reply))

    async def close(self) -> None:
        """Do nothing."""


def truthful(*, concurrency: int = 8, max_calls: int | None = None) -> Judge:
    """Return a judge that is never wrong."""
    budget = Budget(max_calls=max_calls)
    limits = Limits(concurrency=concurrency)
    return Judge([Truthful()], load_prompt(), limits=limits, budget=budget)


def row(key: str, shown: Sequence[str], grades: Grades, golden: Golden | None = None) -> Row:
    """Return a row whose texts tell their grades."""
    results = tuple(Result(id, text=f"about {id} {grades[id]}") for id in shown)
    return Row(key, query_id=key, query=f"what is {key}", results=results, golden=golden)


# Worlds


@dataclass(frozen=True, slots=True)
class World:
    """Two runs over a few queries, some grades known before, and what a log says of them."""

    runs: tuple[Run, Run]
    pairs: tuple[Preference, ...]


def world(seed: int, *, right: float) -> World:
    """Return one world; each pair is in the log by chance, the right way round with `right`."""
    chance = random.Random(seed)
    rows: tuple[list[Row], list[Row]] = [], []
    known: list[KnownGrade] = []
    pairs: list[Preference] = []
    for at in range(chance.randint(1, 4)):
        key = f"q{at}"
        grades = {f"{key}{x}": chance.choice((0, 0, 1, 2, 3)) for x in "abcdefg"}
        for part in rows:
            part.append(row(key, chance.sample(sorted(grades), chance.randint(2, 5)), grades))
        known += [KnownGrade(id, g, g, key) for id, g in grades.items() if chance.random() < 0.15]
        pairs += _pairs(f"what is {key}", grades, chance, right)
    runs = Run("before", tuple(rows[0]), tuple(known)), Run("after", tuple(rows[1]))
    return World(runs, tuple(pairs))


def _pairs(query: str, grades: Grades, chance: random.Random, right: float) -> Iterator[Preference]:
    ids = sorted(grades)
    for at, one in enumerate(ids):
        for other in ids[at + 1 :]:
            if chance.random() < 0.5 or grades[one] == grades[other]:
                continue
            winner, loser = sorted((one, other), key=lambda chunk: -grades[chunk])
            if chance.random() > right:
                winner, loser = loser, winner
            yield Preference(query, winner, loser, 6, 0, 0.99, decided=True)


@dataclass(frozen=True, slots=True)
class Answers:
    """The signs that `decided` gave one call at a time and 64 at once, and the true difference."""

    one: int | None
    many: int | None
    truth: float

    @property
    def are_right(self) -> bool:
        """Tell whether both are the sign of judging everything, "at least 0" where that is 0."""
        return all(sign is not None and sign * self.truth >= -_ROUNDING for sign in self.signs)

    @property
    def are_alike(self) -> bool:
        """Tell whether both said the same."""
        return self.one == self.many or abs(self.truth) <= _ROUNDING

    @property
    def signs(self) -> tuple[int | None, int | None]:
        """Return both."""
        return self.one, self.many


def answers(made: World, *, one: Judge, many: Judge) -> Answers:
    """Compare the runs of a world until decided, with a log that is believed unchecked."""
    inputs = Inputs(preferences=made.pairs, log_error=1.0)
    signs = [_sign(_difference(made, judge, inputs, "decided")) for judge in (one, many)]
    truth, hi = _difference(made, many, Inputs(), "all")
    assert truth == hi, "everything is judged"
    return Answers(signs[0], signs[1], truth)


def _difference(made: World, judge: Judge, inputs: Inputs, until: str) -> tuple[float, float]:
    """Return the ends of the mean difference, as `compare` bounds it, without its tests."""
    asked = Until(until)
    grading, _ = grade_pair(
        made.runs, inputs=inputs, measures=[MEASURE], k=10, gain="linear", until=asked, judge=judge
    )
    rows = [row for row in contrast_of(grading, _NDCG).rows(grading.pools) if row is not None]
    return mean_range(rows, [1 / len(rows)] * len(rows))


def _sign(ends: tuple[float, float]) -> int | None:
    return 1 if ends[0] >= 0.0 else -1 if ends[1] <= 0.0 else None


def print_worlds(n: int) -> None:
    """Print how many of n worlds, half of them of each kind, were answered wrongly."""
    print("| pairs right | worlds | `decided` is not the answer of judging all | differs at 64 |")
    print("| --- | ---: | ---: | ---: |")
    with truthful(concurrency=1) as one, truthful(concurrency=64) as many:
        for right in (0.8, 0.9):
            found = [
                answers(world(seed, right=right), one=one, many=many) for seed in range(n // 2)
            ]
            wrong = sum(not each.are_right for each in found)
            unlike = sum(not each.are_alike for each in found)
            print(f"| {right:.0%} | {len(found):,} | {wrong} | {unlike} |", flush=True)


# Users

QUERIES, DEPTH, SESSIONS, BUDGET = 150, 8, 30, 400
Reads = Callable[[Sequence[int], random.Random], list[int]]
"""How somebody reads a list: attraction (as a grade) at each position to positions read."""


@dataclass(frozen=True, slots=True)
class Users:
    """One kind of user.

    reads: positions read, by how good each result seems
    misled: share of the results that seem perfect to everybody, whatever they are
    who: fields of all their events, such as the agent's name
    few: the same few sessions ask every query
    """

    reads: Reads
    misled: float = 0.0
    who: dict[str, str] = field(default_factory=dict)
    few: bool = False


def _going_down(first: int = 0, *, noise: float = 0.15, most: int = 2) -> Reads:
    """Return a reader who goes down from a position, reads what seems good, and stops."""

    def reads(seems: Sequence[int], chance: random.Random) -> list[int]:
        found = []
        for position in range(first, len(seems)):
            likely = noise + (1 - 2 * noise) * seems[position] / 3
            if chance.random() < likely:
                found.append(position)
            if len(found) == most:
                break
        return found

    return reads


def _the_same(seems: Sequence[int], chance: random.Random) -> list[int]:
    """Read the two that seem best, as one program does in all of its sessions."""
    return sorted(sorted(range(len(seems)), key=lambda at: (-seems[at], at))[:2])


USERS = {
    "independent errors": Users(_going_down()),
    "20% misleading snippets": Users(_going_down(noise=0.05), misled=0.2),
    "one agent, named": Users(_the_same, misled=0.2, who={"agent": "helper 1"}),
    "one agent, unnamed": Users(_the_same, misled=0.2),
    "starts below the fold": Users(_going_down(3, noise=0.05)),
    "always reads rank 3": Users(lambda seems, chance: [2], few=True),
    "careful": Users(_going_down(noise=0.02, most=3)),
}


@dataclass(frozen=True, slots=True)
class Log:
    """One simulated log with the run it is about, and the truth."""

    run: Run
    grades: dict[str, Grades]
    pairs: tuple[Preference, ...]


def logged(users: Users, seed: int) -> Log:
    """Return what these users did with one ranking, mined; one golden a query stands in it."""
    chance = random.Random(seed)
    rows, events = [], list[dict[str, object]]()
    grades: dict[str, Grades] = {}
    for at in range(QUERIES):
        key = f"q{at}"
        ids = [f"{key}-{n}" for n in range(DEPTH)]
        found = [3, *(chance.choice((0, 0, 0, 1, 1, 2, 3)) for _ in ids[1:])]
        # A ranking that is rather good: by grade, with an error as large as a grade.
        found.sort(key=lambda grade: -grade - chance.gauss(0, 1))
        own = dict(zip(ids, found, strict=True))
        grades[key] = own
        golden = Golden((chance.choice([id for id in ids if own[id] == 3]),), query_id=key)
        rows.append(row(key, ids, own, golden))
        seems = {id: 3 if chance.random() < users.misled else g for id, g in own.items()}
        for n in range(SESSIONS):
            events += _session(users, f"what is {key}", at, n, seems, chance)
    events.sort(key=lambda event: float(str(event["time"])))
    mined = mine_events(map(parse_event, events), MiningOptions())
    return Log(Run("run", tuple(rows)), grades, mined.preferences)


def _session(
    users: Users, query: str, at: int, n: int, seems: Grades, chance: random.Random
) -> Iterator[dict[str, object]]:
    """Yield one session's list, in the order of the ranking or with a pair swapped, and reads."""
    shown = list(seems)
    place = chance.randrange(DEPTH - 1)
    if chance.random() < 0.5:
        shown[place : place + 2] = reversed(shown[place : place + 2])
    time = 1e9 + 100_000 * n + 60 * at
    session = f"s{n}" if users.few else f"s{n}-{at}"
    head = {"v": 1, "session": session, **users.who}
    yield head | {"event": "search", "time": time, "query": query, "ids": shown}
    for step, position in enumerate(users.reads([seems[id] for id in shown], chance), 1):
        yield head | {"event": "read", "time": time + step, "id": shown[position]}


@dataclass(slots=True)
class Count:
    """What came of logs of one kind, added up."""

    logs: int = 0
    pairs: int = 0
    wrong: int = 0
    trusted: int = 0
    bounds: int = 0
    bounds_hold: int = 0
    plain: int = 0
    plain_wrong: int = 0
    by_log: int = 0
    by_log_wrong: int = 0
    calls: int = 0
    saved: int = 0

    def add(self, log: Log, report: Report) -> None:
        """Count one log's report against the truth."""
        decided = [pair for pair in log.pairs if pair.decided]
        wrong = sum(_is_wrong(pair, log.grades) for pair in decided)
        self.logs, self.pairs, self.wrong = (
            self.logs + 1, self.pairs + len(decided), self.wrong + wrong,
        )  # fmt: skip
        for row in report.rows:
            at, value = row.scores[_NDCG], _true(row, log.grades[row.query.key])
            self.plain += 1
            self.plain_wrong += not at.lo - _ROUNDING <= value <= at.hi + _ROUNDING
            if narrow := row.by_log.get(_NDCG):
                self.by_log += 1
                self.by_log_wrong += not narrow.lo - _ROUNDING <= value <= narrow.hi + _ROUNDING
        reading = report.grading.log
        if reading is not None and reading.trust.checked.pairs:
            self.trusted += reading.trust.is_trusted
            self.bounds += 1
            self.bounds_hold += wrong / len(decided) <= reading.trust.at_most + _ROUNDING


def _true(row: RowReport, grades: Grades) -> float:
    """Return nDCG@10 of a row by its true grades: linear gain, discount 1 / log2(rank + 1)."""
    shown = [grades[result.id] for part in row.query.rows if part for result in part.results]
    return _dcg(shown) / _dcg(sorted(grades.values(), reverse=True))


def _dcg(grades: Sequence[int]) -> float:
    return sum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades[:10], 1))


def _is_wrong(pair: Preference, grades: dict[str, Grades]) -> bool:
    own = grades[pair.query.removeprefix("what is ")]
    return own[pair.winner] < own[pair.loser]


def print_users(repeats: int) -> None:
    """Print the table of users, `repeats` logs of each kind."""
    print(
        "| users | pairs a log | of them wrong | logs trusted | printed bound holds"
        " | rows without the words, wrong | rows with them, wrong | calls saved |"
    )
    print("| --- |" + " ---: |" * 7)
    for name, users in USERS.items():
        count = Count()
        for seed in range(repeats):
            log = logged(users, seed)
            report = _graded(log, max_calls=BUDGET)
            whole = _graded(log)
            count.add(log, report)
            count.calls += whole.grading.calls.made
            count.saved += whole.grading.calls_saved.get("preference", 0)
        print(_line(name, count), flush=True)


def _graded(log: Log, *, max_calls: int | None = None) -> Report:
    with truthful(max_calls=max_calls) as judge:
        return grade(log.run, preferences=log.pairs, judge=judge, measures=[MEASURE])


def _line(name: str, count: Count) -> str:
    asked = count.calls + count.saved
    cells = (
        f"{count.pairs / count.logs:.0f}",
        _percent(count.wrong, count.pairs),
        f"{count.trusted} of {count.logs}",
        f"{count.bounds_hold} of {count.bounds}" if count.bounds else "-",
        f"{count.plain_wrong} of {count.plain:,}",
        f"{count.by_log_wrong} of {count.by_log:,}" if count.by_log else "-",
        _percent(count.saved, asked),
    )
    return f"| {name} | {' | '.join(cells)} |"


def _percent(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "-"


def main() -> None:
    """Print one of the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("what", choices=["worlds", "users"])
    parser.add_argument("--n", type=int, default=2000, help="worlds in all")
    parser.add_argument("--repeats", type=int, default=20, help="logs of each kind of user")
    args = parser.parse_args()
    if args.what == "worlds":
        print_worlds(args.n)
    else:
        print_users(args.repeats)


if __name__ == "__main__":
    main()
