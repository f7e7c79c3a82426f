# shellcheck shell=bash disable=SC2154
# The built-in engine: its optional model, and the gate on what it ranks.

vectors_extra() { # the model runs from its wheel alone and knows synonyms that hashing does not
  fresh_venv vectors
  pip install "${checkout}[vectors]"
  (
    cd "$checkout/goldens" || exit
    judge sweep --corpus corpus.jsonl --goldens goldens.jsonl -m R@10 \
      --set vectors=hash,wordllama --json >"$work/vectors.json"
  )
  python - "$work/vectors.json" <<'PY'
import json
import sys
from pathlib import Path

sweep = json.loads(Path(sys.argv[1]).read_text())
hashed, model = sweep["measures"]["R@10"]["slices"]["semantic"]["means"]
print(f"R@10 of semantic: {hashed['value']:.2f} by hashing, {model['value']:.2f} by the model")
assert model["value"] > hashed["value"] + 0.2
PY
}

gate_goldens() { # ranks of the built-in engine: a wanted change comes with a new baseline
  use_venv dev
  cd "$checkout" || return
  judge goldens check goldens/goldens.jsonl --corpus goldens/corpus.jsonl | tail -1
  judge retrieve goldens/corpus.jsonl goldens/goldens.jsonl -o "$work/goldens-run.json"
  judge gate "$work/goldens-run.json" --baseline goldens/baseline.json --margin 0 -m RR -m R@10
}
