"""Take the pictures of the labelling page that docs/ shows: wide and narrow, light and dark.

    python scripts/screenshots.py docs/

Needs the extras `web` and `dev`, chromium and chromedriver. The chunks are those of the demo.
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from browser import chromium

from judge.formats import read_run
from judge.labelling.session import Session
from judge.labelling.store import LabelStore
from judge.labelling.web import listen, server
from judge.shipped import shipped
from judge.spotcheck import Item, Queue, Why, find_sources

TOKEN = "picture"
SIZES = {"wide": (1280, 800), "narrow": (390, 844)}


def demo_queue() -> Queue:
    """Return the demo's chunks as a queue; the judge's grades are made up for the picture."""
    run = read_run(str(shipped("goldens", "demo", "run.json")))
    sources = find_sources([run])
    items = [
        Item(row.key, row.query or row.key, result.id, result.text or "", Why.CORE, pi=0.5,
             judge_grade=2, judge_reason="names the limit, not the reason",
             source=sources.get((row.key, result.id), result.id))
        for row in run.rows
        for result in row.results[:4]
    ]  # fmt: skip
    return Queue(tuple(items), 3, run=run.name)


def main(folder: Path) -> None:
    """Write labelling-{wide,narrow}-{light,dark}.png into `folder`."""
    with tempfile.TemporaryDirectory() as work:
        session = Session(demo_queue(), LabelStore(Path(work) / "labels.csv"))
        for item in session.queue.items[:7]:
            session.label("ann", item.pair, 1)
        listening = listen()
        serving = server(session, listening, token=TOKEN)
        thread = threading.Thread(target=serving.run, kwargs={"sockets": [listening]})
        thread.start()
        address = "http://{}:{}/?token={}&rater=ann".format(*listening.getsockname(), TOKEN)
        try:
            for name, (width, height) in SIZES.items():
                for dark in (False, True):
                    picture = folder / f"labelling-{name}-{'dark' if dark else 'light'}.png"
                    profile = Path(work) / picture.stem
                    with chromium(profile, width=width, height=height, dark=dark) as driver:
                        driver.set_script_timeout(10)
                        driver.get(address)
                        driver.execute_async_script(_READY)
                        driver.save_screenshot(str(picture))
                        print(json.dumps({"picture": str(picture), "width": width}))
        finally:
            serving.should_exit = True
            thread.join()
            listening.close()


_READY = """
const done = arguments[0];
const wait = () => document.querySelector("#scale button") ? act() : setTimeout(wait, 20);
const act = () => {
  document.querySelector('#scale [data-grade="2"]').click();
  const line = document.getElementById("previous");
  const told = () => line.textContent ? done() : setTimeout(told, 20);
  told();
};
wait();
"""

if __name__ == "__main__":
    main(Path(sys.argv[1]))
