#!/usr/bin/env python3
"""Test what clients see of a cluster of three nodes, then run rounds of chaos with a second cluster."""
import argparse
import pathlib
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import chaos  # noqa: E402
import network  # noqa: E402
import test_deliveries  # noqa: E402
import test_failover  # noqa: E402
import test_ledger  # noqa: E402
from nodes import Nodes  # noqa: E402

ROUNDS = 30  # `make chaos` runs more


def main():
    parser = argparse.ArgumentParser()
    chaos.add_options(parser)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("patterns", nargs="*")
    options = parser.parse_args()
    shim = chaos.shim_of(options)
    network.enter(options.network)
    cases = [(name, case)
             for module in (test_ledger, test_failover, test_deliveries) for name, case in vars(module).items()
             if name.startswith("test_") and
             (not options.patterns or any(p in name for p in options.patterns))]
    with Nodes(options.binary.resolve(), shim=shim) as nodes:
        for name, case in cases:
            began = time.monotonic()
            case(nodes)
            print(f"  {name:52} {time.monotonic() - began:5.1f} s", flush=True)
    if not options.patterns:
        print(f"  chaos with seed {options.seed}", flush=True)
        summary = chaos.Summary()
        with Nodes(options.binary.resolve(), shim=shim) as nodes:
            chaos.rounds(nodes, options.rounds, options.seed, random.Random(options.seed), summary)
        print(summary.text())
    print(f"{len(cases)} cases passed")


if __name__ == "__main__":
    main()
