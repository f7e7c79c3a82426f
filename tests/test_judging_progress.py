"""The progress line: live on a terminal, plain and rare elsewhere."""

from __future__ import annotations

import io

from judge.judging.progress import Progress, Tally, describe


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Watch:
    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


def test_everything_that_happens_is_in_the_line() -> None:
    tally = Tally(
        asked=100, done=40, made=35, cached=10, retried=2, failed=3, cost_usd=1.5,
        in_flight=8, held=2, retrying=1,
    )  # fmt: skip
    # 30 paid in 60 s: two seconds each, 60 to go
    assert describe(tally, elapsed_s=60) == (
        "judging 40/100, 8 in flight, 1 retrying, 2 waiting for the limit, 10 cached, 3 failed,"
        " $1.50, 120 s left"
    )


def test_an_unknown_cost_is_said_to_be_unknown() -> None:
    assert "cost unknown" in describe(Tally(asked=1, cost_usd=None), elapsed_s=1)


def test_calls_without_an_answer_make_the_cost_a_least_one() -> None:
    line = describe(Tally(asked=9, done=1, made=4, unanswered=2, cost_usd=1.5), elapsed_s=1)
    assert line == "judging 1/9, 2 without an answer, at least $1.50, 8 s left"


def test_elsewhere_a_plain_line_comes_every_thirty_seconds() -> None:
    stream, watch = io.StringIO(), Watch()
    progress = Progress(stream, watch)
    for second in range(100):
        watch.time = float(second)
        progress.draw(Tally(asked=100, done=second))
    progress.close()
    lines = stream.getvalue().splitlines()
    assert [line.split(",")[0] for line in lines] == [
        "judging 30/100",
        "judging 60/100",
        "judging 90/100",
    ]
    assert "\r" not in stream.getvalue()


def test_a_terminals_line_is_redrawn_and_wiped() -> None:
    stream, watch = Terminal(), Watch()
    progress = Progress(stream, watch)
    for tenth in range(5):
        watch.time = tenth * 0.2
        progress.draw(Tally(asked=5, done=tenth))
    progress.close()
    drawn = stream.getvalue().split("\r")
    assert len(drawn) > 4
    assert all(len(line) <= 79 for line in drawn)
    assert drawn[-1] == ""
    assert "\n" not in stream.getvalue()


def test_a_quick_run_draws_nothing() -> None:
    stream = Terminal()
    progress = Progress(stream, Watch())
    progress.draw(Tally(asked=1))
    progress.close()
    assert stream.getvalue() == ""
