"""The options of every command that judges, and the judge they describe."""

from __future__ import annotations

import functools
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from types import FrameType
from typing import Any

import click

from judge.cli.notes import note
from judge.cli.numbers import NumberRange
from judge.cli.printing import print_json
from judge.cli.writing import INCOMPLETE
from judge.errors import Interrupted, UsageError
from judge.judging.backends import open_backend
from judge.judging.backends.backend import Backend
from judge.judging.backends.openai import OFFICIAL
from judge.judging.backends.opening import server_of
from judge.judging.budget import FREE, Budget, Price, price_of, read_prices
from judge.judging.cache import JudgmentCache
from judge.judging.cache_files import holds_judgments
from judge.judging.cache_folder import cache_folder
from judge.judging.cache_trouble import CacheTrouble
from judge.judging.judge import Judge
from judge.judging.limits import Limits
from judge.judging.progress import Progress
from judge.judging.prompt import load_prompt


@dataclass(frozen=True, slots=True)
class JudgingFlags:
    """The judging options as given; `open_judge` makes a judge of them."""

    backends: tuple[str, ...] = ()
    prompt: str | None = None
    concurrency: int = 16
    rpm: float | None = None
    tpm: float | None = None
    max_calls: int | None = None
    max_cost: float | None = None
    prices: str | None = None
    dry_run: bool = False
    base_url: str | None = None
    logprobs: bool = False
    timeout: float = 60.0
    cache_dir: str | None = None
    redact: bool = False
    quiet: bool = False


_STOPPING = ("SIGINT", "SIGTERM", "SIGHUP")
_OTHER_FILES = 64
"""Open files besides a connection a request: the database, what is read and written, imports."""
_UNKEPT = "judge.unkept"
_POSITIVE = NumberRange(min=0, min_open=True)

_OPTIONS = (
    click.option(
        "--backend",
        "backends",
        multiple=True,
        metavar="NAME",
        help="Judge: mock, openai:MODEL, litellm:MODEL or replay:FILE; repeated, a panel. [none]",
    ),
    click.option(
        "--prompt", metavar="NAME|FILE", help="Prompt to judge by. [the default of `judge prompts`]"
    ),
    click.option(
        "--concurrency",
        type=click.IntRange(1, 1024),
        default=16,
        metavar="N",
        help="Requests in flight at once, at most. [16]",
    ),
    click.option(
        "--rpm", type=_POSITIVE, metavar="N", help="Requests a minute, at most. [no limit]"
    ),
    click.option("--tpm", type=_POSITIVE, metavar="N", help="Tokens a minute, at most. [no limit]"),
    click.option(
        "--max-calls",
        type=click.IntRange(0),
        metavar="N",
        help="Requests to send, at most; the rest stays open. [no limit]",
    ),
    click.option(
        "--max-cost",
        type=NumberRange(0),
        metavar="USD",
        help="Money to spend, at most; the rest stays open. [no limit]",
    ),
    click.option(
        "--prices",
        metavar="FILE",
        help="Prices in USD a million tokens, over ours; prompts/README.md shows the form.",
    ),
    click.option(
        "--dry-run",
        is_flag=True,
        help="Send nothing and write no report; say what it would take. [send]",
    ),
    click.option(
        "--base-url",
        metavar="URL",
        help="A compatible server. [OPENAI_BASE_URL for openai:, else the provider's]",
    ),
    click.option(
        "--logprobs", is_flag=True, help="Ask for token probabilities: an expected gain a verdict."
    ),
    click.option(
        "--timeout",
        type=_POSITIVE,
        default=60.0,
        metavar="SECONDS",
        help="How long one request may take. [60]",
    ),
    click.option(
        "--cache-dir",
        metavar="DIR",
        help="Folder of paid judgments. [see `judge cache --help`]",
    ),
    click.option(
        "--redact",
        is_flag=True,
        help="Keep texts and raw replies out of the cache (hashes only): `judge cache` can then"
        " neither verify keys nor re-read replies with a better parser.",
    ),
    click.option("--quiet", is_flag=True, help="Show no progress."),
)


def judging_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the judging flags to a command; it gets them as `judging`, for `open_judge`."""

    @functools.wraps(command)
    def with_options(**given: Any) -> Any:
        taken = {field.name: given.pop(field.name) for field in fields(JudgingFlags)}
        code = command(judging=JudgingFlags(**taken), **given)
        return INCOMPLETE if not code and _unkept() else code

    wrapped: Callable[..., Any] = with_options
    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped


def open_judge(
    flags: JudgingFlags, *, grade_max: int = 3, environ: Mapping[str, str] | None = None
) -> Judge | None:
    """Return the judge that the flags describe, or None when no backend was named.

    UsageError if the prompt's scale is not the run's. Trouble with the cache folder is one
    line on stderr; judging then goes on without a cache.
    """
    if not flags.backends:
        if flags.dry_run:
            raise UsageError("--dry-run says what a judge would take; name one with --backend")
        return None
    prompt = load_prompt(flags.prompt)
    if prompt.grade_max != grade_max:
        raise UsageError(
            f"--prompt {prompt.label} grades 0..{prompt.grade_max}, the run 0..{grade_max};"
            " set --grade-max or use another prompt"
        )
    if len(set(flags.backends)) < len(flags.backends):
        raise UsageError("--backend: a panel needs different judges; one is named twice")
    environ = os.environ if environ is None else environ
    backends = [_open_backend(text, flags, grade_max, environ) for text in flags.backends]
    prices = [_price(backend, flags) for backend in backends]
    unpriced = [backend.name for backend, price in zip(backends, prices, strict=True) if not price]
    if flags.max_cost is not None and unpriced:
        raise UsageError(f"--max-cost: no price is known for {unpriced[0]}; give --prices FILE")
    return Judge(
        backends,
        prompt,
        cache=open_cache(flags, environ=environ),
        limits=Limits(
            concurrency=_affordable(flags.concurrency),
            rpm=flags.rpm,
            tpm=flags.tpm,
            attempt_s=flags.timeout,
            total_s=max(300.0, 3 * flags.timeout),
        ),
        budget=Budget(max_calls=flags.max_calls, max_cost_usd=flags.max_cost),
        prices=prices,
        progress=None if flags.quiet else Progress(sys.stderr),
        dry_run=flags.dry_run,
    )


def _affordable(concurrency: int) -> int:
    """Return how many requests the system has files for, after asking it for more."""
    try:
        import resource
    except ImportError:  # Windows counts handles otherwise
        return concurrency
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = concurrency + _OTHER_FILES
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return concurrency
    allowed = wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    fewer = max(1, min(concurrency, allowed - _OTHER_FILES))
    if fewer < concurrency:
        note(
            f"--concurrency {concurrency} is more than {allowed} open files allow (`ulimit -n`);"
            f" {fewer} requests are in flight at once"
        )
    return fewer


@contextmanager
def asked_judge(flags: JudgingFlags, *, grade_max: int = 3) -> Iterator[Judge | None]:
    """Yield the judge that the flags describe, if any; an interrupt keeps what was paid for."""
    with interruptible():
        judge = open_judge(flags, grade_max=grade_max)
        try:
            yield judge
        finally:
            if judge is not None:
                judge.close()
                _count_unkept(judge)


def _count_unkept(judge: Judge) -> None:
    """Note for the exit code that replies are not on disk: a rerun would ask for them again."""
    context = click.get_current_context(silent=True)
    if context is not None:
        context.meta[_UNKEPT] = _unkept() + judge.unkept


def _unkept() -> int:
    context = click.get_current_context(silent=True)
    return 0 if context is None else int(context.meta.get(_UNKEPT, 0))


def _open_backend(
    text: str, flags: JudgingFlags, grade_max: int, environ: Mapping[str, str]
) -> Backend:
    base_url = server_of(text, flags.base_url, environ=environ)
    return open_backend(text, grade_max=grade_max, base_url=base_url, logprobs=flags.logprobs)


def _price(backend: Backend, flags: JudgingFlags) -> Price | None:
    """Return what a backend's model costs, None if unknown.

    A server of the user's own has the user's prices only: the same model may cost anything there.
    """
    if not backend.remote:
        return FREE
    model = str(backend.settings["model"])
    own_server = backend.settings["base_url"] not in (None, OFFICIAL)
    return price_of(model, read_prices(flags.prices, ours=not own_server))


def open_cache(
    flags: JudgingFlags, *, environ: Mapping[str, str] | None = None
) -> JudgmentCache | None:
    """Return the cache folder opened, or None with a line on stderr if it cannot be made.

    CacheTrouble where judgments are kept that cannot be read: they would be paid for again.
    """
    folder = cache_folder(flags.cache_dir, environ=os.environ if environ is None else environ)
    if flags.dry_run and not holds_judgments(folder):
        return None  # it would be made, and there is nothing in it
    try:
        return JudgmentCache(folder, redact=flags.redact)
    except CacheTrouble as trouble:
        if holds_judgments(folder):
            raise
        note(f"{trouble}; judgments of this run are not kept")
        return None


def told_forecast(
    flags: JudgingFlags, judge: Judge | None, *, as_json: bool, until: str = "all"
) -> bool:
    """Print what a dry run found and tell so; False where the flags ask for no dry run.

    With another `until` than "all", replies could end the asking earlier.
    """
    if not flags.dry_run or judge is None:
        return False
    forecast = judge.forecast
    if as_json:
        print_json({"dry_run": {**forecast.plain(), "at_most": until != "all"}})
    else:
        most = "" if until == "all" else f"; --until {until} may need less"
        click.echo(f"Dry run: {forecast}{most}")
    return True


@contextmanager
def interruptible() -> Iterator[None]:
    """Turn SIGINT, SIGTERM and SIGHUP into `Interrupted`, so that what was paid for is kept.

    The first one ends the run; those that follow change nothing, for what is in flight is being
    kept, which takes seconds at most. A signal that is ignored stays so, as under nohup.
    """
    is_stopping = False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal is_stopping
        if not is_stopping:
            is_stopping = True
            name = signal.Signals(number).name
            raise Interrupted(f"stopped by {name}; everything paid for is kept")

    there = [getattr(signal, name) for name in _STOPPING if hasattr(signal, name)]
    heard = [number for number in there if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, stop) for number in heard}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
