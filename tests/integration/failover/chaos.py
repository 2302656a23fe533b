#!/usr/bin/env python3
"""
Three nodes, clients with a ledger, and somebody who breaks things (nemesis).

  chaos.py --binary build/dev/corvo [--rounds N] [--seed S]

Each round one thing goes wrong while the clients go on; then all is mended, the clients stop, and
everything that they were told must be true on every node.
"""
import argparse
import pathlib
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from ledger import Ledger  # noqa: E402
from nodes import Nodes, until  # noqa: E402

BEFORE, DURING, AFTER = 0.4, 2.0, 0.6  # seconds of a round


def kill_leader(nodes, chance):
    victim = nodes.leader()
    victim.kill()
    time.sleep(DURING)
    victim.start()


def kill_follower(nodes, chance):
    victim = chance.choice(nodes.followers())
    victim.kill()
    time.sleep(DURING / 2)
    victim.start()


def stop_leader_gracefully(nodes, chance):
    victim = nodes.leader()
    code = victim.terminate()
    assert code == 0, f"{victim.name} ended with {code}"
    time.sleep(DURING / 2)
    victim.start()


def pause_leader(nodes, chance):
    victim = nodes.leader()
    victim.pause()
    time.sleep(DURING)
    victim.go_on()


def isolate_leader(nodes, chance):
    nodes.net.isolate(nodes.leader())
    time.sleep(DURING)
    nodes.net.heal()


def isolate_follower(nodes, chance):
    nodes.net.isolate(chance.choice(nodes.followers()))
    time.sleep(DURING)
    nodes.net.heal()


def one_way(nodes, chance):
    sender, receiver = chance.sample(nodes.nodes, 2)
    nodes.net.cut(sender, receiver)
    time.sleep(DURING)
    nodes.net.heal()


def transfer(nodes, chance):
    for _ in range(2):
        nodes.leader().call("POST", "/api/v1/cluster/transfer", {})
        time.sleep(DURING / 4)


NEMESES = [kill_leader, transfer, pause_leader, isolate_leader, kill_follower, one_way,
           stop_leader_gracefully, isolate_follower]


def all_jobs(node):
    """Every job, by a backup, which is one moment's."""
    status, answer, _ = node.call("GET", "/api/v1/admin/backup")
    assert status == 200, f"{node.name}: {answer}"
    return answer["jobs"]


def essence(job):
    """What does not change by itself: a job that waits for its next attempt comes into line."""
    state = "pending" if job["state"] == "retrying" else job["state"]
    return state, job.get("attempt"), job.get("worker_id")


def same_documents(nodes, jobs):
    """The same jobs on every node, by its own state."""
    wrong = []
    ids = [job["id"] for job in jobs]
    want = {job["id"]: essence(job) for job in jobs}
    for node in nodes.nodes:
        for i in range(0, len(ids), 500):
            _, answer, _ = node.call("POST", "/api/v1/jobs/bulk-get", {"job_ids": ids[i:i + 500]})
            rows = answer["jobs"] if isinstance(answer, dict) else answer
            got = {job["id"]: essence(job) for job in rows}
            for id in ids[i:i + 500]:
                if got.get(id) != want[id]:
                    wrong.append(f"{node.name} has {id} as {got.get(id)}, the leader as {want[id]}")
    return wrong


def settle(nodes):
    """All nodes are up and have applied the same."""
    for node in nodes.nodes:
        until(node.answers, 30)
    leader = nodes.leader()

    def caught_up():
        try:
            rows = [node.status()["applied_index"] for node in nodes.nodes]
        except (OSError, KeyError):
            return False
        caught_up.seen = rows
        return len(set(rows)) == 1
    try:
        until(caught_up, 30)
    except AssertionError as e:
        raise AssertionError(f"{e}: {getattr(caught_up, 'seen', None)}") from e
    return leader


def play(nodes, ledger, nemesis, chance):
    began = time.monotonic()
    before = ledger.counts.copy()
    ledger.start()
    time.sleep(BEFORE)
    nemesis(nodes, chance)
    time.sleep(AFTER)
    ledger.stop()
    settle(nodes)
    jobs = all_jobs(nodes.leader())
    wrong = ledger.check(jobs) + same_documents(nodes, jobs)
    done = ledger.counts - before
    words = ", ".join(f"{count} {word}" for word, count in sorted(done.items(), key=str))
    print(f"  {nemesis.__name__:24} {time.monotonic() - began:5.1f} s  {len(jobs):5} jobs  {words}",
          flush=True)
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True, type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=len(NEMESES))
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", choices=[n.__name__ for n in NEMESES])
    options = parser.parse_args()
    chance = random.Random(options.seed)
    print(f"chaos: {options.rounds} rounds, seed {options.seed}", flush=True)
    with Nodes(options.binary.resolve()) as nodes:
        ledger = Ledger(nodes.nodes, options.seed)
        for i in range(options.rounds):
            nemesis = NEMESES[i % len(NEMESES)] if i < len(NEMESES) else chance.choice(NEMESES)
            if options.only:
                nemesis = next(n for n in NEMESES if n.__name__ == options.only)
            wrong = play(nodes, ledger, nemesis, chance)
            assert not wrong, "\n".join(wrong[:20])
    total = ", ".join(f"{count} {word}" for word, count in sorted(ledger.counts.items(), key=str))
    print(f"chaos: {options.rounds} rounds passed: {total}")


if __name__ == "__main__":
    main()
