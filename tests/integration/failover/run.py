#!/usr/bin/env python3
"""What clients see of a cluster, then a few rounds of chaos, with the same three nodes."""
import argparse
import pathlib
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import chaos  # noqa: E402
import test_failover  # noqa: E402
from ledger import Ledger  # noqa: E402
from nodes import Nodes  # noqa: E402

ROUNDS = 4  # all that there are by `make chaos`


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True, type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("patterns", nargs="*")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    cases = [(name, case) for name, case in vars(test_failover).items()
             if name.startswith("test_") and
             (not options.patterns or any(p in name for p in options.patterns))]
    with Nodes(options.binary.resolve()) as nodes:
        for name, case in cases:
            began = time.monotonic()
            case(nodes)
            print(f"  {name:52} {time.monotonic() - began:5.1f} s", flush=True)
        if not options.patterns:
            print(f"  chaos with seed {options.seed}", flush=True)
            ledger = Ledger(nodes.nodes, options.seed)
            for nemesis in chance.sample(chaos.NEMESES, options.rounds):
                wrong = chaos.play(nodes, ledger, nemesis, chance)
                assert not wrong, "\n".join(wrong[:20])
    print(f"{len(cases)} cases passed")


if __name__ == "__main__":
    main()
