"""A node that waits until POST /join at the leader adds it (scheduler.md 2.8, 14.3)."""
import http.client
import json
import shutil
import signal
import tempfile
import threading
import time
import unittest

from harness import PATIENCE_S, pause, unique, wait_until
from receiver import Receiver
from test_cluster import SECRET, Cluster, Node, free_port
from test_cluster_tls import Authority, TlsCluster

TOKEN = ("--auth-token", "joiner")
FAR = 4102444800  # 2100


class Waiting(Node):
    """A node that is up once it waits, with only its lobby (a small API), or once it is a member that came back."""

    up = ("corvo server ready", "waiting for an invitation")

    def __init__(self, name, *args, **more):
        self.lobby_port = free_port()
        super().__init__(name, "--bind", f"127.0.0.1:{self.lobby_port}", "--bootstrap=false", *TOKEN, *args, **more)

    def is_ready(self):
        return bool(self.events("corvo server ready"))


class Asking(Waiting):
    """A node that would join by itself if any node responded."""

    up = ("join attempt failed",)


class Inviting(unittest.TestCase):
    takes_long = True

    def wait(self, name, *args, kind=Waiting, **more):
        node = kind(name, *args, **more)
        self.addCleanup(node.remove_folder)
        self.addCleanup(node.discard)
        return node

    def ask(self, leader, node_id, address, token="joiner"):
        return leader.api.post("/join", {"node_id": node_id, "address": address},
                               {"Authorization": f"Bearer {token}"})

    def join(self, leader, node):
        answer = self.ask(leader, node.name, node.peer)
        self.assertEqual((answer.status, answer.json), (200, {
            "success": True, "message": f"Node {node.name} successfully joined cluster"}))

    def refused(self, leader, node_id, address):
        """Return the reason from the log. The client does not receive it."""
        before = len(leader.events("scheduler join refused"))
        answer = self.ask(leader, node_id, address)
        self.assertEqual((answer.status, answer.json["error"]), (500, "Failed to join cluster"))
        wait_until(lambda: len(leader.events("scheduler join refused")) > before, "a line in the log")
        line = leader.events("scheduler join refused")[-1]
        self.assertEqual(line["node_id"], node_id)
        return line["reason"]

    def row(self, leader, node):
        rows = [n for n in leader.status()["nodes"] if n["id"] == node.name]
        return rows[0] if rows else None

    def forming(self, node):
        """Return the state that its lobby reports. The lobby sends none of the headers of other responses."""
        connection = http.client.HTTPConnection("127.0.0.1", node.lobby_port, timeout=PATIENCE_S)
        self.addCleanup(connection.close)
        connection.request("GET", "/health")
        health = json.load(connection.getresponse())
        return health.get("forming"), health.get("joined")

    def add(self, cluster, node):
        """Add the node with one request."""
        self.join(cluster.leader(), node)
        self.is_member(cluster, node)

    def is_member(self, cluster, node):
        wait_until(node.is_ready, "it serves its API")
        cluster.nodes.append(node)
        cluster.wait_voters(len(cluster.nodes))

    def create(self, node, target, at):
        body = {"id": unique("job"), "type": "unico", "timestamp": at, "webhook_url": target.url()}
        return node.api.must(node.api.post("/jobs", body))["id"]

    def test_one_request_adds_it(self):
        target = Receiver()
        self.addCleanup(target.close)
        with Cluster(2, *TOKEN) as cluster:
            leader = cluster.leader()
            job = self.create(leader, target, FAR)
            # If it is killed while it waits, it is the same node afterwards.
            node = self.wait("n3")
            node.kill()
            node.start()
            self.assertEqual(self.forming(node), (True, None))
            self.assertEqual(self.ask(leader, node.name, node.peer, token="guess").status, 401)
            follower, = cluster.followers()
            self.assertEqual(self.ask(follower, node.name, node.peer).status, 403)
            self.add(cluster, node)
            self.assertEqual([e["from"] for e in node.events("invitation accepted")], [leader.name])
            # Its record arrives with its first connection.
            wait_until(lambda: self.row(leader, node).get("http_url") == f"http://127.0.0.1:{node.port}",
                       "the address of its API")
            self.assertEqual(node.status()["cluster_id"], leader.status()["cluster_id"])
            self.assertEqual(node.api.must(node.api.get(f"/jobs/{job}"))["id"], job)
            self.join(leader, node)  # has no effect
            cluster.wait_voters(3)
            # Its vote counts: without the leader there is a majority, which continues.
            due = [self.create(n, target, int(time.time()) + 5) for n in cluster.nodes]
            leader.kill()
            others = cluster.running()
            new = cluster.leader(others)
            due.append(self.create(node, target, int(time.time()) + 2))
            for one in due:
                wait_until(lambda j=one: new.api.must(new.api.get(f"/jobs/{j}/status"))["status"] == "completed",
                           "the job is done")
            # It comes back like any other node, with the same command.
            node.kill()
            leader.start()
            node.start()
            cluster.leader()
            cluster.wait_same()

    def test_who_is_not_added(self):
        with Cluster(1, *TOKEN) as cluster, Cluster(1, *TOKEN) as elsewhere:
            leader = cluster.leader()
            node = self.wait("n2")
            self.assertEqual(self.refused(leader, "n9", node.peer), 'the node at this address is named "n2"')
            self.assertEqual(self.forming(node), (True, None))
            stranger = self.wait("n3", secret="another secret than that of the others")
            self.assertEqual(self.refused(leader, "n3", stranger.peer), "it does not have the same cluster secret")
            self.assertEqual(self.forming(stranger), (True, None))
            self.assertEqual(self.refused(leader, "n1b", leader.peer)[:9], "two nodes")  # it would connect to itself
            other = elsewhere.nodes[0]
            self.assertEqual(self.refused(leader, "n7", other.peer), 'the node at this address is named "n1"')
            namesake = self.wait("n4", "--bootstrap=true")
            self.assertEqual(self.refused(leader, "n4", namesake.peer), "the node belongs to a different cluster")
            asking = self.wait("n5", "--join", "127.0.0.1:1", kind=Asking)
            self.assertIn("does not wait for an invitation", self.refused(leader, "n5", asking.peer))
            self.assertIn("connect", self.refused(leader, "n6", f"127.0.0.1:{free_port()}"))
            self.assertIn("host:port", self.refused(leader, "n6", "nowhere"))
            self.assertIn("node_id", self.refused(leader, "a/b", node.peer))
            self.assertIn("addr", self.refused(leader, "n6", "h" * 300 + ":1"))
            self.refused(leader, "n2", f"127.0.0.1:{node.lobby_port}")  # its API: another protocol
            self.assertEqual([n["id"] for n in leader.status()["nodes"]], ["n1"])
            # The refused attempts have no effect on it.
            self.add(cluster, node)
            # A removed node stays removed, although it would accept an invitation.
            leader.api.must(leader.api.post("/api/v1/cluster/leave", {"node_id": "n2"}))
            wait_until(lambda: self.row(leader, node) is None, "it is no member")
            self.assertIn("was removed", self.refused(leader, "n2", node.peer))
            stranger.terminate()  # exits at once, without an error

    def kill_when_invited(self, cluster, node):
        """Kill the node after it has adopted the cluster, but before a majority could record it."""
        def is_invited():
            leader, (follower,) = cluster.leader(), cluster.followers()
            pause(follower.process)
            try:
                # Unless the leader has already noticed that it is alone.
                asking = threading.Thread(target=self.ask, args=(leader, node.name, node.peer))
                asking.start()
                wait_until(lambda: node.events("invitation accepted") or not asking.is_alive(), "an end")
                if node.events("invitation accepted"):
                    self.assertFalse(node.is_ready())
                    node.kill()
            finally:
                follower.process.send_signal(signal.SIGCONT)
            asking.join()
            return not node.alive()

        wait_until(is_invited, "the invitation")

    def test_it_is_killed_before_the_cluster_knows(self):
        """The request must be sent again."""
        with Cluster(2, *TOKEN) as cluster:
            node = self.wait("n3")
            self.kill_when_invited(cluster, node)
            node.start()
            self.assertFalse(node.events("waiting for an invitation")[1:])  # it knows its cluster
            self.assertFalse(node.events("waiting for the cluster"))
            wait_until(lambda: self.ask(cluster.leader(), node.name, node.peer).status == 200, "it is added")
            self.is_member(cluster, node)
            cluster.wait_same()

    def test_it_founds_no_cluster_of_its_own_when_it_is_started_as_if_it_were_alone(self):
        """It belongs to a cluster and has no data yet: otherwise there would be two clusters with the same id."""
        with Cluster(2, *TOKEN) as cluster:
            node = self.wait("n3")
            self.kill_when_invited(cluster, node)
            self.assertIn("--bootstrap=false", node.args)
            for bootstrap in ((), ("--bootstrap=true",)):
                node.args = [*(a for a in node.args if not a.startswith("--bootstrap")), *bootstrap]
                # The leader may have added it by now, although it did not respond in time.
                node.up = ("waiting for the cluster", "corvo server ready")
                node.start()
                for event in node.events("waiting for the cluster"):
                    self.assertIn("empty the data directory", event["remedy"])
                if not bootstrap:
                    node.kill()
            wait_until(lambda: self.ask(cluster.leader(), node.name, node.peer).status == 200, "it is added")
            self.is_member(cluster, node)
            self.assertEqual(node.status()["cluster_id"], cluster.leader().status()["cluster_id"])
            cluster.wait_same()
            # With data it comes back like any other node, whatever its options are.
            node.kill()
            node.up = ("corvo server ready",)
            node.start()
            cluster.wait_same()

    def test_the_route_of_the_cluster_and_a_node_without_a_vote(self):
        with Cluster(1, *TOKEN) as cluster:
            leader = cluster.leader()
            node = self.wait("n2", "--non-voter")
            body = {"node_id": node.name, "addr": node.peer}
            secret = {"X-Corvo-Cluster-Secret": SECRET}
            wrong = leader.api.post("/api/v1/cluster/join", {**body, "node_id": "n3"}, secret)
            self.assertEqual((wrong.status, wrong.json["code"]), (400, "JOIN_ERROR"))
            self.assertIn('named "n2"', wrong.json["error"])
            for added in (True, False):
                answer = leader.api.must(leader.api.post("/api/v1/cluster/join", body, secret))
                self.assertEqual((answer["added"], answer["node_id"]), (added, node.name))
            wait_until(node.is_ready, "it serves its API")
            self.assertFalse(self.row(leader, node)["voter"])

    def test_many_at_once(self):
        """Nodes for which there is no room retry."""
        with Cluster(1, *TOKEN) as cluster:
            leader = cluster.leader()
            nodes = [self.wait(f"n{i}") for i in (2, 3)]
            statuses = []

            def add(node):
                wait_until(lambda: statuses.append(self.ask(leader, node.name, node.peer).status) or
                           statuses[-1] == 200, "it is added")
            threads = [threading.Thread(target=add, args=(node,)) for node in nodes * 4]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertLessEqual(set(statuses), {200, 500})
            for node in nodes:
                wait_until(node.is_ready, "it serves its API")
            cluster.nodes += nodes
            cluster.wait_voters(3)

    def test_certificates_are_enough(self):
        folder = tempfile.mkdtemp(prefix="corvo-authority-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        ours, theirs = Authority(folder, "ours"), Authority(folder, "theirs")
        with TlsCluster(ours, 1) as cluster:
            leader = cluster.leader()
            leader.terminate()
            leader.args = [*leader.args, *TOKEN]
            leader.start()
            cluster.leader()
            node = self.wait("n2", *ours.peer("n2"), secret=None)
            stranger = self.wait("n3", *theirs.peer("n3"), secret=None)
            self.assertIn("TLS", self.refused(leader, "n3", stranger.peer))
            self.assertEqual(self.forming(stranger), (True, None))
            self.add(cluster, node)


if __name__ == "__main__":
    unittest.main()
