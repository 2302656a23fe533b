"""TLS on the server's own port: certificates and their replacement at run time."""
import os
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import unittest

import grpc

from grpc_client import Service
from harness import PATIENCE_S, Server, environment, wait_until
from test_grpc import Frames


class Tls(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="corvo-tls-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.cert, self.key = (os.path.join(self.folder, f) for f in ("cert.pem", "key.pem"))
        self.first = self.make_certificate()
        self.server = Server("--tls-cert", self.cert, "--tls-key", self.key)
        self.addCleanup(self.server.stop)

    def make_certificate(self):
        """Create a new certificate with its key, in the files that the server reads. Return the certificate."""
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                        "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", self.key, "-out", self.cert],
                       env=environment(), check=True, capture_output=True)
        with open(self.cert, encoding="ascii") as file:
            return file.read()

    def connect(self, *protocols):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        if protocols:
            context.set_alpn_protocols(protocols)
        plain = socket.create_connection(("127.0.0.1", self.server.port), timeout=PATIENCE_S)
        connection = context.wrap_socket(plain)
        self.addCleanup(connection.close)
        return connection

    def certificate(self):
        """Return the certificate that a new connection receives."""
        return ssl.DER_cert_to_PEM_cert(self.connect().getpeercert(binary_form=True))

    def expect_healthy(self, connection):
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n")
        self.assertTrue(connection.recv(65536).startswith(b"HTTP/1.1 200 "))

    def reload(self, outcome):
        """Send SIGHUP. Returns the log record with the outcome."""
        count = len(self.server.events(outcome))
        self.server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: len(self.server.events(outcome)) > count, f"the log saying {outcome!r}")
        return self.server.events(outcome)[-1]

    def test_the_protocol_is_agreed_on(self):
        for offered, chosen in ((("h2", "http/1.1"), "h2"), (("http/1.1", "h2"), "h2"),
                                (("http/1.1",), "http/1.1"), (("spdy/1",), None), ((), None)):
            with self.subTest(offered=offered):
                self.assertEqual(self.connect(*offered).selected_alpn_protocol(), chosen)

    def test_rpc_over_tls(self):
        """grpcio uses HTTP/2 only if ALPN selected it."""
        trusted = grpc.ssl_channel_credentials(self.first.encode())
        with grpc.secure_channel(f"127.0.0.1:{self.server.port}", trusted) as found:
            worker, health = Service(found, "corvo.v1.WorkerService"), Service(found, "grpc.health.v1.Health")
            self.assertEqual(health.Check().status, 1)
            frames = Frames(worker)
            self.addCleanup(frames.close)
            made = frames.exchange(request_id=1, enqueues=[{"queue": "q"}] * 1000)
            self.assertEqual(len(made.enqueued_job_ids), 1000)
            done, acks, number = 0, [], 2
            while done < 1000:
                answer = frames.exchange(request_id=number, queues=["q"], fetch_count=100, acks=acks)
                self.assertEqual((answer.request_id, answer.error), (number, ""))
                done, number = done + answer.acked, number + 1
                acks = [{"job_id": job.job_id, "lease_token": job.lease_token} for job in answer.jobs]
            self.assertEqual(next(worker.Subscribe(types=["completed"])).job_id, made.enqueued_job_ids[0])
            frames.close()
            self.assertEqual(list(frames.answers), [])
            self.assertEqual(frames.answers.code(), grpc.StatusCode.OK)
        with grpc.secure_channel(f"127.0.0.1:{self.server.port}", grpc.ssl_channel_credentials()) as stranger:
            with self.assertRaises(grpc.RpcError) as caught:
                stranger.unary_unary("/corvo.v1.WorkerService/GetServerInfo")(b"", timeout=PATIENCE_S)
            self.assertEqual(caught.exception.code(), grpc.StatusCode.UNAVAILABLE)

    def test_certificates_are_read_again_on_sighup(self):
        old = self.connect()
        self.assertEqual(self.certificate(), self.first)
        second = self.make_certificate()
        self.reload("reloaded")
        wait_until(lambda: self.certificate() == second, "the new certificate")
        self.expect_healthy(old)

        # Unusable files change nothing, and the log names the file and the reason.
        with open(self.key, "w", encoding="ascii") as file:
            file.write("not a key\n")
        self.assertIn("key.pem", self.reload("tls not reloaded")["error"])
        os.unlink(self.cert)
        self.assertIn("cert.pem': no such file", self.reload("tls not reloaded")["error"])
        self.assertEqual(self.certificate(), second)
        self.expect_healthy(old)


if __name__ == "__main__":
    unittest.main()
