#!/usr/bin/env python3
"""Describes the labelled calls again, so that their features can be taken by the engine as it is now.

  again.py FACTS.tsv SCORE.py CORPUS.jsonl... > calls.jsonl
  doorward model facts calls.jsonl > facts.tsv && doorward model train --facts facts.tsv --out ../../engine/model/scorer.tsv

FACTS.tsv holds ids, labels and machines, and no text; the corpora hold the text, and SCORE.py says on which machine a row of
them is judged (`request`). Rows whose text is not in the corpora are left out and named. No row is ever executed.
"""
import importlib.util, json, sys

# What is different about the machine of each variant.
VARIANTS = {
    "base": lambda world: None,
    "dirty": lambda world: world.get("git", {}).update(clean=False),
    "untracked": lambda world: world.get("git", {}).update(tracked=[]),
    "untrusted": lambda world: world.update(trusted=False),
    "secrets": lambda world: (world.update(taint=["secret-read"]), world["env"].update(DEPLOY_TOKEN="ghp_" + "a1B2c3D4e5" * 3 + "F6g7H8")),
}

def load(path):
    spec = importlib.util.spec_from_file_location("score", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

def main(facts, score, corpora):
    request, calls = load(score).request, {}
    for path in corpora:
        with open(path) as lines:
            for line in lines:
                row = json.loads(line)
                calls.setdefault(row["id"], row)
    with open(facts) as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines][2:]
    missing = set()
    for id, source, use, variant, label, weight, *_ in (row for row in rows if len(row) > 6):
        if id not in calls or variant not in VARIANTS:
            missing.add(id)
            continue
        line = request(calls[id])
        VARIANTS[variant](line["world"])
        line.update(source=source, use=use, variant=variant, label=label, weight=float(weight))
        print(json.dumps(line))
    if missing:
        print(f"{len(missing)} labelled calls are left out: {' '.join(sorted(missing)[:5])} …", file=sys.stderr)

if __name__ == "__main__":
    if len(sys.argv) < 4: sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
