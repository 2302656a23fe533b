"""How nodes discover each other (scheduler.md 14.2, 14.3), with a DNS server, a Kubernetes API and a network that
loses datagrams, all provided by this test."""
import contextlib
import http.client
import http.server
import json
import os
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import tempfile
import threading
import unittest
import urllib.parse

from harness import PATIENCE_S, Client, Server, binary, environment, run_command, wait_until
from test_cluster import QUICK, SECRET, Node, free_port
from test_cluster_ops import NAMES, Neighbour
from test_cluster_tls import Authority

A, TXT, AAAA, SRV = 1, 16, 28, 33


def encode_name(name):
    return b"".join(bytes([len(label)]) + label.encode() for label in name.rstrip(".").split(".")) + b"\0"


def ask_at(host, port, method, path, body=None):
    """Send a request to a node that is not ready, which the harness's client does not support. Returns status and
    document."""
    with contextlib.closing(http.client.HTTPConnection(host, port, timeout=PATIENCE_S)) as connection:
        connection.request(method, path, body)
        answer = connection.getresponse()
        text = answer.read()
        for name, value in (("Origin", "*"), ("Methods", "GET, POST, PUT, DELETE, OPTIONS")):
            assert answer.headers["Access-Control-Allow-" + name] == value, dict(answer.headers)
        json_type = answer.headers["Content-Type"] == "application/json"
        return answer.status, json.loads(text) if json_type else text.decode()


class DnsServer:
    """Answers from a table of (name, type) with lists of values. A name without any entry does not exist. A missing
    type of a name is an empty answer. While it is silent, it receives questions and does not answer."""

    def __init__(self):
        self.records, self.silent, self.asked = {}, False, []
        self.heard = threading.Event()
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.at = "127.0.0.1:%d" % self.socket.getsockname()[1]
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def close(self):
        port = self.socket.getsockname()[1]
        self.closing = True
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.sendto(b"", ("127.0.0.1", port))
        self.thread.join()
        self.socket.close()

    closing = False

    def run(self):
        while not self.closing:
            packet, sender = self.socket.recvfrom(4096)
            if len(packet) < 17:
                continue
            labels, at = [], 12
            while packet[at]:
                labels.append(packet[at + 1:at + 1 + packet[at]].decode())
                at += 1 + packet[at]
            name, kind = ".".join(labels).lower(), struct.unpack(">H", packet[at + 1:at + 3])[0]
            self.asked.append((name, kind))
            self.heard.set()
            if not self.silent:
                self.socket.sendto(self.answer(packet[:2], packet[12:at + 5], name, kind), sender)

    @staticmethod
    def rdata(kind, value):
        if kind == A:
            return socket.inet_aton(value)
        if kind == AAAA:
            return socket.inet_pton(socket.AF_INET6, value)
        if kind == TXT:
            return bytes([len(value)]) + value.encode()
        target, port = value
        return struct.pack(">HHH", 0, 0, port) + encode_name(target)

    def answer(self, ident, question, name, kind):
        values = self.records.get((name, kind), [])
        known = any(n == name for n, _ in self.records)
        rows = b""
        for value in values:
            data = self.rdata(kind, value)
            rows += b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, 1, len(data)) + data
        flags = 0x8180 | (0 if known else 3)
        return ident + struct.pack(">HHHHH", flags, 1, len(values), 0, 0) + question + rows


class Settled(unittest.TestCase):
    """Three nodes that are started at once and form one cluster."""
    takes_long = True

    def start_all(self, *makes):
        nodes, failed = [], []

        def run(make):
            try:
                nodes.append(make())
            except BaseException as e:  # whatever it is, discard the other nodes
                failed.append(e)
        threads = [threading.Thread(target=run, args=(make,)) for make in makes]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for node in nodes:
            self.addCleanup(node.remove_folder)
            self.addCleanup(node.discard)
        if failed:
            raise failed[0]
        return sorted(nodes, key=lambda n: n.name)

    def expect_one_cluster(self, nodes, count=3):
        def all_vote():
            statuses = [n.status() for n in nodes]
            return all(sum(m["voter"] for m in s["nodes"]) == count for s in statuses) and \
                len({s["cluster_id"] for s in statuses}) == 1
        wait_until(all_vote, f"one cluster of {count}")

    def members(self, node):
        return {n["id"] for n in node.status()["nodes"]}

    def leader(self, nodes):
        return wait_until(lambda: next((n for n in nodes if n.status()["state"] == "Leader"), None), "a leader")


class TestDns(Settled):
    def setUp(self):
        self.dns = DnsServer()
        self.addCleanup(self.dns.close)

    def with_names(self, *args):
        return ("--discover", "dns", "--discover-dns-server", self.dns.at, "--bootstrap-expect", "3", *args)

    def test_srv_records_name_hosts_and_ports(self):
        """Several nodes on one machine, which differ only in their ports."""
        ports = [free_port() for _ in range(3)]
        self.dns.records = {("_corvo._tcp.jobs.test", SRV): [(f"n{i + 1}.jobs.test", port) for i, port in enumerate(ports)]}
        for i in range(3):
            self.dns.records[f"n{i + 1}.jobs.test", A] = ["127.0.0.1"]
            self.dns.records[f"_node-id.n{i + 1}.jobs.test", TXT] = [f"node-id=n{i + 1}"]
        nodes = self.start_all(*[lambda i=i: Node(
            f"n{i + 1}", "--bind", f"127.0.0.1:{ports[i]}",
            *self.with_names("--discover-dns-name", "corvo", "--discover-dns-domain", "jobs.test")) for i in range(3)])
        self.expect_one_cluster(nodes)
        self.assertIn(("_corvo._tcp.jobs.test", SRV), self.dns.asked)
        text = nodes[0].api.get("/metrics").body.decode()
        self.assertIn('scheduled_db_nodes_discovered{strategy="dns"} 3', text)
        self.assertIn("scheduled_db_cluster_nodes 3", text)

    def test_without_srv_the_addresses_count_and_changes_are_seen(self):
        """The name has two addresses at first: three nodes wait until there is a third."""
        port = free_port()
        self.dns.records = {("jobs.test", A): ["127.0.0.1", "127.0.0.2"]}

        seen = {}

        def add_third():
            wait_until(lambda: self.dns.asked.count(("jobs.test", A)) >= 6, "nodes that wait")
            for path in ("/health", "/ready", "/jobs"):
                seen[path] = ask_at("127.0.0.1", port, "GET", path)
            self.dns.records = {("jobs.test", A): ["127.0.0.1", "127.0.0.2", "127.0.0.3"]}
        late = threading.Thread(target=add_third)
        late.start()
        nodes = self.start_all(*[lambda i=i: Neighbour(
            f"n{i + 1}", f"127.0.0.{i + 1}", port, *self.with_names("--discover-dns-name", "jobs.test"))
            for i in range(3)])
        late.join()
        self.expect_one_cluster(nodes)
        self.assertIn(("jobs.test", SRV), self.dns.asked)
        # Meanwhile probes saw a node that is alive and not ready.
        status, health = seen.pop("/health")
        self.assertEqual((status, health["status"], health["node_id"], health["forming"]), (200, "degraded", "n1", True))
        self.assertEqual(seen, {"/ready": (503, {"status": "not ready", "reason": "no leader"}),
                                "/jobs": (503, {"error": "No leader available"})})
        self.assertNotIn("forming", nodes[0].api.must(nodes[0].api.get("/health")))

    def test_a_server_that_does_not_answer_is_asked_again(self):
        port = free_port()
        self.dns.records = {("jobs.test", A): ["127.0.0.1", "127.0.0.2", "127.0.0.3"]}
        self.dns.silent = True

        def wake():
            self.dns.heard.wait()
            # Questions that are repeated after the first ones timed out.
            wait_until(lambda: len(self.dns.asked) >= 12, "questions that are asked again")
            self.dns.silent = False
        late = threading.Thread(target=wake)
        late.start()
        nodes = self.start_all(*[lambda i=i: Neighbour(
            f"n{i + 1}", f"127.0.0.{i + 1}", port, *self.with_names("--discover-dns-name", "jobs.test"))
            for i in range(3)])
        late.join()
        self.expect_one_cluster(nodes)
        self.assertTrue(any(n.events("discovery failed") for n in nodes))

    def test_kubernetes_names(self):
        """Below the service's name: A records for one strategy, and SRV records with the peer port for the other."""
        port, peer = free_port(), free_port()
        name = "corvo.jobs.svc.cluster.test"
        self.dns.records = {(name, A): ["127.0.0.1"], (name, SRV): []}
        line = ("--discover-dns-server", self.dns.at, "--kubernetes-service-name", "corvo", "--kubernetes-namespace", "jobs",
                "--discover-dns-domain", "cluster.test")
        first = Neighbour("n1", "127.0.0.1", port, "--discover", "kubernetes_dns", "--bootstrap-expect", "1", *line)
        self.addCleanup(first.remove_folder)
        self.addCleanup(first.discard)
        self.dns.records[name, SRV] = [("n1." + name, peer), ("n1." + name, port)]
        self.dns.records["n1." + name, A] = ["127.0.0.1"]
        host = "127.0.0.2"
        second = Neighbour("n2", host, port, "--raft-bind", f"{host}:{peer}", "--discover", "kubernetes_dns_srv", *line)
        self.addCleanup(second.remove_folder)
        self.addCleanup(second.discard)
        self.expect_one_cluster([first, second], 2)

    def test_variables_of_scheduled_db(self):
        port = free_port()
        self.dns.records = {("jobs.test", A): ["127.0.0.1", "127.0.0.2", "127.0.0.3"]}
        env = {"DISCOVERY_STRATEGY": "dns", "KUBERNETES_SERVICE_NAME": "jobs.test", "BOOTSTRAP_EXPECT": "3",
               "CORVO_DISCOVER_DNS_SERVER": self.dns.at}
        nodes = self.start_all(*[lambda i=i: Neighbour(f"n{i + 1}", f"127.0.0.{i + 1}", port, env=env) for i in range(3)])
        self.expect_one_cluster(nodes)

    def test_removal(self):
        """A node that is not discovered and does not respond is removed. A node with only one of these is not."""
        port = free_port()
        everybody = ["127.0.0.1", "127.0.0.2", "127.0.0.3"]
        self.dns.records = {("jobs.test", A): everybody}
        nodes = self.start_all(*[lambda i=i: Neighbour(
            f"n{i + 1}", f"127.0.0.{i + 1}", port, *self.with_names(
                "--discover-dns-name", "jobs.test", "--discover-remove-after", "500ms")) for i in range(3)])
        self.expect_one_cluster(nodes)
        leader = self.leader(nodes)
        alive, dead = [n for n in nodes if n is not leader]
        # Alive, but not discovered for several rounds.
        self.dns.records = {("jobs.test", A): [leader.host, dead.host]}
        seen = len(self.dns.asked)
        wait_until(lambda: len(self.dns.asked) > seen + 30, "rounds of looking")
        self.assertEqual(self.members(leader), {"n1", "n2", "n3"})
        # Dead, but discovered.
        self.dns.records = {("jobs.test", A): everybody}
        dead.kill()
        seen = len(self.dns.asked)
        wait_until(lambda: len(self.dns.asked) > seen + 30, "rounds of looking")
        self.assertEqual(self.members(leader), {"n1", "n2", "n3"})
        # A failed lookup is no reason to remove a node.
        self.dns.silent = True
        failed = len(leader.events("discovery failed"))
        wait_until(lambda: len(leader.events("discovery failed")) > failed, "a lookup that fails")
        self.assertEqual(self.members(leader), {"n1", "n2", "n3"})
        # Neither alive nor discovered.
        self.dns.records = {("jobs.test", A): [leader.host, alive.host]}
        self.dns.silent = False
        wait_until(lambda: self.members(self.leader([leader, alive])) == {leader.name, alive.name}, "it is removed")
        leader = self.leader([leader, alive])
        self.assertTrue(any(n.events("member removed") for n in (leader, alive)))
        # Of two nodes none is removed, because the other one would have no majority to decide it.
        other = alive if leader is not alive else next(n for n in nodes if n not in (alive, dead))
        self.dns.records = {("jobs.test", A): [leader.host]}
        other.kill()
        seen = len(self.dns.asked)
        wait_until(lambda: len(self.dns.asked) > seen + 20, "rounds of looking")
        self.assertEqual(self.members(leader), {leader.name, other.name})


class KubernetesApi:
    """The requests of a node to the API server: list the pods, and patch its own pod."""

    def __init__(self, authority, token):
        self.pods, self.token, self.refused, self.patches, self.paths = [], token, [], [], []
        self.forbid_patches = False
        cert, key = authority.issue("kubernetes")
        api = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args):
                pass

            def reply(self, status, body):
                text = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def allowed(self):
                if self.headers.get("Authorization") == f"Bearer {api.token}":
                    return True
                api.refused.append(self.headers.get("Authorization"))
                self.reply(401, {"kind": "Status", "code": 401})
                return False

            def do_GET(self):
                if not self.allowed():
                    return
                url = urllib.parse.urlsplit(self.path)
                api.paths.append(self.path)
                if url.path != "/api/v1/namespaces/jobs/pods" or \
                        urllib.parse.parse_qs(url.query) != {"labelSelector": ["app=corvo"]}:
                    self.reply(404, {"kind": "Status", "code": 404})
                else:
                    self.reply(200, {"kind": "PodList", "items": api.pods})

            def do_PATCH(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if not self.allowed():
                    return
                if api.forbid_patches:
                    self.reply(403, {"kind": "Status", "code": 403})
                    return
                assert self.headers["Content-Type"] == "application/merge-patch+json"
                api.patches.append((self.path, json.loads(body)["metadata"]["annotations"]))
                self.reply(200, {})

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = f"https://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    @staticmethod
    def pod(name, ip, port, phase="Running", **spec):
        ports = [{"name": "raft", "containerPort": 7000}, {"name": "http", "containerPort": port}]
        return {"metadata": {"name": name, "labels": {"app": "corvo"}},
                "spec": {"containers": [{"name": "sidecar"}, {"name": "corvo", "ports": ports}], **spec},
                "status": {"phase": phase, **({"podIP": ip} if ip else {})}}


class TestKubernetes(Settled):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="corvo-k8s-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.authority = Authority(self.folder, "cluster")
        self.api = KubernetesApi(self.authority, "pod-token-1")
        self.addCleanup(self.api.close)
        self.account("pod-token-1", self.authority.ca)

    def account(self, token, ca):
        with open(os.path.join(self.folder, "token"), "w", encoding="ascii") as file:
            file.write(token + "\n")
        with open(os.path.join(self.folder, "namespace"), "w", encoding="ascii") as file:
            file.write("jobs")
        shutil.copy(ca, os.path.join(self.folder, "ca.crt"))

    def line(self, *args):
        return ("--discover", "kubernetes", "--kubernetes-service-name", "corvo", "--kubernetes-api", self.api.url,
                "--kubernetes-account-dir", self.folder, *args)

    def test_pods_form_a_cluster(self):
        port = free_port()
        self.api.pods = [self.api.pod(f"corvo-{i}", f"127.0.0.{i + 1}", port) for i in range(3)] + [
            self.api.pod("corvo-3", "127.0.0.9", port, phase="Pending"), self.api.pod("corvo-4", None, port)]
        nodes = self.start_all(*[lambda i=i: Neighbour(
            f"corvo-{i}", f"127.0.0.{i + 1}", port, *self.line("--bootstrap-expect", "3"),
            env={"POD_NAME": f"corvo-{i}"}) for i in range(3)])
        self.expect_one_cluster(nodes)
        self.assertEqual(self.api.refused, [])
        noted = dict(self.api.patches)
        for i, node in enumerate(nodes):
            notes = noted[f"/api/v1/namespaces/jobs/pods/corvo-{i}"]
            self.assertEqual((notes["scheduled-db/node-id"], notes["scheduled-db/address"]),
                             (node.name, node.host))
        # The token is replaced while the nodes run.
        self.account("pod-token-2", self.authority.ca)
        self.api.token = "pod-token-2"
        asked = len(self.api.paths)
        wait_until(lambda: len(self.api.paths) > asked + 3, "questions with the new token")
        nodes[0].terminate()
        path, notes = self.api.patches[-1]
        self.assertEqual((path, set(notes.values())), ("/api/v1/namespaces/jobs/pods/corvo-0", {None}))
        for node in nodes:
            self.assertNotIn("pod-token", "".join(node.lines))

    def test_without_the_right_to_annotate(self):
        port = free_port()
        self.api.forbid_patches = True
        self.api.pods = [self.api.pod("corvo-0", "127.0.0.1", port)]
        node, = self.start_all(lambda: Neighbour("corvo-0", "127.0.0.1", port, *self.line("--bootstrap-expect", "1"),
                                                 env={"POD_NAME": "corvo-0"}))
        self.assertTrue(node.events("pod not annotated"))

    def refused(self, word, *args, env=None):
        run = run_command("server", "--bind", "127.0.0.1:0", "--data-dir", tempfile.mkdtemp(dir=self.folder),
                          "--node-id", "n1", "--cluster-secret", SECRET, "--raft-bind", f"127.0.0.1:{free_port()}",
                          "--free-space-min", "0", "--join-timeout", "1s", *args, env=env)
        self.assertEqual(run.returncode, 1)
        self.assertIn(word, run.stderr)

    def test_another_token_another_authority_or_the_wrong_place(self):
        self.account("stolen", self.authority.ca)
        self.refused("returned 401", *self.line())
        self.assertEqual(set(self.api.refused), {"Bearer stolen"})
        other = Authority(self.folder, "other")
        asked = len(self.api.refused)
        self.account("pod-token-1", other.ca)
        self.refused("API server", *self.line())
        self.assertEqual((len(self.api.refused), self.api.paths), (asked, []))  # the token was not even sent
        self.account("pod-token-1", self.authority.ca)
        self.refused("returned 404", *self.line("--kubernetes-namespace", "other"))
        self.refused("https", *self.line("--kubernetes-api", "http://127.0.0.1:1"))
        self.refused("KUBERNETES_SERVICE_HOST", "--discover", "kubernetes", "--kubernetes-service-name", "corvo")

    def test_a_long_wait_is_a_warning(self):
        """B-06: after half of its timeout, or thirty seconds, the wait is logged once. It is not a failure."""
        run = run_command("server", "--bind", "127.0.0.1:0", "--data-dir", tempfile.mkdtemp(dir=self.folder),
                          "--cluster-secret", SECRET, "--raft-bind", f"127.0.0.1:{free_port()}", "--log-format", "json",
                          "--free-space-min", "0", "--join-timeout", "1s", "--join", f"127.0.0.1:{free_port()}")
        self.assertEqual(run.returncode, 1)
        lines = [json.loads(line) for line in run.stderr.splitlines() if line.startswith("{")]
        slow = [line for line in lines if line["msg"] == "still waiting to form the cluster"]
        self.assertEqual([(line["level"], line["waiting_for"]) for line in slow], [("WARN", "a member that responds")])


class GossipNode(Node):
    """A node that initially knows only the UDP ports of its seeds."""

    def __init__(self, name, http, udp, seeds, *args, env=None, **kwargs):
        super().__init__(name, "--bind", f"127.0.0.1:{http}", "--discover", "gossip", "--gossip-bind", f"127.0.0.1:{udp}",
                         "--gossip-seeds", ",".join(f"127.0.0.1:{port}" for port in seeds), *args, env=env, **kwargs)


class TestGossip(Settled):
    def ports(self):
        ports = []
        for _ in range(3):
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
                s.bind(("127.0.0.1", 0))
                ports.append(s.getsockname()[1])
        return ports

    def known(self, node):
        for line in node.api.get("/metrics").body.decode().splitlines():
            if line.startswith('scheduled_db_nodes_discovered{strategy="gossip"}'):
                return int(line.split()[-1])
        return 0

    @unittest.skipUnless(os.path.exists(NAMES), "needs the shim that loses datagrams")
    def test_three_find_one_another_although_datagrams_get_lost(self):
        """A chain: each node knows only the one before it, and four of ten datagrams are lost."""
        http, udp = [free_port() for _ in range(3)], self.ports()
        env = {"LD_PRELOAD": NAMES, "ASAN_OPTIONS": "verify_asan_link_order=0", "CORVO_TEST_LOSS_PERCENT": "40"}
        nodes = self.start_all(*[lambda i=i: GossipNode(
            f"n{i + 1}", http[i], udp[i], udp[i - 1:i], "--bootstrap-expect", "3", env=env) for i in range(3)])
        self.expect_one_cluster(nodes)
        for node in nodes:
            wait_until(lambda n=node: self.known(n) == 3, "all three are known")
        # A node that stops announces it. The absence of a killed node is detected.
        nodes[2].terminate()
        for node in nodes[:2]:
            wait_until(lambda n=node: self.known(n) == 2, "it is gone")
        nodes[2].start()
        for node in nodes:
            wait_until(lambda n=node: self.known(n) == 3, "it is back")
        nodes[2].kill()
        for node in nodes[:2]:
            wait_until(lambda n=node: self.known(n) == 2, "it is missed")

    def test_another_secret_is_not_heard(self):
        http, udp = [free_port() for _ in range(3)], self.ports()
        first, = self.start_all(lambda: GossipNode("n1", http[0], udp[0], [], "--bootstrap-expect", "1"))
        second, = self.start_all(lambda: GossipNode("n2", http[1], udp[1], udp[:1]))
        self.expect_one_cluster([first, second], 2)
        wait_until(lambda: self.known(first) == 2, "two are known")
        run = run_command("server", "--bind", f"127.0.0.1:{http[2]}", "--data-dir", tempfile.mkdtemp(), "--node-id", "n3",
                          "--raft-bind", f"127.0.0.1:{free_port()}", "--cluster-secret", SECRET, "--free-space-min", "0",
                          "--gossip-secret", "another secret of the same length", "--discover", "gossip", "--gossip-bind",
                          f"127.0.0.1:{udp[2]}", "--gossip-seeds", f"127.0.0.1:{udp[0]}", "--join-timeout", "2s")
        self.assertEqual(run.returncode, 1)
        self.assertIn("no node to join", run.stderr)
        self.assertEqual((self.known(first), self.members(first)), (2, {"n1", "n2"}))

    def test_noise_does_no_harm(self):
        http, udp = free_port(), self.ports()
        node, = self.start_all(lambda: GossipNode("n1", http, udp[0], [], "--bootstrap-expect", "1"))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            for packet in (b"", b"CVG1", b"CVG1" + bytes(100), os.urandom(1400), b"CVG1" + bytes(5000)):
                s.sendto(packet, ("127.0.0.1", udp[0]))
        wait_until(lambda: self.known(node) == 1, "it looks again")
        node.api.enqueue("q")

    def test_a_secret_is_needed(self):
        run = run_command("server", "--discover", "gossip", "--bind", "127.0.0.1:8080", "--free-space-min", "0",
                          "--data-dir", tempfile.mkdtemp())
        self.assertEqual(run.returncode, 1)
        self.assertIn("gossip-secret or cluster-secret", run.stderr)


class ByVariables(Server):
    """A node whose settings all come from the environment."""
    bind = ()

    def __init__(self, name, env):
        self.name, self.api = name, None
        super().__init__(*QUICK, env=env, data_dir=tempfile.mkdtemp(prefix="corvo-node-"))

    def start(self):
        super().start()
        self.api = Client(self, {})

    def status(self):
        return self.api.must(self.api.get("/api/v1/cluster/status"))

    def remove_folder(self):
        shutil.rmtree(self.folder, ignore_errors=True)


class Waiting:
    """A node in a separate folder that does not become ready."""

    def __init__(self, test, name, env):
        self.name, self.port, self.lines = name, int(env["HTTP_PORT"]), []
        self.folder = tempfile.mkdtemp(prefix="corvo-node-")
        test.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.process = subprocess.Popen([binary(), "server", "--data-dir", self.folder, "--free-space-min", "0", *QUICK],
                                        env=environment(env), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.reader = threading.Thread(target=lambda: self.lines.extend(self.process.stderr))
        self.reader.start()
        test.addCleanup(self.discard)

    def ask(self, method, path, body=None):
        def answer():
            try:
                return ask_at("127.0.0.1", self.port, method, path, body)
            except ConnectionError:
                return None
        return wait_until(answer, "an answer")

    def end(self, number=None):
        """Return the node's exit status, after sending it a signal if number is given."""
        if number is not None:
            self.process.send_signal(number)
        status = self.process.wait(PATIENCE_S)
        self.reader.join()
        return status

    def discard(self):
        self.process.kill()
        self.end()
        self.process.stderr.close()


class TestStatic(Settled):
    def test_peers_of_scheduled_db_are_found_at_their_api(self):
        """PEERS has the peer addresses of nodes. CLUSTER_NODE_n adds the addresses of their APIs."""
        http = [free_port() for _ in range(3)]
        raft = [free_port() for _ in range(3)]
        peers = ",".join(f"127.0.0.1:{port}" for port in raft)
        maps = {f"CLUSTER_NODE_{i + 1}": f"127.0.0.1:{raft[i]},127.0.0.1:{http[i]}" for i in range(3)}

        def make(i):
            env = {"NODE_ID": f"n{i + 1}", "HTTP_HOST": "127.0.0.1", "HTTP_PORT": str(http[i]), "RAFT_HOST": "127.0.0.1",
                   "RAFT_PORT": str(raft[i]), "RAFT_ADVERTISE_HOST": "127.0.0.1", "PEERS": peers, "BOOTSTRAP_EXPECT": "3",
                   "DISCOVERY_STRATEGY": "static", "CORVO_CLUSTER_SECRET": SECRET, **maps}
            return ByVariables(f"n{i + 1}", env)
        nodes = self.start_all(*[lambda i=i: make(i) for i in range(3)])
        self.expect_one_cluster(nodes)

    def line(self, name, port, raft, others, **more):
        """Return an environment whose join list contains only the other nodes, as PEERS of Scheduled-DB may."""
        return {"NODE_ID": name, "HTTP_HOST": "127.0.0.1", "HTTP_PORT": str(port), "RAFT_HOST": "127.0.0.1",
                "RAFT_PORT": str(raft), "CORVO_JOIN": ",".join(f"127.0.0.1:{other}" for other in others),
                "BOOTSTRAP_EXPECT": "3", "CORVO_CLUSTER_SECRET": SECRET, **more}

    def test_the_smallest_node_id_begins(self):
        """Not the smallest URL. The list need not contain the node itself."""
        http = sorted((free_port() for _ in range(3)), key=str)
        names = ["n3", "n2", "n1"]
        nodes = self.start_all(*[lambda i=i: ByVariables(names[i], self.line(
            names[i], http[i], free_port(), [p for p in http if p != http[i]])) for i in range(3)])
        self.expect_one_cluster(nodes)
        self.assertEqual([bool(n.events("joined cluster")) for n in nodes], [False, True, True])

    def test_one_alone_waits(self):
        """It begins no cluster before the others respond. Meanwhile it answers probes, and it stops on a signal."""
        http = [free_port() for _ in range(3)]
        raft = free_port()
        node = Waiting(self, "n1", self.line("n1", http[0], raft, http[1:]))
        other = Waiting(self, "n2", self.line("n2", http[1], raft + 1, [http[0], http[2]]))
        servers = [{"id": "n1", "address": f"127.0.0.1:{raft}"}, {"id": "n2", "address": f"127.0.0.1:{raft + 1}"}]
        wait_until(lambda: node.ask("GET", "/debug/cluster")[1]["servers"] == servers, "the other one is seen")
        self.assertEqual(node.ask("GET", "/debug/cluster"), (200, {
            "node_id": "n1", "is_leader": False, "leader": "", "raft_state": "Follower", "servers": servers,
            "job_count": 0}))
        self.assertEqual(node.ask("GET", "/health"), (200, {
            "status": "degraded", "role": "follower", "node_id": "n1",
            "memory": dict.fromkeys(("current_bytes", "limit_bytes", "available_bytes", "utilization_percent"), 0),
            "jobs": dict.fromkeys(("current_count", "count", "limit", "available"), 0),
            "execution": dict.fromkeys(("pending", "in_progress", "completed", "failed", "cancelled", "timeout", "total",
                                        "failure_rate"), 0),
            "forming": True, "raft_address": f"127.0.0.1:{raft}"}))
        for method, path in (("POST", "/jobs"), ("GET", "/jobs?status=pending"), ("GET", "/jobs/a/status"),
                             ("DELETE", "/jobs/a"), ("POST", "/jobs/a/cancel")):
            self.assertEqual(node.ask(method, path, "{}" if method == "POST" else None),
                             (503, {"error": "No leader available"}))
        self.assertEqual(node.ask("POST", "/api/v1/enqueue", "{}"),
                         (503, {"error": "the cluster is still forming", "code": "LEADER_UNAVAILABLE"}))
        for path in ("/jobs", "/api/v1/enqueue"):
            self.assertEqual(node.ask("OPTIONS", path), (200, ""))
        status, text = node.ask("GET", "/metrics")
        self.assertEqual((status, "corvo_cluster_nodes_seen 2\n" in text), (200, True))
        self.assertEqual((node.end(signal.SIGTERM), other.end(signal.SIGINT)), (0, 0))
        self.assertEqual(os.listdir(node.folder), ["lock"])

    def test_names_of_other_nodes_are_not_for_everybody(self):
        http = [free_port() for _ in range(3)]
        node = Waiting(self, "n1", self.line("n1", http[0], free_port(), http[1:], CORVO_ADMIN_PASSWORD="secret"))
        other = Waiting(self, "n2", self.line("n2", http[1], free_port(), [http[0], http[2]]))
        wait_until(lambda: "corvo_cluster_nodes_seen 2\n" in node.ask("GET", "/metrics")[1], "the other one is seen")
        self.assertEqual([s["id"] for s in node.ask("GET", "/debug/cluster")[1]["servers"]], ["n1"])
        self.assertEqual((node.end(signal.SIGTERM), other.end(signal.SIGTERM)), (0, 0))

    def test_too_few_in_time(self):
        http = [free_port() for _ in range(3)]
        node = Waiting(self, "n1", self.line("n1", http[0], free_port(), http[1:], CORVO_JOIN_TIMEOUT="300ms"))
        self.assertEqual(node.end(), 1)
        self.assertIn("1 of the 3 nodes of bootstrap-expect responded", "".join(node.lines))

    def test_one_that_lost_its_folder_begins_no_second_cluster(self):
        http = [free_port() for _ in range(3)]
        raft = [free_port() for _ in range(3)]
        lines = [self.line(f"n{i + 1}", http[i], raft[i], [p for p in http if p != http[i]]) for i in range(3)]
        nodes = self.start_all(*[lambda i=i: ByVariables(f"n{i + 1}", lines[i]) for i in range(3)])
        self.expect_one_cluster(nodes)
        # The first node began the cluster. The others are running as members, and refuse it without its data.
        nodes[0].terminate()
        lost = Waiting(self, "n1", lines[0])
        self.assertEqual(lost.end(), 1)
        self.assertIn("join", "".join(lost.lines))
        # The others have stopped: it waits for them.
        for node in nodes[1:]:
            node.terminate()
        lost = Waiting(self, "n1", lines[0])
        wait_until(lambda: lost.ask("GET", "/health")[1].get("forming"), "it waits")
        self.assertEqual(lost.end(signal.SIGTERM), 0)
        # With their folders all of them form the cluster again, without waiting for each other.
        for node in nodes:
            node.start()
        self.expect_one_cluster(nodes)

    def test_b70_unknown_strategies_end_the_start(self):
        for args, env in ((("--discover", "consul"), {}), ((), {"DISCOVERY_STRATEGY": "consul"}),
                          (("--discover", "static"), {})):
            run = run_command("server", "--data-dir", tempfile.mkdtemp(), *args, env=env)
            self.assertEqual(run.returncode, 1)
            self.assertIn("discover", run.stderr)


if __name__ == "__main__":
    unittest.main()
