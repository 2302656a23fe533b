"""An operator's commands for clusters, and a node with a different state."""
import os
import pathlib
import shutil
import signal
import tempfile
import threading
import unittest

from harness import Client, metric, pause, run_command, unique, wait_until
from test_cluster import Cluster, Node, free_port


# Resolves one name to three addresses. tests/CMakeLists.txt builds it beside the program.
NAMES = os.path.join(os.path.dirname(os.environ.get("CORVO_BINARY", "")), "tests/libnames.so")


def corvo(node, *args):
    """Run a command of the CLI against one node."""
    return run_command(*args, "--server", f"http://127.0.0.1:{node.port}")


class TestCommands(unittest.TestCase):
    takes_long = True

    def must(self, run):
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return run.stdout

    def test_transfer(self):
        with Cluster() as cluster:
            target, other = cluster.followers()
            # Any node accepts the command.
            self.assertIn(target.name, self.must(corvo(other, "cluster", "transfer", target.name)))
            wait_until(lambda: cluster.leader() is target, "the target leads")
            nobody = corvo(other, "cluster", "transfer", "nobody")
            self.assertEqual(nobody.returncode, 1)
            self.assertIn("nobody", nobody.stderr)

    def test_leave_and_come_back(self):
        with Cluster() as cluster:
            gone, other = cluster.followers()
            queue = unique("q")
            cluster.leader().api.enqueue(queue)
            self.must(corvo(other, "cluster", "leave", gone.name))
            cluster.wait_voters(2)
            wait_until(lambda: gone.status()["removed"], "it learns that it was removed")
            verify = corvo(gone, "cluster", "verify")
            self.assertEqual(verify.returncode, 1, verify.stdout)
            # Join again with an empty folder, under the same name.
            gone.kill()
            gone.remove_folder()
            gone.start()
            cluster.wait_voters(3)
            cluster.wait_same()
            self.assertEqual(len(cluster.ids(gone, queue)), 1)
            # The node publishes the URL of its API once it serves. That is soon in the log.
            wait_until(lambda: corvo(other, "cluster", "verify").returncode == 0, "nothing wrong")
            self.assertIn("3 nodes, no problems found", self.must(corvo(other, "cluster", "verify")))

    def test_who_is_asked_to_leave_leaves(self):
        """And not the leader to which the request is forwarded."""
        with Cluster() as cluster:
            gone, leader = cluster.followers()[0], cluster.leader()
            gone.api.must(gone.api.post("/api/v1/cluster/leave"))
            wait_until(lambda: gone.status()["removed"], "it is gone")
            cluster.wait_voters(2)
            self.assertIs(cluster.leader(), leader)
            # A client cannot pretend to be another node.
            other = [n for n in cluster.nodes if n not in (gone, leader)][0]
            api = other.api.with_headers(X_Corvo_Node=leader.name)
            self.assertEqual(api.post("/api/v1/cluster/leave").status, 200)
            cluster.wait_voters(1)
            self.assertEqual([n["id"] for n in leader.status()["nodes"]], [leader.name])

    def test_the_leader_is_told_to_leave(self):
        with Cluster() as cluster:
            leader, (other, _) = cluster.leader(), cluster.followers()
            self.must(corvo(other, "cluster", "leave", leader.name))
            others = [n for n in cluster.nodes if n is not leader]

            def gone():
                nodes = cluster.leader(others).status()["nodes"]
                return leader.name not in [n["id"] for n in nodes]
            wait_until(gone, "the others are alone")
            cluster.leader(others).api.enqueue("q")

    def test_remove_of_a_dead_node(self):
        with Cluster() as cluster:
            dead, other = cluster.followers()
            dead.kill()
            self.must(corvo(other, "cluster", "remove", dead.name))
            cluster.wait_voters(2)
            self.assertEqual(corvo(other, "cluster", "remove", dead.name).returncode, 1)
            # It comes back and learns that it was removed.
            dead.start()
            wait_until(lambda: dead.status()["removed"], "it learns that it was removed")
            self.assertEqual(dead.api.post("/api/v1/enqueue", {"queue": "q"}).status, 503)
            self.assertEqual(sum(n["voter"] for n in cluster.leader([other, *[
                n for n in cluster.nodes if n not in (dead, other)]]).status()["nodes"]), 2)

    @staticmethod
    def files(node):
        return {path: path.read_bytes() for path in sorted(pathlib.Path(node.folder).rglob("*")) if path.is_file()}

    @staticmethod
    def leave_unfinished(node):
        """Simulate a power cut during writes: an incomplete end of the log, and only one copy of the ballot."""
        raft = pathlib.Path(node.folder, "raft")
        # The newest segment with records. Others are spares.
        segment = max((p for p in (raft / "log").iterdir() if p.is_file() and p.read_bytes().strip(b"\0")),
                      key=lambda p: p.stat().st_mtime_ns)
        end = len(segment.read_bytes().rstrip(b"\0"))
        with segment.open("r+b") as file:
            file.seek(end // 4096 * 4096 + 2 * 4096)
            file.write(b"unfinished")
        with (raft / "ballot").open("r+b") as file:
            file.seek(4096)
            file.write(b"unfinished")

    def test_recover(self):
        """A majority is lost forever: one survivor continues alone, and others join it."""
        with Cluster() as cluster:
            queue = unique("q")
            ids = [cluster.leader().api.enqueue(queue) for _ in range(10)]
            cluster.wait_same()
            survivor, lost, lost_too = cluster.nodes
            before = survivor.status()["cluster_id"]
            lost.kill()
            lost_too.kill()
            refused = run_command("cluster", "recover", "--data-dir", survivor.folder, "--yes")
            self.assertEqual(refused.returncode, 1, "a server uses the folder")
            survivor.kill()
            self.leave_unfinished(survivor)
            had = self.files(survivor)
            shown = run_command("cluster", "recover", "--data-dir", survivor.folder)
            self.assertIn("LOST", shown.stdout)
            self.assertEqual([str(path) for path, bytes in self.files(survivor).items() if had.get(path) != bytes], [])
            survivor.start()  # nothing was changed
            self.assertEqual(survivor.status()["cluster_id"], before)
            survivor.kill()
            self.must(run_command("cluster", "recover", "--data-dir", survivor.folder, "--yes"))
            again = run_command("cluster", "recover", "--data-dir", survivor.folder, "--yes")
            self.assertEqual(again.returncode, 1)
            self.assertIn("already a cluster of one", again.stderr)
            survivor.start()
            wait_until(lambda: survivor.status()["state"] == "Leader", "it leads")
            self.assertNotEqual(survivor.status()["cluster_id"], before)
            self.assertEqual(sorted(cluster.ids(survivor, queue)), sorted(ids))
            for node in (lost, lost_too):
                self.must(corvo(survivor, "cluster", "remove", node.name))
            cluster.nodes[1:] = []
            ids.append(survivor.api.enqueue(queue))
            for node in (lost, lost_too):
                node.remove_folder()
            cluster.add()
            cluster.add()
            cluster.wait_voters(3)
            cluster.wait_same()
            for node in cluster.nodes:
                self.assertEqual(sorted(cluster.ids(node, queue)), sorted(ids))

    def test_a_lost_node_does_not_come_back_after_recover(self):
        with Cluster(2) as cluster:
            survivor, lost = cluster.nodes
            survivor.terminate()
            lost.terminate()
            self.must(run_command("cluster", "recover", "--data-dir", survivor.folder, "--yes"))
            survivor.start()
            wait_until(lambda: survivor.status()["state"] == "Leader", "it leads")
            lost.start()
            wait_until(lambda: lost.events("peer does not accept this node"), "it is refused")
            self.assertEqual(lost.api.post("/api/v1/enqueue", {"queue": "q"}).status, 503)
            survivor.api.enqueue("q")


class TestLag(unittest.TestCase):
    takes_long = True

    @staticmethod
    def lag(node, path="/api/v1/queues"):
        return node.api.get(path).headers.get("x-corvo-lag-ms")

    def test_reads_say_how_old_they_may_be(self):
        with Cluster() as cluster:
            leader, (follower, other) = cluster.leader(), cluster.followers()
            leader.api.enqueue("q")
            cluster.wait_same()
            self.assertEqual(self.lag(leader), "0")
            self.assertRegex(self.lag(follower), r"\A\d+\Z")
            self.assertEqual(self.lag(follower, "/api/v1/queues?consistency=strong"), "0")
            answer = follower.api.post("/api/v1/jobs/search", {"queue": "q"})
            self.assertIn("x-corvo-lag-ms", answer.headers)
            # Responses about the node itself, and writes, have no lag.
            self.assertIsNone(self.lag(follower, "/healthz"))
            self.assertIsNone(self.lag(follower, "/api/v1/cluster/status"))
            answer = follower.api.post("/api/v1/enqueue", {"queue": "q"})
            self.assertNotIn("x-corvo-lag-ms", answer.headers)
            cluster.wait_same()  # until then, the node reads what was written through it from the leader
            # While it is cut off, the lag grows. Afterwards it falls again.
            for node in (leader, other):
                pause(node.process)
            try:
                wait_until(lambda: int(self.lag(follower)) > 1500, "it grows")
            finally:
                for node in (leader, other):
                    node.process.send_signal(signal.SIGCONT)
            wait_until(lambda: int(self.lag(follower)) < 1500, "it falls")

    def test_alone_there_is_nothing_to_lag_behind(self):
        with Cluster(1) as cluster:
            self.assertIsNone(self.lag(cluster.nodes[0]))


class HostClient(Client):
    """A client of another address of this machine."""

    def _connection(self):
        connection = super()._connection()
        connection.host = self.server.host
        return connection


class Neighbour(Node):
    """A node with a separate address, and the same port as its neighbors."""

    def __init__(self, name, host, port, *args, env=None):
        self.host = host
        super().__init__(name, "--bind", f"{host}:{port}", "--raft-bind", f"{host}:{free_port()}",
                         *args, env=env)

    def start(self):
        super().start()
        self.api = HostClient(self)

    def description(self):
        return None  # the harness would ask at the usual address


class TestBeginTogether(unittest.TestCase):
    takes_long = True

    def at_once(self, *calls):
        failed = []

        def run(call):
            try:
                call()
            except AssertionError as e:
                failed.append(e)
        threads = [threading.Thread(target=run, args=(call,)) for call in calls]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return failed

    def start_all(self, make):
        nodes = []
        failed = self.at_once(*[lambda i=i: nodes.append(make(i)) for i in range(3)])
        if failed:
            self.discard(nodes)
            raise failed[0]
        return nodes

    @staticmethod
    def discard(nodes):
        for node in nodes:
            node.discard()
            node.remove_folder()

    def expect_one_cluster(self, nodes):
        def all_vote():
            statuses = [n.status() for n in nodes]
            return all(sum(m["voter"] for m in s["nodes"]) == 3 for s in statuses) and \
                len({s["cluster_id"] for s in statuses}) == 1
        wait_until(all_vote, "one cluster of three")
        job = nodes[2].api.enqueue("q")
        wait_until(lambda: all(n.api.get(f"/api/v1/jobs/{job}").status == 200 for n in nodes),
                   "the job everywhere")

    def test_three_begin_one_cluster(self):
        """All are started at once, with the same list. The first one in the list begins."""
        ports = [free_port() for _ in range(3)]
        urls = [f"http://127.0.0.1:{port}" for port in ports]
        nodes = self.start_all(lambda i: Node(
            f"n{i + 1}", "--bind", f"127.0.0.1:{ports[i]}", "--http-advertise", urls[i],
            "--bootstrap-expect", "3", "--join", ",".join(urls)))
        try:
            self.expect_one_cluster(nodes)
            # A restart with the same command line begins no new cluster.
            for node in nodes:
                node.terminate()
            self.at_once(*[node.start for node in nodes])
            self.expect_one_cluster(nodes)
        finally:
            self.discard(nodes)

    @unittest.skipUnless(os.path.exists(NAMES), "needs the shim that knows names")
    def test_three_find_one_another_by_a_name(self):
        """One name has all their addresses. The port is the same."""
        port = free_port()
        env = {"LD_PRELOAD": NAMES, "ASAN_OPTIONS": "verify_asan_link_order=0"}
        nodes = self.start_all(lambda i: Neighbour(
            f"n{i + 1}", f"127.0.0.{i + 1}", port, "--bootstrap-expect", "3", "--discover", "dns",
            "--discover-dns-name", "three.corvo.test", env=env))
        try:
            self.expect_one_cluster(nodes)
        finally:
            self.discard(nodes)

    def test_too_few_are_named(self):
        refused = run_command("server", "--bootstrap-expect", "3", "--join", "http://127.0.0.1:1")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("bootstrap-expect", refused.stderr)


class TestQuarantine(unittest.TestCase):
    takes_long = True

    def other_state(self, node):
        """Create the state that the node would have if something else had happened. The node is stopped."""
        folder = tempfile.mkdtemp(prefix="corvo-other-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        copy = os.path.join(folder, "data")
        shutil.copytree(node.folder, copy)
        run = run_command("cluster", "recover", "--data-dir", copy, "--yes")
        self.assertEqual(run.returncode, 0, run.stderr)
        alone = Node(node.name, folder=copy)
        try:
            wait_until(lambda: alone.status()["state"] == "Leader", "it leads")
            alone.api.enqueue("what.never.was")
        finally:
            alone.stop()
        return os.path.join(copy, "state")

    def test_a_node_with_another_state_takes_no_part(self):
        with Cluster() as cluster:
            queue = unique("q")
            bad = cluster.followers()[0]
            job = cluster.leader().api.enqueue(queue)
            cluster.wait_same()
            bad.terminate()
            state = self.other_state(bad)
            bad.start()
            leader = cluster.leader()
            for _ in range(40):  # the log becomes longer than the other state's
                leader.api.enqueue(queue)
            cluster.wait_same()
            bad.terminate()
            shutil.rmtree(os.path.join(bad.folder, "state"))
            shutil.copytree(state, os.path.join(bad.folder, "state"))
            shutil.rmtree(os.path.join(bad.folder, "view.db"), ignore_errors=True)
            bad.start()
            leader = cluster.leader()
            for _ in range(40):
                leader.api.enqueue(queue)
            wait_until(lambda: bad.status()["quarantined"], "it takes itself out")
            self.check_quarantined(cluster, bad, queue, job)
            url = f"http://127.0.0.1:{bad.port}"  # the port has changed since it was restarted
            others = [n for n in cluster.nodes if n is not bad]
            wait_until(lambda: url in [n.get("http_url") for n in cluster.leader(others).status()["nodes"]],
                       "its new address is known")
            verify = corvo(cluster.leader(others), "cluster", "verify")
            self.assertEqual(verify.returncode, 1)
            self.assertIn("quarantined", verify.stdout)
            # Also after a restart.
            bad.terminate()
            bad.start()
            self.check_quarantined(cluster, bad, queue, job)
            self.check_way_back(cluster, bad, queue)

    def check_quarantined(self, cluster, bad, queue, job):
        status = bad.status()
        self.assertTrue(status["quarantined"])
        self.assertEqual(status["status"], "degraded")
        self.assertEqual([n["status"] for n in status["nodes"] if n["self"]], ["quarantined"])
        self.assertEqual(metric(bad.api, "corvo_cluster_quarantined"), 1)
        wait_until(lambda: bad.events("state differs from the majority"), "the line of its log")
        for method, path, body in (("GET", f"/api/v1/jobs/{job}", None),
                                   ("GET", "/api/v1/queues", None),
                                   ("POST", "/api/v1/jobs/search", {"queue": queue}),
                                   ("POST", "/api/v1/enqueue", {"queue": queue}),
                                   ("POST", "/api/v1/fetch", {"queues": [queue], "worker_id": "w"}),
                                   ("GET", "/api/v1/events", None),
                                   ("GET", "/readyz", None)):
            answer = bad.api.request(method, path, body)
            self.assertEqual((answer.status, answer.json["code"]), (503, "UNHEALTHY"), path)
            self.assertIn("use another node", answer.json["error"])
        self.assertEqual(bad.api.get("/healthz").status, 200)
        self.assertEqual(bad.api.get("/ready").status, 503)
        self.assertEqual(bad.api.get("/health").json["status"], "unhealthy")
        # The others continue, and report it.
        others = [n for n in cluster.nodes if n is not bad]
        leader = cluster.leader(others)
        leader.api.enqueue(queue)

    def check_way_back(self, cluster, bad, queue):
        """As docs/cluster.md describes: remove the node, and let it join with an empty folder."""
        others = [n for n in cluster.nodes if n is not bad]
        run = corvo(cluster.leader(others), "cluster", "remove", bad.name)
        self.assertEqual(run.returncode, 0, run.stderr)

        def alone():
            return len(cluster.leader(others).status()["nodes"]) == 2
        wait_until(alone, "it is removed")
        bad.terminate()
        bad.remove_folder()
        bad.start()
        cluster.wait_voters(3)
        cluster.wait_same()
        self.assertFalse(bad.status()["quarantined"])
        want = sorted(cluster.ids(cluster.leader(), queue))
        self.assertEqual(sorted(cluster.ids(bad, queue)), want)


if __name__ == "__main__":
    unittest.main()
