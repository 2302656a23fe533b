"""The whole table of operations and states (contract 5.2), one test per cell.

A cell of TABLE defines the effect of an operation on a job in that state:

  a state      the job's state afterwards
  E            refused with 400 and the operation's code, the job unchanged
  same         done, the state unchanged
  skip         skipped without an error, the job unchanged
  cancel       a heartbeat returns "cancel", the job unchanged
  gone         the job is removed
  -            the operation does not apply: the job is unchanged
"""
import unittest

from harness import ApiTest, unique

STATES = "scheduled pending active retrying held completed dead cancelled".split()

TABLE = """
operation    scheduled pending   active    retrying  held      completed dead      cancelled
fetch        -         active    -         -         -         -         -         -
ack          E         E         completed E         E         E         E         E
ack done     E         E         completed E         E         E         E         E
ack continue E         E         pending   E         E         E         E         E
ack hold     E         E         held      E         E         E         E         E
ack batch    skip      skip      completed skip      skip      skip      skip      skip
fail         E         E         retrying  E         E         E         E         E
fail last    E         E         dead      E         E         E         E         E
heartbeat    cancel    cancel    active    cancel    cancel    cancel    cancel    cancel
retry        pending   E         E         E         E         pending   pending   pending
cancel       cancelled cancelled cancelled cancelled E         E         E         E
hold         held      held      held      held      E         E         E         E
approve      E         E         E         E         pending   E         E         E
reject       E         E         E         E         dead      E         E         E
move         same      same      same      same      same      same      same      same
delete       gone      gone      gone      gone      gone      gone      gone      gone
replay       same      same      same      same      same      same      same      same
clear queue  gone      gone      -         -         -         -         -         -
delete queue gone      gone      gone      gone      gone      gone      gone      gone
"""

CODES = {"ack": "ACK_ERROR", "fail": "FAIL_ERROR", "retry": "RETRY_ERROR",
         "cancel": "CANCEL_ERROR", "hold": "HOLD_ERROR", "approve": "APPROVE_ERROR",
         "reject": "REJECT_ERROR"}

ANSWERS = {"ack": {"status": "ok"}, "retry": {"status": "retried"}, "hold": {"status": "held"},
           "approve": {"status": "pending"}, "reject": {"status": "dead"},
           "move": {"status": "moved"}, "delete": {"status": "deleted"},
           "clear queue": {"status": "cleared"}, "delete queue": {"status": "deleted"}}


def cells():
    """Yield (operation, state, outcome) of each cell."""
    head, *rows = TABLE.strip().splitlines()
    assert head.split()[1:] == STATES
    for row in rows:
        words = row.split()
        operation, outcomes = " ".join(words[:-len(STATES)]), words[-len(STATES):]
        for state, outcome in zip(STATES, outcomes):
            yield operation, state, outcome


class StateTable(ApiTest):
    def job_in(self, state, operation):
        """Create a job of this test's queue in that state. Operations of agents use an agent job that has completed
        one iteration."""
        agent = operation in ("ack done", "ack continue", "ack hold", "replay")
        fields = {"retry_base_delay": "1h", **({"agent": {}} if agent else {})}
        if state == "dead" or (operation == "fail last" and state == "active"):
            fields["max_retries"] = 1
        if state == "scheduled":  # no job returns to this state, so it cannot have run before
            fields["scheduled_at"] = "2099-01-01T00:00:00Z"
        job_id = self.api.enqueue(self.queue, {"kept": True}, **fields)
        if state != "scheduled":
            if agent:
                self.claim(job_id)
                self.api.ack(job_id, agent_status="continue", checkpoint={"c": 1})
            self.bring(job_id, state)
        self.assertEqual(self.api.state(job_id), state)
        return job_id

    def claim(self, job_id):
        self.assertEqual(self.api.fetch(self.queue)["job_id"], job_id)

    def bring(self, job_id, state):
        """Move the job from pending to the state."""
        if state == "pending":
            return
        if state in ("held", "cancelled"):
            self.api.act(job_id, {"held": "hold", "cancelled": "cancel"}[state])
            return
        self.claim(job_id)
        if state == "completed":
            self.api.ack(job_id)
        elif state in ("dead", "retrying"):
            self.api.fail(job_id)

    def operate(self, operation, job_id):
        """Run the operation and return its response."""
        verb, _, word = operation.partition(" ")
        path = f"/api/v1/jobs/{job_id}/{verb}"
        queue = f"/api/v1/queues/{self.queue}"
        if operation == "ack batch":
            return self.api.post("/api/v1/ack/batch", {"acks": [{"job_id": job_id}]})
        if verb == "ack":
            return self.api.post(f"/api/v1/ack/{job_id}", {"agent_status": word} if word else {})
        if verb == "fail":
            return self.api.post(f"/api/v1/fail/{job_id}", {"error": "no"})
        if operation == "heartbeat":
            return self.api.post("/api/v1/heartbeat", {"jobs": {job_id: {"progress": 1}}})
        if operation == "move":
            return self.api.post(path, {"queue": unique("moved")})
        if operation == "replay":
            return self.api.post(path, {"from": 1})
        if operation == "clear queue":
            return self.api.post(queue + "/clear")
        if operation == "delete queue":
            return self.api.delete(queue)
        if operation == "delete":
            return self.api.delete(f"/api/v1/jobs/{job_id}")
        return self.api.post(path)

    def check(self, operation, state, outcome):
        job_id = self.job_in(state, operation)
        before = self.api.job(job_id)
        if operation == "fetch":
            self.assertEqual(self.api.is_claimable(self.queue), outcome == "active")
        elif operation == "replay" and state == "scheduled":
            # It has not run yet, so there is no iteration to start from.
            self.refused(self.operate(operation, job_id), 400, "REPLAY_ERROR")
        else:
            self.check_answer(operation, state, outcome, self.operate(operation, job_id), job_id)
        if outcome == "gone":
            self.refused(self.api.get(f"/api/v1/jobs/{job_id}"), 404, "NOT_FOUND")
        elif outcome in STATES:
            self.assertEqual(self.api.state(job_id), outcome)
        elif operation == "move":
            after = self.api.job(job_id)
            self.assertNotEqual(after.pop("queue"), before.pop("queue"))
            self.assertEqual(after, before)
        else:
            self.assertEqual(self.api.job(job_id), before)

    def check_answer(self, operation, state, outcome, answer, job_id):
        verb = operation.partition(" ")[0]
        if outcome == "E":
            self.refused(answer, 400, CODES[verb], state if verb != "ack" else "not active")
            return
        self.assertEqual(answer.status, 201 if operation == "replay" else 200, answer)
        if operation == "ack batch":
            self.assertEqual(answer.json, {"acked": 0 if outcome == "skip" else 1})
        elif operation == "heartbeat":
            word = "cancel" if outcome == "cancel" else "ok"
            self.assertEqual({key: job["status"] for key, job in answer.json["jobs"].items()}, {job_id: word})
        elif operation == "cancel":
            self.assertEqual(answer.json,
                             {"status": "cancelling" if state == "active" else "cancelled"})
        elif verb == "fail":
            self.assertEqual(answer.json["status"], outcome)
        elif operation == "replay":
            self.assertNotEqual(answer.json["job_id"], job_id)
        else:
            self.assertEqual(answer.json, ANSWERS[verb if verb == "ack" else operation])


def make(operation, state, outcome):
    def test(self):
        self.check(operation, state, outcome)
    test.__doc__ = f"5.2 {operation} on {state}: {outcome}"
    return test


for _cell in cells():
    _name = f"test_{_cell[0].replace(' ', '_')}__{_cell[1]}"
    assert not hasattr(StateTable, _name)
    setattr(StateTable, _name, make(*_cell))


if __name__ == "__main__":
    unittest.main()
