"""How long does the labelling page take from a key press to the next chunk on screen?

    python scripts/bench_labelling.py [--chunks 2000] [--presses 200]

Measured inside a headless Chromium, from the key event to the painted frame that shows the next
chunk; every press waits for its label to be on disk. Half of the queue is labelled before.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from browser import chromium

from judge.labelling.session import Session
from judge.labelling.store import COLUMNS, LabelStore
from judge.labelling.web import listen, server
from judge.spotcheck import Item, Queue, Why

TOKEN = "bench"
_PRESSES = """
const [presses, done] = arguments;
const times = [];
const press = () => {
  const before = document.getElementById("count").textContent;
  const start = performance.now();
  document.dispatchEvent(new KeyboardEvent("keydown", { key: "1" }));
  const look = () => {
    if (document.getElementById("count").textContent === before) return requestAnimationFrame(look);
    times.push(performance.now() - start);
    times.length < presses ? setTimeout(press, 5) : done(times);
  };
  requestAnimationFrame(look);
};
const ready = () => document.querySelector("#scale button") ? press() : setTimeout(ready, 20);
ready();
"""


def queue_of(chunks: int) -> Queue:
    """Return chunks of 150 words for 100 queries."""
    words = "The summit of Mount Everest lies 8,849 metres above the sea, as measured in 2020. "
    items = [
        Item(f"q{i % 100}", "how high is mount everest", f"c{i}", f"{i} {words * 10}", Why.CORE)
        for i in range(chunks)
    ]
    return Queue(tuple(items), 3)


def main() -> None:
    """Print the median, the 95th percentile and the slowest press."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chunks", type=int, default=2000)
    parser.add_argument("--presses", type=int, default=200)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        queue, path = queue_of(arguments.chunks), Path(work) / "labels.csv"
        done = queue.items[: arguments.chunks // 2]
        lines = [f"{item.query_id},{item.id},1,ann,0.5," for item in done]
        path.write_text("\n".join([",".join(COLUMNS), *lines, ""]))
        listening = listen()
        serving = server(Session(queue, LabelStore(path)), listening, token=TOKEN)
        thread = threading.Thread(target=serving.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            with chromium(Path(work) / "profile") as driver:
                driver.set_script_timeout(300)
                host, port = listening.getsockname()
                driver.get(f"http://{host}:{port}/?token={TOKEN}&rater=ann")
                times = sorted(driver.execute_async_script(_PRESSES, arguments.presses))
        finally:
            serving.should_exit = True
            thread.join()
            listening.close()
    print(
        f"{arguments.chunks:,} chunks queued, {len(times)} presses: median "
        f"{statistics.median(times):.0f} ms, 95% within {times[int(0.95 * len(times))]:.0f} ms, "
        f"slowest {times[-1]:.0f} ms"
    )


if __name__ == "__main__":
    main()
