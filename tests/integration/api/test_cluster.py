"""Three real processes: they elect leaders, replicate, lose contact and come back.

Every test keeps a ledger of acknowledged jobs. Whatever happens to the nodes, every job in the ledger must
be in the state once, on every member.
"""
import http.client
import itertools
import json
import os
import shutil
import signal
import socket
import tempfile
import threading
import time
import unittest

from harness import PATIENCE_S, Client, Server, metric, pause, run_command, unique, wait_until
from test_rpc import BASE, Stream, envelope, envelopes

SECRET = "correct horse battery staple"
QUICK = ("--election-timeout", "500ms", "--heartbeat-interval", "50ms",
         "--rate-limit-enabled=false", "--log-format", "json")
# A log that is truncated early, so that a node that was away for a while needs a checkpoint.
SHORT_LOG = ("--snapshot-log-bytes", "200000", "--segment-bytes", "262144")


# Below the range of ports that the system assigns to connections. A port in that range could be in use by a connection
# before the server listens on it. Each port is used once.
PORTS = itertools.count(os.getpid() * 97)


def free_port():
    while True:
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                s.bind(("127.0.0.1", 10000 + next(PORTS) % 22000))
                return s.getsockname()[1]
            except OSError:
                continue


class Node(Server):
    """A member. Its peer port and its folder stay the same over restarts."""

    def __init__(self, name, *args, join=None, secret=SECRET, folder=None, env=None):
        self.name = name
        self.peer = f"127.0.0.1:{free_port()}"
        self.api = None
        line = ["--node-id", name, "--raft-bind", self.peer, *QUICK, *args]
        if secret:
            line += ["--cluster-secret", secret]
        if join:
            line += ["--join", ",".join(f"127.0.0.1:{n.port}" for n in join)]
        folder = folder or tempfile.mkdtemp(prefix="corvo-node-")
        super().__init__(*line, data_dir=folder, env=env)

    def start(self):
        super().start()
        self.api = Client(self, {})

    def status(self):
        return self.api.must(self.api.get("/api/v1/cluster/status"))

    def alive(self):
        return self.process.poll() is None

    def discard(self):
        super().discard()

    def remove_folder(self):
        shutil.rmtree(self.folder, ignore_errors=True)


class Cluster:
    """A running cluster. Leaves nothing behind."""

    def __init__(self, count=3, *args):
        self.args, self.nodes = args, []
        try:
            for _ in range(count):
                self.add()
            self.wait_voters(count)
        except BaseException:
            self.discard()
            raise

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.discard()

    def discard(self):
        for node in self.nodes:
            node.process.send_signal(signal.SIGCONT) if node.alive() else None
            node.discard()
            node.remove_folder()

    def add(self, *args, name=None):
        name = name or f"n{len(self.nodes) + 1}"
        running = [n for n in self.nodes if n.alive()]
        # Put the leader first, because a follower does not add a new member.
        running.sort(key=lambda n: n.status()["state"] != "Leader")
        node = Node(name, *self.args, *args, join=running)
        self.nodes.append(node)
        return node

    def running(self):
        return [n for n in self.nodes if n.alive()]

    def leader(self, among=None):
        """Return the node that leads, as reported by itself and by a majority."""
        nodes = among or self.running()

        def look():
            for node in nodes:
                status = node.status()
                if status["state"] == "Leader" and metric(node.api, "corvo_cluster_is_leader") == 1:
                    return node
            return None
        return wait_until(look, "a leader")

    def followers(self):
        leader = self.leader()
        return [n for n in self.running() if n is not leader]

    def wait_voters(self, count):
        def look():
            nodes = self.leader().status()["nodes"]
            return sum(n["voter"] for n in nodes) == count and len(nodes) == count
        wait_until(look, f"{count} voters")

    def wait_same(self, nodes=None):
        """Wait until every node has applied everything that the leader has."""
        nodes = nodes or self.running()

        def look():
            return len({n.status()["applied_index"] for n in nodes}) == 1
        wait_until(look, "the same index everywhere")

    def ids(self, node, queue):
        """Return the jobs of a queue, as this node knows them."""
        found, after = [], None
        while True:
            body = {"queue": queue, "limit": 500, **({"cursor": after} if after else {})}
            page = node.api.must(node.api.post("/api/v1/jobs/search", body))
            found += [j["id"] for j in page["jobs"]]
            after = page.get("cursor")
            if not after:
                return found


class Ledger:
    """A client that continues whatever happens, and records what was acknowledged."""

    def __init__(self, cluster, queue):
        self.cluster, self.queue, self.acknowledged = cluster, queue, []
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        number = 0
        while not self.over.is_set():
            for node in self.cluster.running():
                number += 1
                body = json.dumps({"queue": self.queue, "payload": {"number": number}})
                connection = http.client.HTTPConnection("127.0.0.1", node.port or 1, timeout=5)
                try:
                    connection.request("POST", "/api/v1/enqueue", body)
                    response = connection.getresponse()
                    text = response.read()
                    if response.status < 300:
                        self.acknowledged.append(json.loads(text)["job_id"])
                except (OSError, http.client.HTTPException):
                    pass
                finally:
                    connection.close()

    def wait_more(self, count=5):
        """Wait until count more jobs are acknowledged."""
        want = len(self.acknowledged) + count
        wait_until(lambda: len(self.acknowledged) >= want, "acknowledged jobs")

    def stop(self):
        self.over.set()
        self.thread.join()
        return self.acknowledged


class TestThreeNodes(unittest.TestCase):
    takes_long = True

    def test_everybody_has_what_was_acknowledged(self):
        with Cluster() as cluster:
            queue = unique("q")
            leader = cluster.leader()
            ids = [leader.api.enqueue(queue) for _ in range(20)]
            cluster.wait_same()
            for node in cluster.nodes:
                self.assertEqual(sorted(cluster.ids(node, queue)), sorted(ids))
            follower = cluster.followers()[0].status()
            self.assertEqual((follower["state"], follower["leader_id"]),
                             ("Follower", leader.name))
            self.assertEqual(follower["leader_url"], f"http://127.0.0.1:{leader.port}")
            for node in leader.status()["nodes"]:
                self.assertEqual((node["voter"], node["status"]), (True, "healthy"), node)

    def report_and_delete(self, node, queue, **usage):
        job = node.api.enqueue(queue)
        node.api.fetch(queue)
        node.api.ack(job, usage=usage)
        node.api.must(node.api.delete(f"/api/v1/jobs/{job}"))
        return node.api.must(node.api.get("/api/v1/usage/summary"))["totals"]["count"]

    def test_usage_is_the_same_everywhere(self):
        """Also of deleted jobs, and under a new leader."""
        with Cluster() as cluster:
            queue = unique("q")
            old = cluster.leader()
            wait_until(lambda: self.report_and_delete(old, "first", model="m") > 0,
                       "the leader knows what the others read")
            self.report_and_delete(old, queue, cost_usd=0.25)
            old.kill()
            self.report_and_delete(cluster.leader(), queue, cost_usd=0.5)
            old.start()
            cluster.wait_same()
            for node in cluster.nodes:
                found = node.api.must(node.api.get("/api/v1/usage/summary?group_by=queue"))
                self.assertEqual([(g["key"], g["cost_usd"]) for g in found["groups"]][:1],
                                 [(queue, 0.75)])

    def test_kill_of_the_leader_loses_nothing(self):
        with Cluster() as cluster:
            queue = unique("q")
            ledger = Ledger(cluster, queue)
            try:
                for _ in range(3):
                    ledger.wait_more()
                    old = cluster.leader()
                    old.kill()
                    cluster.leader()
                    ledger.wait_more()
                    old.start()
            finally:
                acknowledged = ledger.stop()
            cluster.leader()
            cluster.wait_same()
            for node in cluster.nodes:
                ids = cluster.ids(node, queue)
                self.assertEqual(len(ids), len(set(ids)))
                self.assertLessEqual(set(acknowledged), set(ids))

    def test_a_stop_hands_leadership_over(self):
        with Cluster() as cluster:
            leader = cluster.leader()
            leader.terminate()
            self.assertTrue(leader.events("leadership_handed_over"))
            after = cluster.leader()
            self.assertIsNot(after, leader)
            leader.start()
            cluster.wait_voters(3)

    def test_a_leader_short_of_disk_space_lets_another_lead(self):
        with Cluster() as cluster:
            short = cluster.leader()
            short.terminate()
            free = shutil.disk_usage(short.folder).free
            short.args += ("--free-space-min", str(free // 4 * 5))  # too little for new jobs, enough for acks
            short.start()
            cluster.wait_voters(3)
            said = "leadership goes to a node with more disk space"

            def has_led():  # ask again: the others may not be connected to it yet, and do not vote for it then
                api = cluster.leader().api
                return short.events(said) or api.post("/api/v1/cluster/transfer", {"node_id": short.name}).status == 0
            wait_until(has_led, "the node with too little space leads and gives it up")
            wait_until(lambda: short.status()["state"] == "Follower", "another node leads")
            self.assertIn(short.events(said)[0]["node_id"], [n.name for n in cluster.nodes if n is not short])
            for node in cluster.nodes:
                node.api.enqueue("q")
            self.assertEqual([n.events(said) for n in cluster.nodes if n is not short], [[], []])

    def test_a_leader_without_majority_refuses(self):
        with Cluster() as cluster:
            leader, *others = [cluster.leader(), *cluster.followers()]
            for node in others:
                pause(node.process)
            try:
                wait_until(lambda: leader.status()["state"] != "Leader", "it steps down")
                answer = leader.api.post("/api/v1/enqueue", {"queue": "q"})
                self.assertEqual((answer.status, answer.json["code"]),
                                 (503, "LEADER_UNAVAILABLE"))
                # It is already asking for votes, which is no reason to restart it.
                wait_until(lambda: leader.api.get("/healthz").json["raft_state"] == "Candidate", "a candidate")
                health = leader.api.get("/healthz")
                self.assertEqual((health.status, health.json["status"], health.json["leader"]), (200, "ok", False))
            finally:
                for node in others:
                    node.process.send_signal(signal.SIGCONT)
            cluster.leader().api.enqueue("q")

    def test_a_follower_knows_the_keys_that_it_made(self):
        """3.1: a client that got a key can use it at once at the same node. A deleted key works for nobody."""
        with Cluster() as cluster:
            api = cluster.followers()[0].api
            for n in range(10):
                made = api.must(api.post("/api/v1/auth/keys", {"name": f"k{n}", "role": "admin"}))
                user = api.with_headers(X_API_Key=made["api_key"])
                self.assertEqual(user.get("/api/v1/queues").status, 200, n)
                if n == 0:
                    api = user  # the first key closes the cluster to everybody else
                    continue
                self.assertEqual(user.post("/api/v1/auth/session", {"credential": made["api_key"]}).status, 200)
                api.must(api.request("DELETE", "/api/v1/auth/keys", {"key_hash": made["key_hash"]}))
                self.assertEqual(user.get("/api/v1/queues").status, 401, n)

    def test_a_follower_counts_what_it_was_told(self):
        """20.5, 20.6: the counters of a follower include what it has acknowledged."""
        with Cluster() as cluster:
            follower = cluster.followers()[0]
            for n in range(1, 11):
                follower.api.enqueue("q")
                minutes = follower.api.must(follower.api.get("/api/v1/metrics/throughput"))
                self.assertEqual(sum(m["enqueued"] for m in minutes), n * 2 - 1)
                follower.api.enqueue("q2")
                self.assertEqual(metric(follower.api, "corvo_throughput_enqueued_total"), n * 2)

    def test_a_follower_makes_what_the_first_who_asks_makes(self):
        """19, 18.4: the organization and the namespace default exist for every client, at any node."""
        for path in ("/api/v1/org", "/api/v1/namespaces"):
            with self.subTest(path), Cluster() as cluster:
                for node in (cluster.followers()[0], cluster.leader()):
                    answer = node.api.get(path)
                    self.assertEqual(answer.status, 200, answer.json)

    def test_followers_do_not_wait_for_a_heartbeat(self):
        """1.9: acknowledged entries reach the followers as soon as possible."""
        heartbeat_s = 5
        with Cluster(3, "--heartbeat-interval", f"{heartbeat_s}s", "--election-timeout", "20s") as cluster:
            leader, *followers = [cluster.leader(), *cluster.followers()]
            begun = time.monotonic()
            for _ in range(5):
                job_id = leader.api.enqueue("q")
                for node in followers:
                    wait_until(lambda: node.api.get(f"/api/v1/jobs/{job_id}").status == 200, "the job")
            self.assertLess(time.monotonic() - begun, heartbeat_s)

    def test_leadership_goes_where_it_is_sent(self):
        with Cluster() as cluster:
            target = cluster.followers()[0]
            api = cluster.leader().api
            api.must(api.post("/api/v1/cluster/transfer", {"node_id": target.name}))
            wait_until(lambda: target.status()["state"] == "Leader", "the target leads")
            answer = target.api.post("/api/v1/cluster/transfer", {"node_id": "nobody"})
            self.assertEqual((answer.status, answer.json["code"]), (404, "NOT_FOUND"))

    def test_states_are_compared(self):
        with Cluster() as cluster:
            api = cluster.leader().api
            for _ in range(40):
                api.enqueue("q")
            for node in cluster.nodes:
                wait_until(lambda n=node: metric(n.api, "corvo_state_hash_compared_total") > 0,
                           "a comparison")
                self.assertEqual(metric(node.api, "corvo_state_hash_differed_total"), 0)
                self.assertFalse(node.status()["quarantined"])


class TestMembers(unittest.TestCase):
    takes_long = True

    def test_a_fourth_joins_and_one_goes(self):
        with Cluster() as cluster:
            queue = unique("q")
            ids = [cluster.leader().api.enqueue(queue) for _ in range(5)]
            fourth = cluster.add()
            cluster.wait_voters(4)
            self.assertEqual(sorted(cluster.ids(fourth, queue)), sorted(ids))
            gone = [n for n in cluster.followers() if n is not fourth][0]
            api = cluster.leader().api
            api.must(api.delete(f"/api/v1/cluster/nodes/{gone.name}"))
            cluster.wait_voters(3)
            wait_until(lambda: gone.status()["removed"], "it learns that it was removed")
            self.assertEqual(gone.api.post("/api/v1/enqueue", {"queue": "q"}).status, 503)
            ready = gone.api.get("/readyz")
            self.assertEqual((ready.status, ready.json["error"]),
                             (503, "this node was removed from the cluster; use another node"))

    def test_the_leader_leaves(self):
        with Cluster() as cluster:
            leader = cluster.leader()
            leader.api.must(leader.api.post("/api/v1/cluster/leave"))
            others = [n for n in cluster.nodes if n is not leader]

            def gone():
                names = [n["id"] for n in cluster.leader(others).status()["nodes"]]
                return leader.name not in names
            wait_until(gone, "the others are alone")
            cluster.leader(others).api.enqueue("q")

    def test_the_last_one_stays(self):
        with Cluster(1) as cluster:
            answer = cluster.nodes[0].api.post("/api/v1/cluster/leave")
            self.assertEqual((answer.status, answer.json["code"]), (409, "CONFLICT"))

    def test_a_session_shows_the_address_of_who_signed_in(self):
        """Not that of the node that forwarded the sign-in to the leader."""
        with Cluster(2) as cluster:
            leader, follower = cluster.leader().api, cluster.followers()[0]
            key = leader.must(leader.post("/api/v1/auth/keys", {"name": "k", "role": "admin"}))["api_key"]
            connection = http.client.HTTPConnection("127.0.0.1", follower.port, source_address=("127.0.0.9", 0))
            connection.request("POST", "/api/v1/auth/session", json.dumps({"credential": key}))
            self.assertEqual(connection.getresponse().status, 200)
            connection.close()
            sessions = leader.must(leader.get("/api/v1/auth/sessions", {"X-API-Key": key}))
            self.assertEqual([s["address"] for s in sessions], ["127.0.0.9"])

    def test_what_a_follower_refuses_is_written_down(self):
        """18.3: an entry for each refused attempt, whichever node refused it. Nobody else can create one."""
        with Cluster(2) as cluster:
            leader, follower = cluster.leader().api, cluster.followers()[0]
            key = leader.must(leader.post("/api/v1/auth/keys", {"name": "k", "role": "admin"}))["api_key"]
            nobody, admin = follower.client(), follower.client(**{"X-API-Key": key})
            wait_until(lambda: nobody.get("/api/v1/queues").status == 401, "the follower knows of the key")
            self.assertEqual(nobody.post("/api/v1/queues/theirs/pause?x=1").status, 401)
            found = wait_until(lambda: admin.must(admin.get(
                "/api/v1/audit-logs?path_prefix=/api/v1/queues/theirs"))["audit_logs"], "an entry")
            self.assertEqual([(e["method"], e["path"], e["status_code"], e["principal"], e["metadata"]["query"])
                              for e in found], [("POST", "/api/v1/queues/theirs/pause", 401, None, "x=1")])
            for node in cluster.nodes:
                forged = node.client(**{"X-API-Key": key})
                answer = forged.post("/api/v1/cluster/audit", {"method": "GET", "path": "/forged", "status": 401})
                self.assertEqual(answer.status, 403, answer)
            entries = admin.must(admin.get("/api/v1/audit-logs?limit=1000"))["audit_logs"]
            self.assertNotIn("/forged", [e["path"] for e in entries])

    def test_what_the_leader_does_for_a_follower_is_written_down_once(self):
        with Cluster(2) as cluster:
            leader, follower = cluster.leader().api, cluster.followers()[0].api
            follower.must(follower.post("/api/v1/queues/theirs/pause"))
            self.assertEqual(follower.post("/api/v1/queues/theirs/throttle", {"rate": -1}).status, 400)
            for client in (leader, follower):
                found = client.must(client.get("/api/v1/audit-logs?path_prefix=/api/v1/queues&consistency=strong"))
                self.assertEqual([e["status_code"] for e in found["audit_logs"]], [400, 200])
            self.assertEqual(follower.delete("/api/v1/nowhere").status, 404)
            wait_until(lambda: leader.must(leader.get("/api/v1/audit-logs?path_prefix=/api/v1/nowhere"))["total"] == 1)
            self.assertEqual(cluster.followers()[0].events("audit entries lost"), [])

    def test_a_reader_has_no_vote(self):
        with Cluster() as cluster:
            cluster.add("--non-voter", name="reader")
            queue = unique("q")
            cluster.leader().api.enqueue(queue)
            cluster.wait_same()
            nodes = {n["id"]: n for n in cluster.leader().status()["nodes"]}
            self.assertEqual((nodes["reader"]["voter"], nodes["reader"]["role"]),
                             (False, "Standby"))
            self.assertEqual(len(cluster.ids(cluster.nodes[-1], queue)), 1)

    def test_a_lost_folder_is_not_the_same_node(self):
        with Cluster() as cluster:
            lost = cluster.followers()[0]
            lost.kill()
            lost.remove_folder()
            refused = run_command("server", "--data-dir", lost.folder, "--bind", "127.0.0.1:0",
                                  "--free-space-min", "0", *lost.args)
            self.assertEqual(refused.returncode, 1)
            self.assertIn("is already a member; if it lost its data directory", refused.stderr)
            # After the old node is removed, the new one may join.
            lost.remove_folder()
            api = cluster.leader().api
            api.must(api.delete(f"/api/v1/cluster/nodes/{lost.name}"))
            cluster.wait_voters(2)
            lost.start()
            cluster.wait_voters(3)

    def test_another_secret_is_refused(self):
        with Cluster(1) as cluster:
            first = cluster.nodes[0]
            line = ("server", "--bind", "127.0.0.1:0", "--free-space-min", "0", "--node-id", "x",
                    "--raft-bind", f"127.0.0.1:{free_port()}", "--join",
                    f"127.0.0.1:{first.port}", "--log-format", "json")
            with tempfile.TemporaryDirectory() as folder:
                wrong = run_command(*line, "--data-dir", folder, "--cluster-secret",
                                    "another secret of a stranger")
            self.assertEqual(wrong.returncode, 1)
            self.assertIn("cluster secret", wrong.stderr)
            self.assertEqual(len(first.status()["nodes"]), 1)

    def test_strangers_on_the_peer_port(self):
        """Random data, a silent connection and a frame that is too long do not disturb the node."""
        with Cluster(1) as cluster:
            host, port = cluster.nodes[0].peer.split(":")
            noise = (b"GET / HTTP/1.1\r\n\r\n", os.urandom(4096), b"CRVP\x01\x01\0\0\xff\xff\xff\xff"
                     + bytes(12), b"CRVP\x01\x01\0\0\0\0\0\0" + bytes(12))
            for bytes_ in noise:
                with socket.create_connection((host, int(port)), timeout=PATIENCE_S) as s:
                    s.sendall(bytes_)
                    self.assertEqual(s.recv(1), b"")
            cluster.nodes[0].api.enqueue("q")


class TestStreams(unittest.TestCase):
    takes_long = True

    def test_a_follower_with_too_many_streams_names_the_leader(self):
        """rpc.md 11.1: leadership is checked before streams are counted."""
        with Cluster(2, "--stream-max-open", "1") as cluster:
            leader, follower = cluster.leader(), cluster.followers()[0]
            first = Stream(follower)
            self.addCleanup(first.close)
            wait_until(lambda: metric(follower.api, "corvo_lifecycle_streams_open") == 1, "the first stream")
            second = Stream(follower)
            self.addCleanup(second.close)
            self.assertEqual(second.next(), {"error": "NOT_LEADER",
                                             "leaderAddr": f"http://127.0.0.1:{leader.port}"})
            self.assertEqual(second.next(), ({},))
            self.assertEqual(metric(follower.api, "corvo_lifecycle_streams_open"), 1)
            self.assertEqual(first.frame(requestId=1)["error"], "NOT_LEADER")

    def test_a_follower_forwards_who_asks_for_it(self):
        """rpc.md 8.3, 11.9: a stream and a single exchange. Without the header, the response names the leader."""
        with Cluster(2) as cluster:
            leader, follower = cluster.leader(), cluster.followers()[0]
            proxied, message = {"X-Corvo-Proxy-Stream": "1"}, {"requestId": "1", "enqueues": [{"queue": "q"}]}

            def exchange(**headers):
                return follower.api.send("POST", BASE + "StreamLifecycle", json.dumps(message).encode(),
                                         {"Content-Type": "application/json", **headers})
            self.assertEqual(exchange().json, {"requestId": "1", "error": "NOT_LEADER",
                                               "leaderAddr": f"http://127.0.0.1:{leader.port}"})
            answer = exchange(**proxied)
            self.assertEqual((len(answer.json["enqueuedJobIds"]), answer.headers["x-corvo-forwarded"]), (1, "1"))
            looped = exchange(**proxied, **{"X-Corvo-Forwarded": "1"})
            self.assertEqual((looped.status, looped.json["code"]), (503, "unavailable"))
            stream = Stream(follower, [("x-corvo-proxy-stream", "1")])
            self.addCleanup(stream.close)
            self.assertEqual(len(stream.frame(**message)["enqueuedJobIds"]), 1)
            self.assertEqual(leader.api.queue("q")["pending"], 2)

    def test_a_forwarded_stream_ends_in_its_protocol(self):
        """rpc.md 8.6: when the leader dies, the follower ends the stream, and does not cut it."""
        with Cluster(3) as cluster:
            leader, follower = cluster.leader(), cluster.followers()[0]
            proxied = [("x-corvo-proxy-stream", "1")]
            stream = Stream(follower, proxied)
            self.addCleanup(stream.close)
            web = [("content-type", f"application/{kind}+json") for kind in ("grpc-web", "grpc")]
            connection = stream.connection
            others = [connection.open(BASE + "StreamLifecycle", [kind, *proxied]) for kind in web]
            self.assertEqual(stream.frame(requestId=1), {"requestId": "1"})
            for other in others:
                connection.data(other, envelope(b'{"requestId":2}'))
                while not envelopes(connection.body.get(other, b"")):
                    connection.read()
            leader.kill()
            self.assertEqual(stream.next(), ({"error": {"code": "unavailable", "message": "leader proxy unavailable"}},))
            (_, body), (_, plain) = [connection.answer(other) for other in others]
            self.assertEqual(envelopes(body)[1:],
                             [(0x80, b"grpc-status: 14\r\ngrpc-message: leader proxy unavailable\r\n")])
            self.assertEqual(envelopes(plain), [(0, b'{"requestId":"2"}')])  # trailers follow


class TestCatchingUp(unittest.TestCase):
    takes_long = True

    def fill(self, node, queue, rounds):
        for _ in range(rounds):
            node.api.enqueue_batch([{"queue": queue, "payload": {"x": "y" * 500}}] * 100)

    def test_who_was_away_gets_a_checkpoint(self):
        with Cluster(3, *SHORT_LOG) as cluster:
            queue = unique("q")
            away = cluster.followers()[0]
            away.kill()
            self.fill(cluster.leader(), queue, 40)
            away.start()
            wait_until(lambda: metric(away.api, "corvo_checkpoint_fetches_total") > 0,
                       "a checkpoint")
            cluster.wait_same()
            self.assertEqual(len(cluster.ids(away, queue)), 4000)

    def test_a_running_node_exchanges_its_state(self):
        """Readers continue while the state under them is replaced."""
        with Cluster(3, *SHORT_LOG) as cluster:
            queue = unique("q")
            self.fill(cluster.leader(), queue, 2)
            cluster.wait_same()
            behind = cluster.followers()[0]
            over = threading.Event()
            wrong = []

            def read():
                api = Client(behind, {})
                job = cluster.ids(behind, queue)[0]
                while not over.is_set():
                    for path in (f"/api/v1/jobs/{job}", "/api/v1/queues"):
                        answer = api.get(path)
                        if answer.status != 200:
                            wrong.append(answer)
                api.close()

            pause(behind.process)
            try:
                # Write until the leader gives up on the node, and then until the log no longer reaches back to it.
                leader = cluster.leader([n for n in cluster.nodes if n is not behind])

                def given_up():
                    self.fill(leader, queue, 5)
                    return any(n["id"] == behind.name and n.get("error")
                               for n in leader.status()["nodes"])
                wait_until(given_up, "it is given up")
                self.fill(leader, queue, 40)
            finally:
                behind.process.send_signal(signal.SIGCONT)
            readers = [threading.Thread(target=read) for _ in range(3)]
            for reader in readers:
                reader.start()
            try:
                wait_until(lambda: metric(behind.api, "corvo_checkpoint_fetches_total") > 0,
                           "a checkpoint")
                cluster.wait_same()
            finally:
                over.set()
                for reader in readers:
                    reader.join()
            self.assertEqual(wrong, [])
            want = len(cluster.ids(leader, queue))
            self.assertEqual(len(cluster.ids(behind, queue)), want)
            behind.terminate()
            behind.start()
            self.assertEqual(len(cluster.ids(behind, queue)), want)


class TestSettings(unittest.TestCase):
    def test_what_does_not_go_together(self):
        for args, word in ((("--cluster-secret", "short"), "cluster-secret"),
                           (("--peer-tls-cert", "x.pem"), "peer-tls-cert"),
                           (("--bootstrap=false",), "bootstrap"),
                           (("--bootstrap-expect", "3"), "bootstrap-expect"),
                           (("--election-timeout", "100ms"), "election-timeout"),
                           (("--discover", "dns"), "discover")):
            with self.subTest(args):
                refused = run_command("server", *args)
                self.assertEqual(refused.returncode, 1)
                self.assertIn(word, refused.stderr)

    def test_without_a_secret_on_loopback_only(self):
        port = free_port()
        with Server("--raft-bind", f":{port}", "--log-format", "json") as server:
            self.assertTrue(server.events("peer port on loopback only"))
            with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S):
                pass

    def test_any_loopback_address_is_kept(self):
        port = free_port()
        with Server(env={"RAFT_HOST": "127.0.0.2", "RAFT_PORT": str(port)}) as server:
            with socket.create_connection(("127.0.0.2", port), timeout=PATIENCE_S):
                pass
            with self.assertRaises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
            status = server.client().get("/api/v1/cluster/status").json
            self.assertEqual(status["nodes"][0]["address"], f"127.0.0.2:{port}")

    def test_a_folder_from_before_is_a_cluster_of_one(self):
        """In early versions every node was number 1, and no file contained the number."""
        with tempfile.TemporaryDirectory() as folder:
            identity = os.path.join(folder, "identity")
            with open(identity, "w", encoding="ascii") as file:
                file.write(f"corvo identity 1\nnode {1:016x}\ncluster {0:016x}\n")
            with Server(data_dir=folder) as server:
                job = server.client().enqueue("q")
            os.remove(identity)
            with Server(data_dir=folder) as server:
                api = server.client()
                api.must(api.get(f"/api/v1/jobs/{job}"))
                node, = api.must(api.get("/api/v1/cluster/status"))["nodes"]
                self.assertEqual(node["raft_id"], f"{1:016x}")
            self.assertTrue(os.path.exists(identity))

    def test_the_state_hash_is_known_after_a_restart(self):
        """The hash is computed only at certain entries. Before the first of them, it is that of the last applied
        entry."""
        with tempfile.TemporaryDirectory() as folder:
            found = []
            for _ in range(2):
                with Server(data_dir=folder) as server:
                    api = server.client()
                    if not found:
                        api.enqueue("q")
                    found.append(api.must(api.get("/api/v1/cluster/status"))["state_hash"])
            for hash in found:
                self.assertGreater(hash["index"], 0)
                self.assertNotEqual(hash["hash"], "0" * 16)

    def test_a_folder_without_its_identity_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            with Server(data_dir=folder) as server:
                server.client().enqueue("q")
            os.remove(os.path.join(folder, "identity"))
            refused = run_command("server", "--bind", "127.0.0.1:0", "--data-dir", folder,
                                  "--free-space-min", "0")
            self.assertEqual(refused.returncode, 1)
            self.assertIn("'identity' is missing", refused.stderr)


if __name__ == "__main__":
    unittest.main()
