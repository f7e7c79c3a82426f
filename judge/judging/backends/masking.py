"""The door through which a server's words come in: behind it they hold no secret of ours."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from judge.errors import BackendUnavailable
from judge.judging.exchange import CallFailure, Reply, StopAsking
from judge.masking import Mask, secrets_in_environment, secrets_in_url

_SHOWN = 200


def mask_of(
    *, api_key: str | None, base_url: str | None, environ: Mapping[str, str] = os.environ
) -> Mask:
    """Return the mask of everything in secret that may be sent to a judge's server."""
    return Mask.of([api_key, *secrets_in_environment(environ), *secrets_in_url(base_url or "")])


def masked_reply(reply: Reply, mask: Mask) -> Reply:
    """Return a reply as it may be read, kept and shown; a grade is no secret and stays."""
    text = None if reply.text is None else mask(reply.text)
    finish, instead = mask(reply.finish), mask(reply.instead)[:_SHOWN]
    if (text, finish, instead) == (reply.text, reply.finish, reply.instead):
        return reply
    return replace(reply, text=text, finish=finish, instead=instead)


@contextmanager
def masked_failures(mask: Mask) -> Iterator[None]:
    """Take secrets out of the reason of whatever fails inside."""
    try:
        yield
    except (CallFailure, StopAsking, BackendUnavailable) as error:
        error.args = tuple(mask(arg) if isinstance(arg, str) else arg for arg in error.args)
        raise
