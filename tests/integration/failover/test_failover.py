"""What clients see of a cluster, whichever node they use (http-api.md 1.9, rpc.md 8.3).

All cases use the same three nodes. At the start and end of each case all nodes are up.
"""
import datetime
import json
import threading

from nodes import until

RPC = "/corvo.v1.WorkerService/"


def enqueue(node, queue, payload=None, **more):
    status, answer, headers = node.call("POST", "/api/v1/enqueue",
                                        {"queue": queue, "payload": payload or {}, **more})
    assert status == 201, (node.name, status, answer)
    return answer["job_id"], headers


def fetch(node, queue, timeout=0):
    status, answer, _ = node.call("POST", "/api/v1/fetch", {
        "queues": [queue], "worker_id": "w", "hostname": "h", "timeout": timeout}, timeout=60)
    assert status == 200, (node.name, status, answer)
    return answer


class Later(threading.Thread):
    """A call in progress, on a separate thread."""

    def __init__(self, work):
        super().__init__()
        self.work, self.answer, self.error = work, None, None
        self.start()

    def run(self):
        try:
            self.answer = self.work()
        except BaseException as e:  # noqa: BLE001
            self.error = e

    def result(self):
        self.join()
        if self.error is not None:
            raise self.error
        return self.answer


def parked(node):
    text = node.call("GET", "/api/v1/metrics")[1]
    rows = [line.split()[-1] for line in text.splitlines()
            if line.startswith("corvo_fetches_waiting ")]
    return float(rows[0]) if rows else None


def test_any_node_takes_a_write(nodes):
    leader, followers = nodes.leader(), nodes.followers()
    assert "X-Corvo-Forwarded" not in enqueue(leader, "any")[1]
    for node in followers:
        job, headers = enqueue(node, "any")
        assert headers["X-Corvo-Forwarded"] == "1"
        assert not any(name.lower() in ("x-corvo-index", "x-corvo-peer") for name in headers)
        assert list(headers).count("Access-Control-Allow-Origin") == 1
        assert leader.call("GET", f"/api/v1/jobs/{job}")[0] == 200
    status, answer, headers = followers[0].call("POST", "/api/v1/enqueue", {"queue": ""})
    assert (status, answer["code"]) == (400, "VALIDATION_ERROR")
    assert headers["X-Corvo-Forwarded"] == "1"


def test_loop_is_refused(nodes):
    node = nodes.followers()[0]
    status, answer, _ = node.call("POST", "/api/v1/enqueue", {"queue": "q", "payload": {}},
                                  headers={"X-Corvo-Forwarded": "1"})
    assert (status, answer["code"]) == (503, "FORWARD_LOOP")
    status, answer, _ = node.call("POST", RPC + "Enqueue", {"queue": "q"},
                                  headers={"X-Corvo-Forwarded": "1"})
    assert (status, answer["code"]) == (503, "unavailable")
    assert answer["message"] == "leader forwarding loop detected"


def test_nobody_believes_a_stranger(nodes):
    name = "c0" * 16
    forged = f"1 10.0.0.1 {name} 0 {'0' * 64}"
    ids = {enqueue_forged(nodes.leader(), forged) for _ in range(2)}
    assert len(ids) == 2, "a name that nobody has signed was believed"


def enqueue_forged(node, header):
    status, answer, headers = node.call("POST", "/api/v1/enqueue", {"queue": "q", "payload": {}},
                                        headers={"X-Corvo-Peer": header})
    assert status == 201
    assert "x-corvo-index" not in {key.lower() for key in headers}
    return answer["job_id"]


def test_a_node_reads_what_it_wrote(nodes):
    for node in nodes.followers():
        for _ in range(30):
            job = enqueue(node, "own")[0]
            assert node.call("GET", f"/api/v1/jobs/{job}")[0] == 200


def test_strong_reads_see_everything(nodes):
    for i in range(30):
        writer, reader = nodes.nodes[i % 3], nodes.nodes[(i + 1) % 3]
        job = enqueue(writer, "strong")[0]
        assert reader.call("GET", f"/api/v1/jobs/{job}?consistency=strong")[0] == 200
        assert reader.call("GET", f"/api/v1/jobs/{job}",
                           headers={"X-Corvo-Consistency": "strong"})[0] == 200
    status, answer, _ = nodes.nodes[0].call("GET", "/api/v1/queues?consistency=odd")
    assert (status, answer["code"]) == (400, "VALIDATION_ERROR")


def test_rpc_of_a_follower(nodes):
    leader, node = nodes.leader(), nodes.followers()[0]
    status, answer, headers = node.call("POST", RPC + "Enqueue",
                                        {"queue": "rpc", "payloadJson": "{}"})
    assert status == 200 and answer["jobId"], answer
    assert headers["X-Corvo-Forwarded"] == "1"
    assert node.call("POST", RPC + "GetServerInfo", {})[0] == 200
    status, answer, _ = node.call("POST", RPC + "StreamLifecycle", {
        "requestId": "7", "queues": ["rpc"], "workerId": "w", "fetchCount": 1})
    assert status == 200
    assert answer["error"] == "NOT_LEADER" and answer["requestId"] == "7", answer
    assert answer["leaderAddr"] == leader.url
    assert leader.call("POST", RPC + "StreamLifecycle", {
        "requestId": "8", "queues": ["rpc"], "workerId": "w", "fetchCount": 1})[1]["jobs"]


def test_rpc_has_its_own_limit(nodes):
    """rpc.md 1.4: a message can have 64 MiB, whatever --max-body-size is, also through a follower."""
    node = nodes.followers()[0]
    status, answer, headers = node.call("POST", RPC + "Enqueue", {
        "queue": "rpc", "payloadJson": json.dumps("x" * (17 << 20))})
    assert (status, answer["code"]) == (400, "invalid_argument"), answer
    assert headers["X-Corvo-Forwarded"] == "1"
    most = 64 << 20
    with node.connect() as raw:
        raw.sendall(f"POST {RPC}Enqueue HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                    f"Content-Length: {most + 1}\r\n\r\n".encode())
        seen = b""
        while b"}" not in seen and (more := raw.recv(65536)):
            seen += more
    assert b"resource_exhausted" in seen and b"larger than %d bytes" % most in seen, seen


def test_large_bodies_and_answers(nodes):
    node = nodes.followers()[0]
    text = "x" * 200000
    status, answer, _ = node.call("POST", "/api/v1/enqueue/batch", {
        "jobs": [{"queue": "large", "payload": {"i": i, "t": text}} for i in range(40)]})
    assert status == 201 and len(answer["job_ids"]) == 40, answer
    status, answer, _ = node.call("POST", "/api/v1/fetch/batch", {
        "queues": ["large"], "worker_id": "w", "hostname": "h", "count": 40, "timeout": 1})
    assert status == 200 and len(answer["jobs"]) == 40
    assert all(job["payload"]["t"] == text for job in answer["jobs"])


def test_a_waiting_fetch_hears_of_a_job(nodes):
    first, second = nodes.followers()
    waits = Later(lambda: fetch(first, "wait", 30))
    until(lambda: parked(nodes.leader()))
    job = enqueue(second, "wait")[0]
    assert waits.result()["job_id"] == job


def test_who_goes_gets_nothing(nodes):
    leader, node = nodes.leader(), nodes.followers()[0]
    body = json.dumps({"queues": ["gone"], "worker_id": "w", "hostname": "h", "timeout": 30})
    with node.connect() as s:
        s.sendall(f"POST /api/v1/fetch HTTP/1.1\r\nHost: h\r\nContent-Length: {len(body)}\r\n\r\n"
                  f"{body}".encode())
        until(lambda: parked(leader))
    until(lambda: parked(leader) == 0)
    job = enqueue(node, "gone")[0]
    assert fetch(leader, "gone")["job_id"] == job


def test_waiting_fetches_move_on_with_the_leader(nodes):
    leader, (first, second) = nodes.leader(), nodes.followers()
    waits = [Later(lambda node=node: fetch(node, "moves", 30)) for node in (first, second)]
    until(lambda: parked(leader) == 2)
    leader.kill()
    jobs = {enqueue(first, "moves")[0], enqueue(second, "moves")[0]}
    assert {w.result()["job_id"] for w in waits} == jobs
    leader.start()
    until(leader.answers)


def test_leases_outlive_an_election(nodes):
    leader, (node, _) = nodes.leader(), nodes.followers()
    enqueue(node, "lease")
    status, job, _ = node.call("POST", "/api/v1/fetch", {
        "queues": ["lease"], "worker_id": "w", "hostname": "h", "timeout": 1, "lease_duration": 5})
    assert status == 200 and job["job_id"], job
    leader.kill()
    enqueue(node, "lease")  # wait until there is a leader again
    _, after, _ = node.call("GET", f"/api/v1/jobs/{job['job_id']}?consistency=strong")
    assert after["state"] == "active", after
    ends, began = (datetime.datetime.fromisoformat(after[name].replace("Z", "+00:00"))
                   for name in ("lease_expires_at", "started_at"))
    assert ends - began > datetime.timedelta(seconds=20), after
    assert node.call("POST", f"/api/v1/ack/{job['job_id']}", {})[0] == 200
    leader.start()
    until(leader.answers)


def test_a_leader_that_is_handed_over_keeps_its_clients(nodes):
    leader = nodes.leader()
    waits = Later(lambda: fetch(leader, "handed", 30))
    until(lambda: parked(leader))
    assert leader.call("POST", "/api/v1/cluster/transfer", {})[0] == 200
    until(lambda: nodes.leader() is not leader)
    job = enqueue(leader, "handed")[0]
    assert waits.result()["job_id"] == job


def test_one_answer_across_a_failover(nodes):
    leader, followers = nodes.leader(), nodes.followers()
    leader.pause()
    calls = [Later(lambda n=n, i=i: enqueue(n, "once", {"i": i}))
             for i, n in enumerate(followers * 3)]
    ids = [call.result()[0] for call in calls]
    leader.go_on()
    until(leader.answers)
    assert len(set(ids)) == len(ids)
    status, answer, _ = nodes.leader().call("GET", "/api/v1/queues/once?consistency=strong")
    assert status == 200 and answer["pending"] == len(ids), answer


def test_without_a_majority(nodes):
    alone, *others = nodes.nodes
    logged = len(alone.events("leader proxy failed"))
    for node in others:
        node.pause()
    status, answer, _ = alone.call("POST", "/api/v1/enqueue", {"queue": "alone", "payload": {}},
                                   timeout=40)
    assert status == 503 and answer["code"] in ("LEADER_UNAVAILABLE", "UNKNOWN_OUTCOME"), answer
    event = alone.events("leader proxy failed")[logged]
    assert event["level"] == "WARN" and event["error"] and "target" in event, event
    retry = None
    if answer["code"] == "UNKNOWN_OUTCOME":
        retry = answer["error"].rsplit(" ", 1)[1]
    for node in others:
        node.go_on()
    nodes.leader()
    if retry:  # repeat the request by its name, whatever its outcome was
        ids = set()
        for _ in range(2):
            status, answer, _ = alone.call("POST", "/api/v1/enqueue",
                                           {"queue": "alone", "payload": {}},
                                           headers={"X-Corvo-Operation": retry})
            assert status == 201, answer
            ids.add(answer["job_id"])
        assert len(ids) == 1
        _, answer, _ = nodes.leader().call("GET", "/api/v1/queues/alone?consistency=strong")
        assert answer["pending"] == 1, answer


def test_a_deadline_ends_a_call_that_no_leader_answers(nodes):
    """rpc.md 9: the deadline ends a call that waits for a leader, and one that was forwarded to a leader that no
    longer responds."""
    leader, (alone, other) = nodes.leader(), nodes.followers()
    enqueue(alone, "late")  # so that the node has a connection to the leader
    for node in (leader, other):
        node.pause()
    try:
        for wait in (lambda: True, lambda: alone.status()["leader_id"] == ""):
            until(wait)
            status, answer, _ = alone.call("POST", RPC + "Enqueue", {"queue": "late"},
                                           headers={"Connect-Timeout-Ms": "100"})
            assert (status, answer["code"]) == (504, "deadline_exceeded"), answer
    finally:
        for node in (leader, other):
            node.go_on()
    nodes.leader()


def test_what_was_sent_waits_longer(nodes):
    """A request that has reached a leader may have taken effect, so it is abandoned later than one that reached no
    leader (docs/failover.md): the first is still waiting when the second is refused."""
    leader, (alone, other) = nodes.leader(), nodes.followers()
    enqueue(alone, "sent")  # so that the node has a connection to the leader
    for node in (leader, other):
        node.pause()
    sent = Later(lambda: enqueue(alone, "sent", {"which": "first"}))
    until(lambda: alone.status()["leader_id"] == "")
    status, answer, _ = alone.call("POST", "/api/v1/enqueue", {"queue": "sent", "payload": {}})
    assert (status, answer["code"]) == (503, "LEADER_UNAVAILABLE"), answer
    for node in (leader, other):
        node.go_on()
    job = sent.result()[0]
    assert alone.call("GET", f"/api/v1/jobs/{job}?consistency=strong")[1]["payload"] == {"which": "first"}
    _, answer, _ = nodes.leader().call("GET", "/api/v1/queues/sent?consistency=strong")
    assert answer["pending"] == 2, answer
