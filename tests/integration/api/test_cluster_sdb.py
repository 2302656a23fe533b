"""The Scheduled-DB API of three nodes (scheduler.md 18, B-01 to B-17)."""
import os
import shutil
import signal
import time
import unittest

import exposition
from harness import pause, run_command, unique, wait_until
from receiver import Receiver
from test_cluster import SECRET, Cluster, Node, free_port

FAR = 4102444800  # 2100


def create(node, **fields):
    fields = {"type": "unico", "timestamp": FAR, "webhook_url": "http://127.0.0.1:1/", **fields}
    return node.api.must(node.api.post("/jobs", fields))


class ThreeNodes(unittest.TestCase):
    takes_long = True

    def look(self, node, path, *statuses):
        return node.api.must(node.api.get(path), *(statuses or (200,)))

    def servers(self, node):
        return {s["id"]: s["address"] for s in self.look(node, "/debug/cluster")["servers"]}

    def test_b01_to_b05_every_node_knows_all(self):
        with Cluster() as cluster:
            cluster.wait_same()
            leader = cluster.leader()
            for node in cluster.nodes:
                self.assertEqual(self.look(node, "/ready"), {"status": "ready"})
                health = self.look(node, "/health")
                self.assertEqual((health["status"], health["node_id"]), ("healthy", node.name))
                debug = self.look(node, "/debug/cluster")
                self.assertEqual(debug["leader"], leader.peer)
                self.assertEqual({s["id"]: s["address"] for s in debug["servers"]},
                                 {n.name: n.peer for n in cluster.nodes})
                leads = node is leader
                self.assertEqual((debug["node_id"], debug["is_leader"], debug["raft_state"]),
                                 (node.name, leads, "Leader" if leads else "Follower"))
                self.assertEqual((health["role"], health.get("leader")),
                                 ("leader", None) if leads else ("follower", leader.peer))

    def test_b07_to_b12_jobs_are_the_same_everywhere(self):
        with Cluster() as cluster:
            leader, followers = cluster.leader(), cluster.followers()
            jobs = [create(leader, id=unique("led"))["id"]]
            for node in cluster.nodes:  # B-09, B-10, B-11
                job = create(node, id=unique("any"))
                self.assertNotIn("error", job)
                jobs.append(job["id"])
                # A node reads what was written through it.
                self.assertEqual(self.look(node, f"/jobs/{job['id']}")["id"], job["id"])
            cluster.wait_same()
            for node in followers:  # B-07
                for job in jobs:
                    self.assertEqual(self.look(node, f"/jobs/{job}")["id"], job)
            counts = {self.look(node, "/debug/cluster")["job_count"] for node in cluster.nodes}
            self.assertEqual(counts, {len(jobs)})  # B-08
            self.assertEqual(leader.api.delete(f"/jobs/{jobs[0]}").status, 204)  # B-12
            answer = followers[0].api.post(f"/jobs/{jobs[1]}/cancel", {"reason": "no"})
            self.assertEqual(answer.status, 200, answer)
            cluster.wait_same()
            for node in cluster.nodes:
                self.assertEqual(node.api.get(f"/jobs/{jobs[0]}").status, 404)
                self.assertEqual(self.look(node, f"/jobs/{jobs[1]}/status")["status"], "cancelled")
                self.assertEqual(self.look(node, "/health")["jobs"]["count"], len(jobs) - 2)

    def test_bodies_that_are_too_large_are_ignored_by_every_node(self):
        """2.1, above the server's own limit: a follower answers like the leader."""
        large = b'{"reason":"' + b"x" * (16 << 20) + b'"}'
        with Cluster() as cluster:
            for node in (cluster.leader(), cluster.followers()[0]):
                for path in ("/jobs", "/jobs/batch"):
                    answer = node.api.post(path, large)
                    self.assertEqual((answer.status, answer.json["error"]), (400, "Invalid request body"), path)
                job = create(node)["id"]
                self.assertEqual(node.api.must(node.api.post(f"/jobs/{job}/cancel", large))["status"], "cancelled")
                self.assertNotIn("cancellation_reason", self.look(node, f"/jobs/{job}/status"))
                self.assertEqual(node.api.post("/api/v1/enqueue", large).status, 413)

    def test_debug_cluster_is_of_the_node_that_is_asked(self):
        """Even if it lags behind a forwarded write, when other reads would go to the leader."""
        with Cluster() as cluster:
            for node in cluster.followers() * 15:
                create(node)
                self.assertEqual(self.look(node, "/debug/cluster")["node_id"], node.name)

    def test_b13_to_b16_the_leader_is_killed(self):
        target = Receiver()
        self.addCleanup(target.close)
        with Cluster() as cluster:
            old = cluster.leader()
            at = int(time.time()) + 6
            ids = [create(node, id=unique("due"), timestamp=at, webhook_url=target.url())["id"]
                   for node in cluster.nodes]
            old.kill()
            others = [n for n in cluster.nodes if n is not old]

            def one_leads():
                roles = [self.look(n, "/health")["role"] for n in others]
                return roles.count("leader") == 1
            wait_until(one_leads, "another leader")  # B-13
            new = cluster.leader(others)
            for node in others:  # B-14
                create(node, id=unique("after"))
                wait_until(lambda n=node: n.api.get("/ready").status == 200, "it is ready")
                self.assertEqual(self.look(node, "/debug/cluster")["leader"], new.peer)
            for job in ids:  # B-16
                wait_until(lambda j=job: self.look(new, f"/jobs/{j}/status")["status"] ==
                           "completed", "the job is done")
            old.start()  # B-15
            cluster.wait_same()
            self.assertEqual(self.look(old, "/health")["role"], "follower")
            self.assertEqual(set(self.servers(old)), {n.name for n in cluster.nodes})
            for job in ids:
                self.assertEqual(self.look(old, f"/jobs/{job}/status")["status"], "completed")
            self.assertEqual(len(target.taken()), len(ids))
            host = target.url().split("/")[2]
            for node in cluster.nodes:  # the leader has the numbers; the others request them from it
                rows = {row["host"]: row for row in self.look(node, "/api/v1/push/hosts")}
                self.assertEqual(rows[host]["succeeded"], len(ids))

    def test_b17_a_leader_that_stops_hands_over(self):
        """It stays a member (scheduler.md 23.1). A node that leaves is removed from the list of servers."""
        with Cluster() as cluster:
            old = cluster.leader()
            others = [n for n in cluster.nodes if n is not old]
            old.terminate()
            self.assertTrue(old.events("leadership_handed_over"))
            new = cluster.leader(others)
            self.assertEqual(set(self.servers(new)), {n.name for n in cluster.nodes})
            old.start()
            new.api.must(new.api.post("/api/v1/cluster/leave", {"node_id": old.name}))
            for node in others:
                wait_until(lambda n=node: set(self.servers(n)) == {m.name for m in others},
                           "it is gone from the servers")

    def test_without_a_majority_nobody_is_ready(self):
        with Cluster() as cluster:
            one, *others = cluster.nodes
            for node in others:
                pause(node.process)
            try:
                wait_until(lambda: one.api.get("/ready").status == 503, "it is not ready")
                self.assertEqual(one.api.get("/ready").json,
                                 {"status": "not ready", "reason": "no leader"})
                health = self.look(one, "/health")
                self.assertEqual((health["role"], health.get("leader")), ("follower", None))
                debug = self.look(one, "/debug/cluster")
                self.assertEqual((debug["leader"], debug["is_leader"]), ("", False))
                self.assertEqual(len(debug["servers"]), 3)
                answer = one.api.post("/jobs", {"type": "unico", "timestamp": FAR,
                                                "webhook_url": "http://127.0.0.1:1/"})
                self.assertEqual((answer.status, answer.json["error"]),
                                 (503, "No leader available"))
            finally:
                for node in others:
                    node.process.send_signal(signal.SIGCONT)
            wait_until(lambda: one.api.get("/ready").status == 200, "it is ready again")


class LeavingOnShutdown(unittest.TestCase):
    """LEAVE_ON_SHUTDOWN (scheduler.md 14.5): a stopping leader leaves the cluster, and joins again when it is
    started."""

    takes_long = True

    def led_by(self, cluster, node):
        """Wait until the node leads and all members vote."""
        cluster.wait_voters(len(cluster.nodes))

        def leads():
            leader = cluster.leader()
            if leader is not node:  # retried, because on a busy machine another node may win the election
                leader.api.post("/api/v1/cluster/transfer", {"node_id": node.name})
            return leader is node

        wait_until(leads, "it leads")
        return node

    def names(self, node):
        return {n["id"] for n in node.status()["nodes"]}

    def number(self, node):
        return [n["raft_id"] for n in node.status()["nodes"] if n["id"] == node.name][0]

    def refused(self, node, line):
        run = run_command("server", "--data-dir", node.folder, "--bind", "127.0.0.1:0",
                          "--free-space-min", "0", *line)
        self.assertEqual(run.returncode, 1)
        return run.stderr

    def test_a_leader_leaves_and_comes_back(self):
        with Cluster(3, "--leave-on-shutdown") as cluster:
            first, old, _ = cluster.nodes
            self.led_by(cluster, old)
            jobs = [create(old, id=unique("kept"))["id"] for _ in range(5)]
            number = self.number(old)
            old.terminate()
            self.assertEqual([e["confirmed"] for e in old.events("cluster left")], [True])
            # It is already removed, another node leads, and nothing is lost.
            new = cluster.leader(cluster.running())
            self.assertEqual(self.names(new), {n.name for n in cluster.running()})
            jobs.append(create(new, id=unique("after"))["id"])
            self.assertIn("left", os.listdir(old.folder))
            old.start()
            cluster.wait_voters(3)
            cluster.wait_same()
            self.assertNotEqual(self.number(old), number)
            self.assertNotIn("left", os.listdir(old.folder))
            for job in jobs:
                self.assertEqual(old.api.must(old.api.get(f"/jobs/{job}"))["id"], job)
            # By name: two joins and one leave. The other nodes have recorded the change of leaders.
            families = exposition.parse(first.api.get("/metrics").body.decode())
            for name, value in (("join", 2), ("leave", 1)):
                self.assertEqual(families[f"scheduled_db_cluster_{name}_events_total"].value(node_id=old.name), value)
            changes = families["scheduled_db_cluster_leader_changes_total"]
            self.assertGreaterEqual(changes.value(old_leader=old.name, new_leader=new.name), 1)

            # If it is killed while its old data is being deleted, it keeps its identity.
            number = self.number(old)
            old.kill()
            os.makedirs(os.path.join(old.folder, "left.gone", "raft"))
            old.start()
            cluster.wait_same()
            self.assertEqual(self.number(old), number)
            self.assertNotIn("left.gone", os.listdir(old.folder))

            # The same, interrupted while its folder is being moved aside.
            self.led_by(cluster, old).terminate()
            aside = os.path.join(old.folder, "left")
            for name in ("raft", "identity"):
                shutil.move(os.path.join(aside, name), os.path.join(old.folder, name))
            # A node that has left does not begin a separate cluster.
            alone = [a for a in old.args if a != "--join" and not a.startswith(f"127.0.0.1:{first.port}")]
            for line in (alone, [*alone, "--bootstrap"]):
                self.assertIn("left its cluster", self.refused(old, line))
            old.start()
            cluster.wait_voters(3)
            self.assertNotIn("left", os.listdir(old.folder))

    def test_who_stays(self):
        with Cluster(3, "--leave-on-shutdown") as cluster:
            first, second, third = cluster.nodes
            everybody = {n.name for n in cluster.nodes}
            # A follower that stops remains a member.
            self.led_by(cluster, second)
            third.terminate()
            self.assertFalse(third.events("cluster left"))
            self.assertEqual(self.names(second), everybody)
            # If the leader left as well, the two remaining members would have no majority while one of them is down.

            def is_silent():
                node, = [n for n in second.status()["nodes"] if n["id"] == third.name]
                return node["last_contact_ms"] > 3000
            wait_until(is_silent, "the leader misses it")
            second.terminate()
            self.assertIn("majority", second.events("cluster not left")[0]["reason"])
            second.start()
            third.start()
            cluster.wait_voters(3)
            # The first one was configured without nodes to join.
            self.led_by(cluster, first).terminate()
            self.assertIn("neither join nor discover", first.events("cluster not left")[0]["reason"])
            self.assertEqual(self.names(cluster.leader([second, third])), everybody)

    def test_the_last_one_stays_and_the_variable_is_known(self):
        with Cluster(1) as cluster:
            first = cluster.nodes[0]
            second = Node("n2", join=[first], env={"LEAVE_ON_SHUTDOWN": "true"})
            cluster.nodes.append(second)
            self.led_by(cluster, second).terminate()
            self.assertTrue(second.events("cluster left"))
            self.assertIs(cluster.leader([first]), first)
            first.terminate()
            self.assertFalse(first.events("cluster left"))


class Unreachable(unittest.TestCase):
    takes_long = True

    def test_a_leader_that_cannot_be_reached_is_a_502(self):
        """The leader's peer address is right, but the address of its API is wrong."""
        nowhere = f"http://127.0.0.1:{free_port()}"
        with Cluster(1, "--http-advertise", nowhere) as cluster:
            leader = cluster.nodes[0]
            follower = cluster.add()
            wait_until(lambda: follower.api.get("/ready").status == 200, "the follower knows the leader")
            for answer in (follower.api.post("/jobs", {"type": "unico", "timestamp": FAR}),
                           follower.api.delete("/jobs/none"), follower.api.post("/jobs/none/cancel"),
                           follower.api.post("/jobs/batch", {"jobs": []})):
                self.assertEqual((answer.status, answer.json["error"]), (502, "Unable to reach leader"))
            self.assertEqual(leader.api.must(leader.api.get("/debug/cluster"))["job_count"], 0)


class Joining(unittest.TestCase):
    takes_long = True

    def join(self, node, status, **fields):
        headers = fields.pop("headers", {"Authorization": "Bearer joiner"})
        answer = node.api.post("/join", fields, headers)
        self.assertEqual(answer.status, status, answer)
        return answer.json

    def test_members_are_known_and_strangers_refused(self):
        with Cluster(2, "--auth-token", "joiner") as cluster:
            leader, (follower,) = cluster.leader(), cluster.followers()
            member = {"node_id": follower.name, "address": follower.peer}
            self.assertEqual(self.join(leader, 401, headers={}, **member)["error"], "unauthorized")
            self.assertEqual(self.join(follower, 403, **member)["error"],
                             "not leader, cannot accept join requests")
            done = {"success": True,
                    "message": f"Node {follower.name} successfully joined cluster"}
            self.assertEqual(self.join(leader, 200, **member), done)
            # A wrong number is refused. Without a number, the node is asked for it.
            for number in ("x" * 16, "0" * 16, "12"):
                self.assertIn("raft_id", self.join(leader, 400, node_id="new", address="127.0.0.1:1",
                                                   raft_id=number)["error"])
            self.assertEqual(self.join(leader, 500, node_id="new", address="127.0.0.1:1")["error"],
                             "Failed to join cluster")
            self.assertEqual(len(leader.status()["nodes"]), 2)
            # A member with a new address.
            moved = f"127.0.0.1:{free_port()}"
            self.join(leader, 200, node_id=follower.name, address=moved)
            node, = [n for n in leader.status()["nodes"] if n["id"] == follower.name]
            self.assertIn(node["address"], (moved, follower.peer))  # the node may have corrected it already
            wait_until(lambda: [n.get("http_url") for n in leader.status()["nodes"]
                                if n["id"] == follower.name] ==
                       [f"http://127.0.0.1:{follower.port}"], "it is still known where it is")

    def test_what_a_member_says_of_itself_stays_known(self):
        """Another client writes its record with fewer fields."""
        with Cluster(2) as cluster:
            leader, (follower,) = cluster.leader(), cluster.followers()

            def of_follower():
                return [n for n in leader.status()["nodes"] if n["id"] == follower.name][0]

            def url_is_known():
                return of_follower().get("http_url") == f"http://127.0.0.1:{follower.port}"

            wait_until(url_is_known, "the address of its API")
            answer = leader.api.post("/api/v1/cluster/join",
                                     {"node_id": follower.name, "addr": follower.peer,
                                      "raft_id": of_follower()["raft_id"]},
                                     {"X-Corvo-Cluster-Secret": SECRET})
            self.assertEqual(answer.status, 200, answer)
            wait_until(url_is_known, "the address of its API again")

    def test_a_node_joins_by_its_number(self):
        """As a node of this version does over the cluster's own route."""
        with Cluster(1, "--auth-token", "joiner") as cluster:
            leader = cluster.nodes[0]
            self.join(leader, 200, node_id="n9", address="127.0.0.1:9", raft_id=f"{77:016x}")
            wait_until(lambda: "n9" in [n["id"] for n in leader.status()["nodes"]], "a member")

    def test_without_a_token_the_secret_is_needed_to_change_anything(self):
        with Cluster(2) as cluster:
            leader, (follower,) = cluster.leader(), cluster.followers()
            member = {"node_id": follower.name, "address": follower.peer}
            self.join(leader, 200, headers={}, **member)
            stranger = {"node_id": "n9", "address": "127.0.0.1:9", "raft_id": f"{77:016x}"}
            self.join(leader, 401, headers={}, **stranger)
            self.join(leader, 401, headers={"X-Corvo-Cluster-Secret": "another one"}, **stranger)
            self.assertEqual(len(leader.status()["nodes"]), 2)
            self.join(leader, 200, headers={"X-Corvo-Cluster-Secret": SECRET}, **stranger)
            run = run_command("cluster", "remove", "n9", "--server",
                              f"http://127.0.0.1:{leader.port}")
            self.assertEqual(run.returncode, 0, run.stderr)


if __name__ == "__main__":
    unittest.main()
