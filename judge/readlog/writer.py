"""A read log to embed in a search service: one atomic line an event, and it never raises.

    log = ReadLog("reads.jsonl", hash_sessions=True)
    ids = log.shuffle(ids)                      # now and then swaps a neighbouring pair
    log.search(query, ids, session=session)
    log.read(ids[2], session=session)

An event is one `write` to a file opened for appending, so any number of threads and
processes may share a log. A failure to write costs an event, not the search: it is counted
(`failures`, `last_failure`), logged, and told to the miner by a line in the log itself.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import random
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType

from judge.evidence.joining import content_hash
from judge.readlog.events import VERSION

_LOGGER = logging.getLogger(__name__)
_LOOK_EVERY = 64  # events between two looks at the file's size and name
_KEY_BYTES = 32
_PRIVATE = frozenset({"session", "user"})
_LOST = {"v": VERSION, "event": "lost"}
_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True).encode


class Shown(list[str]):
    """A list of ids as shown; `swapped` is the position whose pair changed places, or None."""

    swapped: int | None = None


class ReadLog:
    """Append what searchers and agents do with results to a JSONL file.

    path: the log; a rotated one keeps its name with a time behind it
    rotate_bytes: start a new file at about this size; None never does
    hash_sessions: write keyed hashes in place of session and user; the key is made once and
        kept beside the log (`reads.jsonl.key`), readable by its owner alone
    clock: returns epoch seconds
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        rotate_bytes: int | None = 1 << 30,
        hash_sessions: bool = False,
        clock: Callable[[], float] = time.time,
        seed: int | None = None,
    ) -> None:
        self.path = Path(path)
        self.failures = 0
        self.last_failure = ""
        self._rotate_bytes = rotate_bytes
        self._hash_sessions = hash_sessions
        self._key: bytes | None = None
        self._clock = clock
        self._random = random.Random(seed)  # noqa: S311 - which pair is swapped is no secret
        self._fd: int | None = None
        self._written = 0
        self._torn = False
        self._untold = 0

    def search(
        self,
        query: str,
        ids: Sequence[str],
        *,
        session: str,
        user: str | None = None,
        actor: str | None = None,
        agent: str | None = None,
        model: str | None = None,
        texts: Sequence[str] | None = None,
        **extra: object,
    ) -> None:
        """Record what a search returned, in the order it was shown.

        agent, model: the program and the model version that searches, where it is no person:
            all its sessions have one vote together
        texts: what stood behind each id; only hashes are written. A chunk whose text
            changes later then loses its votes, and one that was merely renamed keeps them
        """
        fields = {"query": query, "ids": ids, "swapped": getattr(ids, "swapped", None)}
        self._append("search", _who(session, user, actor, agent, model), fields, extra, texts=texts)

    def read(
        self,
        id: str,
        *,
        session: str,
        user: str | None = None,
        actor: str | None = None,
        agent: str | None = None,
        model: str | None = None,
        **extra: object,
    ) -> None:
        """Record that a result was opened."""
        self._append("read", _who(session, user, actor, agent, model), {"id": id}, extra)

    def inject(
        self,
        ids: Sequence[str],
        *,
        session: str,
        query: str | None = None,
        user: str | None = None,
        actor: str | None = None,
        agent: str | None = None,
        model: str | None = None,
        texts: Sequence[str] | None = None,
        **extra: object,
    ) -> None:
        """Record chunks put before a model; `query` where the session has no search for them."""
        fields = {"query": query, "ids": ids}
        self._append("inject", _who(session, user, actor, agent, model), fields, extra, texts=texts)

    def cite(
        self,
        ids: Sequence[str],
        *,
        session: str,
        user: str | None = None,
        actor: str | None = None,
        agent: str | None = None,
        model: str | None = None,
        **extra: object,
    ) -> None:
        """Record the injected chunks that the answer cites."""
        self._append("cite", _who(session, user, actor, agent, model), {"ids": ids}, extra)

    def shuffle(self, ids: Sequence[str], *, share: float = 0.05) -> Shown:
        """Return ids as a list with one random neighbouring pair swapped, in `share` of calls.

        Without it a log of one ranking can only ever decide for the lower-shown chunk
        (FairPairs: Radlinski & Joachims 2006). Pass the list on to `search`, which records
        the swap.
        """
        shown = Shown(ids)
        if len(shown) > 1 and self._random.random() < share:
            at = self._random.randrange(len(shown) - 1)
            shown[at], shown[at + 1] = shown[at + 1], shown[at]
            shown.swapped = at
        return shown

    def close(self) -> None:
        """Close the file; the next event opens it again."""
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)

    def __enter__(self) -> ReadLog:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _append(
        self,
        event: str,
        who: Mapping[str, str | None],
        fields: Mapping[str, object],
        extra: Mapping[str, object],
        *,
        texts: Sequence[str] | None = None,
    ) -> None:
        try:
            if self._hash_sessions:
                who = {key: self._hashed(who[key]) if key in _PRIVATE else who[key] for key in who}
            hashes = None if texts is None else [content_hash(text) for text in texts]
            record = {
                **extra,  # first: an extra field cannot take the place of one of the schema
                "v": VERSION,
                "event": event,
                "time": round(self._clock(), 3),
                **who,
                **fields,
                "hashes": hashes,
            }
            self._write({key: value for key, value in record.items() if value is not None})
        except Exception as error:  # noqa: BLE001 - whatever fails here must not fail the search
            self._count(error)

    def _hashed(self, name: str | None) -> str | None:
        if name is None:
            return None
        if self._key is None:
            self._key = _kept_key(self.path.with_name(self.path.name + ".key"))
        data = str(name).encode("utf-8", "surrogatepass")
        return hashlib.blake2b(data, key=self._key, digest_size=12).hexdigest()

    def _write(self, record: Mapping[str, object]) -> None:
        line = _encode(record) + "\n"
        if self._written % _LOOK_EVERY == 0:
            self._look_at_file()
        fd = self._fd if self._fd is not None else self._open()
        untold = self._untold
        if untold:
            line = _encode({**_LOST, "time": record["time"], "count": untold}) + "\n" + line
        data = (("\n" if self._torn else "") + line).encode("ascii")
        written = os.write(fd, data)
        self._written += 1
        self._torn = written < len(data)
        if self._torn:
            raise OSError(f"wrote {written} of {len(data)} bytes")
        self._untold -= untold

    def _open(self) -> int:
        self._fd, self._torn = _open_to_append(self.path)
        return self._fd

    def _look_at_file(self) -> None:
        """Follow a file that another process rotated or removed, and rotate one that is full."""
        if self._fd is None:
            return
        ours = os.fstat(self._fd)
        try:
            named = os.stat(self.path)  # noqa: PTH116 - a third of Path.stat on a hot path
            still_ours = (named.st_dev, named.st_ino) == (ours.st_dev, ours.st_ino)
        except FileNotFoundError:
            still_ours = False
        if still_ours and (self._rotate_bytes is None or ours.st_size < self._rotate_bytes):
            return
        if still_ours:
            stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime(self._clock()))
            # Unique, because a rename onto an older log would delete it.
            unique = f"{stamp}-{os.getpid()}-{secrets.token_hex(4)}"
            with contextlib.suppress(FileNotFoundError):  # another writer was quicker
                self.path.rename(self.path.with_name(f"{self.path.name}.{unique}"))
        fresh, self._torn = _open_to_append(self.path)
        # The number stays the same: a thread that writes just now must not find it closed,
        # or worse, given to another file.
        os.dup2(fresh, self._fd, inheritable=False)
        os.close(fresh)

    def _count(self, error: Exception) -> None:
        self.failures += 1
        self._untold += 1
        self.last_failure = f"{type(error).__name__}: {error}"
        if self.failures == 1 or self.failures % 1000 == 0:
            _LOGGER.warning(
                "%d events could not be written to %s: %s",
                self.failures, self.path, self.last_failure,
            )  # fmt: skip


def _who(
    session: str, user: str | None, actor: str | None, agent: str | None, model: str | None
) -> dict[str, str | None]:
    return {"session": session, "user": user, "actor": actor, "agent": agent, "model": model}


def _open_to_append(path: Path) -> tuple[int, bool]:
    """Return the open file, and whether it ends in the middle of a line.

    A process that died while writing must not take our first event with it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
    size = os.fstat(fd).st_size
    return fd, size > 0 and os.pread(fd, 1, size - 1) != b"\n"


def _kept_key(path: Path) -> bytes:
    """Return the key beside the log, made by whichever process comes first."""
    if not path.exists():
        fresh = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
        fresh.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(fd, "wb") as file:
            file.write(secrets.token_bytes(_KEY_BYTES))
        # A link appears whole or not at all: nobody ever reads half a key.
        with contextlib.suppress(FileExistsError):
            os.link(fresh, path)
        fresh.unlink()
    key = path.read_bytes()
    if len(key) != _KEY_BYTES:
        raise ValueError(f"{path} is not a key of {_KEY_BYTES} bytes; remove it to make a new one")
    return key
