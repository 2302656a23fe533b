"""Nodes that authenticate each other by certificates of a private CA, and accept no others."""
import http.client
import os
import shutil
import socket
import ssl
import subprocess
import tempfile
import unittest

from harness import PATIENCE_S, Client, environment, metric, run_command, unique, wait_until
from test_cluster import Cluster, Node, free_port


class Authority:
    """A CA. The caller provides its folder."""

    def __init__(self, folder, name):
        self.folder, self.name, self.count = folder, name, 0
        self.key, self.ca = self.path("ca.key"), self.path("ca.pem")
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                     "-nodes", "-days", "2", "-subj", f"/CN={name}", "-keyout", self.key,
                     "-out", self.ca)

    def path(self, file):
        return os.path.join(self.folder, f"{self.name}-{file}")

    @staticmethod
    def openssl(*args):
        subprocess.run(["openssl", *args], env=environment(), check=True, capture_output=True)

    def issue(self, name):
        """Return the files of a certificate for this machine and of its key."""
        cert, key, request, extra = (self.path(f"{name}.{end}")
                                     for end in ("pem", "key", "csr", "ext"))
        with open(extra, "w", encoding="ascii") as file:
            file.write("subjectAltName=IP:127.0.0.1,DNS:localhost\n"
                       "extendedKeyUsage=serverAuth,clientAuth\n")
        self.openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                     "-subj", f"/CN={name}", "-keyout", key, "-out", request)
        self.openssl("x509", "-req", "-in", request, "-CA", self.ca, "-CAkey", self.key,
                     "-CAcreateserial", "-days", "2", "-extfile", extra, "-out", cert)
        return cert, key

    def peer(self, name):
        """Return the settings of a node with a certificate of this CA."""
        cert, key = self.issue(name)
        return ("--peer-tls-cert", cert, "--peer-tls-key", key, "--peer-tls-ca", self.ca)


class TlsCluster(Cluster):
    """Without a secret: only certificates authenticate nodes."""

    def __init__(self, authority, count=3):
        self.authority = authority
        super().__init__(count)

    def add(self, *args, name=None):
        name = name or f"n{len(self.nodes) + 1}"
        running = [n for n in self.nodes if n.alive()]
        running.sort(key=lambda n: n.status()["state"] != "Leader")
        node = Node(name, *self.authority.peer(name), *args, join=running, secret=None)
        self.nodes.append(node)
        return node


class SecureClient(Client):
    """A client that uses TLS, for a server with a certificate of this CA."""

    def __init__(self, server, ca):
        super().__init__(server)
        self.context = ssl.create_default_context(cafile=ca)

    def _connection(self):
        connection = getattr(self.local, "connection", None)
        if connection is None or connection.port != self.server.port:
            self.close()
            connection = http.client.HTTPSConnection("127.0.0.1", self.server.port,
                                                     timeout=PATIENCE_S, context=self.context)
            self.local.connection = connection
        return connection


class SecureNode(Node):
    """A node whose API uses TLS, too, with the same certificate."""

    def __init__(self, name, authority, join=None):
        self.authority = authority
        line = list(authority.peer(name))
        line += ["--tls-cert", line[1], "--tls-key", line[3]]
        if join:
            line += ["--join", f"https://127.0.0.1:{join.port}"]
        super().__init__(name, *line, secret=None)

    def start(self):
        super().start()
        self.api = SecureClient(self, self.authority.ca)

    def description(self):
        return None  # it would be requested without TLS


class PeerTls(unittest.TestCase):
    takes_long = True

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="corvo-authority-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.ours = Authority(self.folder, "ours")

    def test_three_nodes_with_certificates(self):
        with TlsCluster(self.ours) as cluster:
            queue = unique("q")
            ids = [cluster.leader().api.enqueue(queue) for _ in range(20)]
            ids += [node.api.enqueue(queue) for node in cluster.followers()]  # forwarded
            old = cluster.leader()
            old.kill()
            ids.append(cluster.leader().api.enqueue(queue))
            old.start()
            cluster.wait_same()
            for node in cluster.nodes:
                self.assertEqual(sorted(cluster.ids(node, queue)), sorted(ids))

    def refused_member(self, cluster, *args):
        """Add a node over the API whose connections to the peer port are then refused."""
        line = ("--node-id", "stranger", "--raft-bind", f"127.0.0.1:{free_port()}", "--log-format",
                "json", "--join", f"127.0.0.1:{cluster.leader().port}", *args)
        folder = tempfile.mkdtemp(prefix="corvo-stranger-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        process = subprocess.Popen(
            [os.environ["CORVO_BINARY"], "server", "--bind", "127.0.0.1:0", "--data-dir", folder,
             "--free-space-min", "0", *line], env=environment(), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            def tried():
                # The leader has tried to connect, and reports why it failed.
                return [n for n in cluster.leader().status()["nodes"]
                        if n["id"] == "stranger" and n.get("error")]
            found = wait_until(tried, "the leader does not reach the stranger")
            self.assertFalse(found[0]["voter"] and found[0]["role"] == "Follower", found)
            self.assertIsNone(process.poll(), "it waits, and does not serve")
        finally:
            process.kill()
            process.wait()
        api = cluster.leader().api
        api.must(api.delete("/api/v1/cluster/nodes/stranger"))
        api.enqueue("q")
        return found[0]["error"]

    def test_a_node_of_another_authority_is_refused(self):
        theirs = Authority(self.folder, "theirs")
        with TlsCluster(self.ours, 1) as cluster:
            error = self.refused_member(cluster, *theirs.peer("stranger"))
            self.assertRegex(error, "TLS: .*(certificate|ca)")

    def test_a_node_without_certificates_is_refused(self):
        with TlsCluster(self.ours, 1) as cluster:
            error = self.refused_member(cluster, "--cluster-secret", "it knows no certificate")
            self.assertNotEqual(error, "")

    @staticmethod
    def refusal(node, cert=None):
        """Return the TLS error of a connection to the peer port with this certificate."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        if cert:
            context.load_cert_chain(*cert)
        host, port = node.peer.split(":")
        with socket.create_connection((host, int(port)), timeout=PATIENCE_S) as plain:
            try:
                with context.wrap_socket(plain) as s:
                    s.recv(1)
            except ssl.SSLError as e:
                return e.reason
        return None

    def test_the_peer_port_wants_a_certificate(self):
        theirs = Authority(self.folder, "theirs")
        with TlsCluster(self.ours, 1) as cluster:
            node = cluster.nodes[0]
            self.assertIn("CERTIFICATE_REQUIRED", self.refusal(node))
            self.assertIn("UNKNOWN_CA", self.refusal(node, theirs.issue("x")))
            with socket.create_connection(("127.0.0.1", int(node.peer.split(":")[1])),
                                          timeout=PATIENCE_S) as s:
                s.sendall(b"no TLS at all")
                try:
                    while s.recv(4096):
                        pass
                except ConnectionResetError:
                    pass
            node.api.enqueue("q")

    def test_join_over_https_with_an_authority_of_ones_own(self):
        nodes = []
        try:
            nodes.append(SecureNode("n1", self.ours))
            nodes.append(SecureNode("n2", self.ours, join=nodes[0]))
            nodes.append(SecureNode("n3", self.ours, join=nodes[0]))
            first = nodes[0]
            wait_until(lambda: sum(n["voter"] for n in first.status()["nodes"]) == 3, "3 voters")
            queue = unique("q")
            job = nodes[2].api.enqueue(queue)  # forwarded over TLS
            wait_until(lambda: all(n.api.get(f"/api/v1/jobs/{job}").status == 200 for n in nodes),
                       "the job everywhere")
            self.assertEqual(sum(metric(n.api, "corvo_cluster_is_leader") for n in nodes), 1)
        finally:
            for node in nodes:
                node.discard()
                node.remove_folder()

    def test_join_over_https_of_somebody_else(self):
        """A joining node trusts only servers that its own CA has signed."""
        theirs = Authority(self.folder, "theirs")
        node = SecureNode("n1", theirs)
        process = None
        folder = tempfile.mkdtemp(prefix="corvo-joins-")
        try:
            process = subprocess.Popen(
                [os.environ["CORVO_BINARY"], "server", "--bind", "127.0.0.1:0", "--data-dir",
                 folder, "--node-id", "n2", "--raft-bind", f"127.0.0.1:{free_port()}",
                 "--log-format", "json", "--join", f"https://127.0.0.1:{node.port}",
                 *self.ours.peer("n2")], env=environment(), stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            for line in process.stderr:
                self.assertNotIn("joined cluster", line)
                if "join attempt failed" in line:
                    self.assertIn("certificate", line)
                    break
            self.assertEqual(len(node.status()["nodes"]), 1)
        finally:
            if process is not None:
                process.kill()
                process.communicate()
            shutil.rmtree(folder, ignore_errors=True)
            node.discard()
            node.remove_folder()

    def test_a_certificate_file_that_is_none(self):
        with open(os.path.join(self.folder, "none.pem"), "w", encoding="ascii") as file:
            file.write("nothing\n")
        good = self.ours.peer("n1")
        with tempfile.TemporaryDirectory() as folder:
            for place in (1, 3, 5):
                args = list(good)
                args[place] = file.name
                refused = run_command("server", "--bind", "127.0.0.1:0", "--data-dir", folder,
                                      "--raft-bind", f"127.0.0.1:{free_port()}", *args)
                self.assertEqual(refused.returncode, 1, refused.stderr)
                self.assertIn("none.pem", refused.stderr)


if __name__ == "__main__":
    unittest.main()
