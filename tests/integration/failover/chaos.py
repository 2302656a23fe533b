#!/usr/bin/env python3
"""Three nodes, clients with a ledger, and functions that cause faults (nemeses).

  chaos.py --binary build/release/corvo [--rounds N] [--seed S] [--only NEMESIS] [--network proxies]

Each round causes one fault while the clients continue. Then everything is repaired, the clients stop, and
all results that they received must be true on every node.
"""
import argparse
import collections
import contextlib
import pathlib
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import network  # noqa: E402
from ledger import Ledger  # noqa: E402
from nemeses import FEW, NEMESES, beside, full_disk, mend  # noqa: E402
from nodes import PATIENCE_S, Nodes, until  # noqa: E402

CLUSTER_ROUNDS = 30  # start a new cluster after these, because the check reads every job

DONE = ["enqueued", "unique", "claimed", "acked", "failed", "cancelled"]


def all_jobs(node):
    """Return every job, from a backup, which is consistent."""
    status, answer, _ = node.call("GET", "/api/v1/admin/backup")
    assert status == 200, f"{node.name}: {answer}"
    return answer["jobs"]


def documents(node, ids):
    """Return the jobs from the state of this node, by id."""
    rows = []
    for i in range(0, len(ids), 1000):
        status, answer, _ = node.call("POST", "/api/v1/jobs/bulk-get", {"job_ids": ids[i:i + 1000]})
        assert status == 200, f"{node.name}: {answer}"
        rows += answer["jobs"]
    return {job["id"]: job for job in rows}


def indexes(nodes):
    """Return the index that each node has applied, or [None] if one does not respond."""
    try:
        return [node.status()["applied_index"] for node in nodes.nodes]
    except (OSError, KeyError, TypeError):
        return [None]


def at_one_index(nodes, read):
    """Return read() from a moment in which all nodes have applied the same index and no write happened."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        before = indexes(nodes)
        if len(set(before)) == 1 and None not in before:
            got = read()
            if indexes(nodes) == before:
                return got
        assert time.monotonic() < deadline, f"the nodes do not come to one index: {before}"
        time.sleep(0.02)


def settle(nodes):
    """Wait until all nodes are up and vote."""
    for node in nodes.nodes:
        assert node.is_running(), f"{node.name} has ended by itself with {node.process.poll()}"
        until(node.answers)
    until(nodes.all_vote)


def compare(nodes):
    """Return the jobs of the leader, and the differences on other nodes."""
    leader = nodes.leader()
    jobs = all_jobs(leader)
    ids = [job["id"] for job in jobs]
    wrong = []
    by_leader = documents(leader, ids)
    if set(by_leader) != set(ids):
        wrong.append(f"the backup has {len(ids)} jobs, of which the leader knows {len(by_leader)}")
    for node in nodes.others(leader):
        there = documents(node, ids)
        wrong += [f"{node.name} has {id} as {there.get(id)}, the leader as {by_leader.get(id)}"
                  for id in ids if there.get(id) != by_leader.get(id)]
    want = collections.Counter((job["queue"], job["state"]) for job in jobs)
    for node in nodes.nodes:
        wrong += count_queues(node, want)
    hashes = {(s["state_hash"]["index"], s["state_hash"]["hash"]) for s in
              (node.status() for node in nodes.nodes)}
    if len(hashes) != 1:
        wrong.append(f"the state hashes differ: {sorted(hashes)}")
    return jobs, wrong


def count_queues(node, want):
    """Compare the counters of the queues, which a node keeps separately, with the jobs: each job counts in one
    state."""
    wrong = []
    _, rows, _ = node.call("GET", "/api/v1/queues")
    rows = rows if isinstance(rows, list) else rows["queues"]
    for row in rows:
        for state in ("pending", "active", "held", "completed", "retrying", "dead", "cancelled", "scheduled"):
            if state in row and row[state] != want[row["name"], state]:
                wrong.append(f"{node.name} counts {row[state]} {state} jobs in {row['name']}, "
                             f"there are {want[row['name'], state]}")
    return wrong


def verify(nodes):
    """Run the check that an operator would run. Returns what is wrong."""
    def nothing_wrong():
        done = nodes.nodes[0].command("cluster", "verify")
        nothing_wrong.said = done.stdout + done.stderr
        return done.returncode == 0
    try:
        until(nothing_wrong, pause=0.2)
    except AssertionError:
        return [f"cluster verify: {nothing_wrong.said}"]
    return []


def check(nodes, ledger):
    """Check a cluster without clients. Returns the number of jobs and what is wrong."""
    settle(nodes)
    jobs, wrong = at_one_index(nodes, lambda: compare(nodes))
    return len(jobs), wrong + ledger.check(jobs) + verify(nodes)


class Summary:
    """By nemesis: rounds, seconds, results of clients, the longest time without a write."""

    def __init__(self):
        self.rows = collections.defaultdict(list)
        self.codes = collections.Counter()

    def add(self, name, seconds, counts, pause):
        done = sum(counts[word] for word in DONE)
        refused = {word: n for word, n in counts.items() if word not in DONE and n > 0}
        self.codes.update(refused)
        unanswered = refused.pop("no answer", 0)
        self.rows[name].append((seconds, done, sum(refused.values()), unanswered, pause))

    def text(self):
        lines = [f"  {'what went wrong':24} {'rounds':>6} {'seconds':>8} {'done':>8} {'refused':>8} "
                 f"{'unanswered':>10} {'longest pause':>14}"]
        for name, rows in sorted(self.rows.items()):
            seconds, done, refused, unanswered, pauses = zip(*rows)
            lines.append(f"  {name:24} {len(rows):6} {sum(seconds):8.1f} {sum(done):8} {sum(refused):8} "
                         f"{sum(unanswered):10} {max(pauses):12.1f} s")
        lines.append("  refused or not answered: " +
                     (", ".join(f"{n} {word}" for word, n in self.codes.most_common()) or "nothing"))
        return "\n".join(lines)


def play(nodes, ledger, nemesis, chance, summary):
    """Play one round. Returns what is wrong after it."""
    began = time.monotonic()
    before = ledger.counts.copy()
    ledger.start()
    try:
        also = beside(nodes, chance)
        ledger.more(FEW)
        nemesis(nodes, ledger, chance)
        mend(nodes)
        ledger.more(FEW)
    finally:
        ledger.stop()
    jobs, wrong = check(nodes, ledger)
    seconds = time.monotonic() - began
    counts = ledger.counts - before
    summary.add(nemesis.__name__, seconds, counts, ledger.longest)
    words = ", ".join(f"{count} {word}" for word, count in sorted(counts.items(), key=str))
    print(f"  {nemesis.__name__:24} {seconds:5.1f} s  {jobs:5} jobs  pause {ledger.longest:4.1f} s  {words}"
          f"{f'; besides {also}' if also else ''}", flush=True)
    return wrong


def possible(nodes):
    """Return the nemeses that this environment supports."""
    if nodes.nodes[0].disk.own:
        return NEMESES
    print("  full_disk is left out: nodes have no file system of their own here", flush=True)
    return [n for n in NEMESES if n is not full_disk]


def rounds(nodes, count, seed, chance, summary, only=None, done=0):
    """Play each nemesis once, then random ones."""
    ledger = Ledger(nodes.nodes, f"{seed}/{done}")
    here = possible(nodes)
    for i in range(done, done + count):
        nemesis = here[i] if i < len(here) else chance.choice(here)
        if only:
            nemesis = next(n for n in here if n.__name__ == only)
        wrong = play(nodes, ledger, nemesis, chance, summary)
        assert not wrong, f"round {i + 1}, {nemesis.__name__}:\n" + "\n".join(wrong[:20])


def add_options(parser):
    parser.add_argument("--binary", required=True, type=pathlib.Path)
    parser.add_argument("--shim", type=pathlib.Path, help="libnemesis.so; beside the program unless given")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--network", choices=["namespaces", "proxies"])


def shim_of(options):
    shim = options.shim or options.binary.resolve().parent / "tests" / "libnemesis.so"
    if not shim.exists():
        sys.exit(f"{shim} is missing: build the target nemesis")
    return shim.resolve()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add_options(parser)
    parser.add_argument("--rounds", type=int, default=len(NEMESES))
    parser.add_argument("--only", choices=[n.__name__ for n in NEMESES])
    options = parser.parse_args()
    shim = shim_of(options)
    network.enter(options.network)
    chance = random.Random(options.seed)
    summary, began, done = Summary(), time.monotonic(), 0
    print(f"chaos: {options.rounds} rounds, seed {options.seed}", flush=True)
    with contextlib.ExitStack() as stack:
        stack.callback(lambda: print(summary.text(), flush=True))
        while done < options.rounds:
            count = min(CLUSTER_ROUNDS, options.rounds - done)
            with Nodes(options.binary.resolve(), shim=shim) as nodes:
                rounds(nodes, count, options.seed, chance, summary, options.only, done)
            done += count
    print(f"chaos: {done} rounds passed in {(time.monotonic() - began) / 60:.0f} minutes with seed {options.seed}. "
          "After each: every acknowledged operation is there, none twice, each job in one state, and all "
          "nodes have the same data.")


if __name__ == "__main__":
    main()
