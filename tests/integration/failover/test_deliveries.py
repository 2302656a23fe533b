"""Jobs that the server delivers while leaders are lost (scheduler.md 7).

A thousand calls are in progress when the leader is killed or cut off. The target records every call: no job is
lost, none is called again after its end was committed, and every abandoned attempt is recorded in its job.
"""
import asyncio
import collections
import threading

from nodes import until

CALLS = 1000
ENDED = 300  # number of calls that end before the leader is lost
PATIENCE_S = 300


class Target:
    """Accepts calls and responds to them when answer() allows it. Each of its addresses counts as a different host."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self.calls = collections.defaultdict(list)  # key: numbers of its attempts
        self.released, self.open = set(), False
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.port = asyncio.run_coroutine_threadsafe(self._listen(), self.loop).result()

    async def _listen(self):
        self.changed, self.tasks = asyncio.Condition(), set()
        self.server = await asyncio.start_server(self._serve, "0.0.0.0", 0, backlog=2 * CALLS)
        return self.server.sockets[0].getsockname()[1]

    async def _serve(self, reader, writer):
        self.tasks.add(asyncio.current_task())
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")[1:-2]
                headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in head)}
                await reader.readexactly(int(headers["content-length"]))
                key = headers["idempotency-key"]
                self.calls[key].append(int(headers["x-corvo-attempt"]))
                async with self.changed:
                    await self.changed.wait_for(lambda: self.open or key in self.released)
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            self.tasks.discard(asyncio.current_task())
            writer.close()

    def answer(self, keys=None):
        """Respond to the calls with these keys, or without keys to all calls from now on."""
        async def release():
            async with self.changed:
                self.released |= set(keys or ())
                self.open = keys is None
                self.changed.notify_all()
        asyncio.run_coroutine_threadsafe(release(), self.loop).result()

    def close(self):
        async def stop():
            self.server.close()
            for task in list(self.tasks):
                task.cancel()
            await asyncio.gather(*self.tasks, return_exceptions=True)
        asyncio.run_coroutine_threadsafe(stop(), self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()


def enqueue_all(nodes, target, queue):
    """Enqueue each job for a different host, so that no call is slowed down by others."""
    ids = []
    for first in range(0, CALLS, 100):
        status, answer, _ = nodes.leader().call("POST", "/api/v1/enqueue/batch", {"jobs": [
            {"queue": queue, "payload": {"n": n}, "max_retries": 20, "retry_base_delay": "10ms",
             "push": {"url": f"http://{nodes.net.host(n)}:{target.port}/", "timeout": "15s"}}
            for n in range(first, first + 100)]}, timeout=120)
        assert status == 201, (status, answer)
        ids += answer["job_ids"]
    return ids


def job_of(nodes, job_id):
    status, job, _ = nodes.leader().call("GET", f"/api/v1/jobs/{job_id}", timeout=120)
    assert status == 200, (job_id, status, job)
    return job


def count_in(nodes, queue, state):
    status, answer, _ = nodes.leader().call("GET", f"/api/v1/queues/{queue}", timeout=120)
    assert status == 200, (queue, status, answer)
    return answer[state]


def disturbed(nodes, queue, disturb, repair):
    target = Target()
    try:
        ids = enqueue_all(nodes, target, queue)
        until(lambda: len(target.calls) == CALLS, PATIENCE_S)
        done = sorted(target.calls)[:ENDED]
        target.answer(done)
        until(lambda: count_in(nodes, queue, "completed") >= ENDED, PATIENCE_S)
        old = nodes.leader()
        disturb(old)
        until(lambda: any(n.leads() for n in nodes.nodes if n is not old), PATIENCE_S)
        repair(old)
        target.answer()
        until(lambda: count_in(nodes, queue, "completed") == CALLS, PATIENCE_S)
        check(nodes, target, ids, done)
    finally:
        target.close()


def check(nodes, target, ids, done):
    abandoned = 0
    for job_id in ids:
        job = job_of(nodes, job_id)
        keys = [key for key in target.calls if key.startswith(job_id + ":")]
        assert len(keys) == 1, (job_id, keys)  # one run has one key
        outcomes = [attempt["outcome"] for attempt in job["push_attempts"]]
        assert len(outcomes) == job["attempt"] and outcomes[-1] == "completed", (job_id, job["attempt"], outcomes)
        assert set(outcomes[:-1]) <= {"timeout", "failed"}, (job_id, outcomes)
        calls = target.calls[keys[0]]
        assert len(calls) == len(set(calls)) <= job["attempt"], (job_id, calls, outcomes)
        abandoned += outcomes.count("timeout")
        if keys[0] in done:
            assert calls == [1] and outcomes == ["completed"], (job_id, calls, outcomes)
    assert abandoned > 0


def test_deliveries_when_the_leader_is_killed(nodes):
    disturbed(nodes, "calls-killed", lambda old: old.kill(), lambda old: old.start())


def test_deliveries_when_the_leader_is_cut_off(nodes):
    disturbed(nodes, "calls-cut-off", nodes.isolate, lambda old: nodes.heal())
