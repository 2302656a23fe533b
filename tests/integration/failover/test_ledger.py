"""Tests of the ledger's check: true results pass, and each lie is detected."""
import copy

from ledger import Ledger


def world():
    """Return a ledger, and jobs for which all recorded results are true."""
    ledger = Ledger([], 1)
    ledger.made = {1: "a", 2: "b", 3: "c", 4: "d"}
    ledger.not_made = {5}
    ledger.unique = {"key": {"u"}}
    ledger.claims = {("a", 1): "x", ("b", 1): "x"}
    ledger.acked = {"a": ("x", 1)}
    ledger.failed = {"b": 1}
    ledger.cancelled = {"c"}
    ledger.groups = {"g": ["a", "c"], "h": ["a", "d"]}
    jobs = [{"id": id, "queue": "red", "state": state, "attempt": attempt, "payload": {"m": marker}}
            for marker, id, state, attempt in ((1, "a", "completed", 1), (2, "b", "retrying", 1),
                                               (3, "c", "cancelled", 0), (4, "d", "pending", 0))]
    jobs[0]["result"] = {"by": "x"}
    jobs.append({"id": "u", "queue": "unique", "state": "pending", "attempt": 0, "payload": {"k": "key"}})
    jobs.append({"id": "z", "queue": "callbacks", "state": "pending", "attempt": 0,
                 "payload": {"batch": {"batch_id": "g"}}})
    return ledger, {job["id"]: job for job in jobs}


def more(id, like, **change):
    """Add a copy of the job `like`, with changes."""
    def tell(jobs):
        jobs[id] = {**copy.deepcopy(jobs[like]), "id": id, **change}
    return tell


def other(id, **change):
    return lambda jobs: jobs[id].update(change)


def gone(id):
    return lambda jobs: jobs.pop(id)


LIES = {
    "an acknowledged job is gone": gone("d"),
    "an operation took effect twice": more("e", "d"),
    "what certainly failed has happened": more("e", "d", payload={"m": 5}),
    "a unique key is in two jobs": more("e", "u"),
    "the job of a unique key is gone": gone("u"),
    "a completed job waits again": other("a", state="pending"),
    "a completed job has another's result": other("a", result={"by": "y"}),
    "a completed job was attempted again": other("a", attempt=2),
    "a cancelled job waits again": other("c", state="pending"),
    "a failed attempt goes on": other("b", state="active"),
    "an attempt was forgotten": other("b", attempt=0),
    "there is no such state": other("d", state="lost"),
    "a batch that has ended has not called back": gone("z"),
    "a batch called back twice": more("e", "z"),
    "a batch called back too early": more("e", "z", payload={"batch": {"batch_id": "h"}}),
}


def test_the_truth_passes(nodes=None):
    del nodes
    ledger, jobs = world()
    assert ledger.check(list(jobs.values())) == []


def test_each_lie_is_noticed(nodes=None):
    del nodes
    for name, tell in LIES.items():
        ledger, jobs = world()
        tell(jobs)
        assert ledger.check(list(jobs.values())), name
    ledger, jobs = world()
    assert ledger.check([*jobs.values(), jobs["a"]]), "a job is there twice"
