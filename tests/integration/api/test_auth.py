"""Keys, roles, scopes, namespaces, sessions, the audit log and the organisation (contract 3, 18, 19)."""
import concurrent.futures
import hashlib
import http.client
import itertools
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import unittest
import urllib.parse

from harness import (PATIENCE_S, ApiTest, Server, binary, environment, in_threads, metric, own_address, unique,
                     wait_until)
from test_memory import LEAN, resident

KEYS = "/api/v1/auth/keys"


class KeyTest(ApiTest):
    settings = (*ApiTest.settings, "--admin-password", "the password")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.nobody = cls.api
        cls.api = cls.api.with_headers(X_API_Key="the password")

    def key(self, role="admin", **fields):
        """Create a key. Return its secret and its hash."""
        answer = self.api.must(self.api.post(KEYS, {"name": unique("key"), "role": role, **fields}))
        return answer["api_key"], answer["key_hash"]

    def client(self, role="admin", **fields):
        return self.nobody.with_headers(X_API_Key=self.key(role, **fields)[0])


class OpenServer(ApiTest):
    def test_the_first_key_closes_it(self):
        """18.1: at once. Deleting the last key opens the server again. The response reports the change."""
        with Server() as server:
            api = server.client()
            made = api.must(api.post(KEYS, {"name": "first", "role": "admin"}))
            self.assertIn("every request needs a key", made["note"])
            self.refused(api.get("/api/v1/queues"), 401, "UNAUTHORIZED", "missing API key")
            admin = api.with_headers(X_API_Key=made["api_key"])
            admin.must(admin.get("/api/v1/queues"))
            second = admin.must(admin.post(KEYS, {"name": "second", "enabled": False}))
            self.assertNotIn("note", second)
            for key in (second, made):
                self.assertEqual(admin.must(admin.delete(KEYS, {"key_hash": key["key_hash"]})),
                                 {"status": "deleted"})
            api.must(api.get("/api/v1/queues"))

    def test_a_first_key_that_is_no_admin_says_so(self):
        with Server() as server:
            api = server.client()
            made = api.must(api.post(KEYS, {"name": "reader"}))
            self.assertIn("--admin-password", made["note"])

    def test_callers_through_a_proxy_are_not_local(self):
        """26: 403 with instructions how to change that. Health checks stay open."""
        for settings, status in (((), 403), (("--open-access",), 200),
                                 (("--admin-password", "secret"), 401)):
            with Server(*settings) as server:
                api = server.client()
                proxied = api.with_headers(X_Forwarded_For="203.0.113.9")
                answer = proxied.get("/api/v1/queues")
                self.assertEqual(answer.status, status, answer)
                if status == 403:
                    self.refused(answer, 403, "OPEN_ACCESS_DISABLED", "--admin-password")
                    rpc = proxied.with_headers(Content_Type="application/json")
                    self.assertEqual(rpc.post("/corvo.v1.WorkerService/Enqueue",
                                              {"queue": "q"}).status, 403)
                for path in ("/healthz", "/livez", "/readyz"):
                    self.assertEqual(proxied.get(path).status, 200)

    def test_web_pages_of_other_sites_are_not_local(self):
        """A browser on this machine sends their requests. Pages of this machine are allowed."""
        for settings, site, status in (((), "cross-site", 403), ((), "same-site", 200), ((), "same-origin", 200),
                                       ((), "none", 200), (("--open-access",), "cross-site", 200)):
            with self.subTest(settings=settings, site=site), Server(*settings) as server:
                page = server.client().with_headers(Sec_Fetch_Site=site, Origin="https://elsewhere.example")
                self.assertEqual(page.get("/api/v1/queues").status, status)
                if status == 403:
                    self.refused(page.post("/api/v1/enqueue", {"queue": "q"}), 403, "OPEN_ACCESS_DISABLED", "web pages")
                    self.assertEqual(page.post("/jobs", {}).status, 403)
                    rpc = page.with_headers(Content_Type="application/json")
                    self.assertEqual(rpc.post("/corvo.v1.WorkerService/Enqueue", {"queue": "q"}).status, 403)

    def test_web_pages_that_browsers_do_not_mark(self):
        """26: without Sec-Fetch-Site, which browsers omit if the URL is plain HTTP with a name other than localhost."""
        with Server() as server, Server("--open-access") as everybody:
            pages = (({"Host": f"evil.example:{server.port}"}, 403, "not 'evil.example:"),
                     ({"Host": "EVIL.Example."}, 403, "not 'EVIL.Example.'"), ({"Host": "localhost.evil.example"}, 403, "not '"),
                     ({"Host": "127.0.0.1.evil.example"}, 403, "not '"), ({"Host": "evil.xlocalhost"}, 403, "not '"),
                     ({"Host": "evil.example:8080]"}, 403, "not '"), ({"Host": "[::1].evil.example"}, 403, "not '"),
                     ({"Origin": "http://evil.example"}, 403, "web pages"), ({"Origin": "null"}, 403, "web pages"),
                     ({"Origin": "http://evil.example", "Sec-Fetch-Site": "none"}, 200, None),
                     ({"Origin": "http://localhost:5173"}, 200, None), ({"Origin": "https://[::1]"}, 200, None),
                     ({"Host": "LocalHost"}, 200, None), ({"Host": "app.localhost:8080"}, 200, None),
                     ({"Host": "127.1.2.3:9"}, 200, None), ({"Host": "[::1]:8080"}, 200, None), ({"Host": "box"}, 200, None))
            for headers, status, words in pages:
                with self.subTest(headers):
                    answer = server.client().get("/api/v1/queues", headers)
                    self.assertEqual(answer.status, status, answer)
                    if words is not None:
                        self.refused(answer, 403, "OPEN_ACCESS_DISABLED", words)
                        self.assertEqual(server.client().post("/api/v1/enqueue", {"queue": "q"}, headers).status, 403)
                        self.assertEqual(server.client().post("/jobs", {}, headers).status, 403)
                    self.assertEqual(everybody.client().get("/api/v1/queues", headers).status, 200)

    def test_callers_from_another_address(self):
        """The same for clients that use an address of this machine that is not loopback."""
        address = own_address()
        if address is None:
            self.skipTest("this machine has no other address")
        for settings, status in (((), 403), (("--open-access",), 200),
                                 (("--admin-password", "secret"), 401)):
            with Server("--bind", "0.0.0.0:0", *settings) as server:
                connection = http.client.HTTPConnection(address, server.port, timeout=PATIENCE_S)
                connection.request("GET", "/api/v1/queues")
                self.assertEqual(connection.getresponse().status, status)
                connection.close()
                self.assertNotEqual(server.client().get("/api/v1/queues").status, 403)


class AnotherNetwork(unittest.TestCase):
    """A server and a client in separate network namespaces, with a cable between them."""
    SERVER, CLIENT = "192.0.2.1", "192.0.2.2"  # addresses for documentation, which nobody owns

    def run_ip(self, *words):
        done = subprocess.run(["ip", *words], capture_output=True, text=True)
        if done.returncode != 0 and "Operation not permitted" in done.stderr + done.stdout:
            self.skipTest("network namespaces need root")
        self.assertEqual(done.returncode, 0, (words, done.stderr))

    def setUp(self):
        name = f"corvo{os.getpid()}-{next(AnotherNetwork.numbers)}"
        self.spaces = [f"{name}s", f"{name}c"]
        for space in self.spaces:
            self.run_ip("netns", "add", space)
            self.addCleanup(subprocess.run, ["ip", "netns", "del", space])
        self.run_ip("link", "add", "s", "netns", self.spaces[0], "type", "veth", "peer", "name", "c",
                    "netns", self.spaces[1])
        for space, link, address in zip(self.spaces, "sc", (self.SERVER, self.CLIENT)):
            self.run_ip("-n", space, "addr", "add", f"{address}/30", "dev", link)
            for each in (link, "lo"):
                self.run_ip("-n", space, "link", "set", each, "up")

    def start(self, *settings):
        folder = tempfile.mkdtemp(prefix="corvo-auth-")
        self.addCleanup(shutil.rmtree, folder)
        log = pathlib.Path(folder, "log")
        with open(log, "wb") as out:
            server = subprocess.Popen(
                ["ip", "netns", "exec", self.spaces[0], binary(), "server", "--bind", "0.0.0.0:8080", "--data-dir",
                 os.path.join(folder, "data"), "--segment-bytes", str(4 << 20), *settings], stderr=out, env=environment())
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        wait_until(lambda: b"corvo server ready" in log.read_bytes(), "it is ready")

    def status(self, space, address, *headers):
        words = [word for header in headers for word in ("-H", header)]
        return int(subprocess.run(
            ["ip", "netns", "exec", space, "curl", "-s", "-m", str(PATIENCE_S), "-o", "/dev/null", "-w", "%{http_code}",
             *words, f"http://{address}:8080/api/v1/queues"], capture_output=True, text=True).stdout)

    numbers = itertools.count(1)

    def test_an_open_server_is_for_its_own_machine(self):
        self.start()
        self.assertEqual(self.status(self.spaces[0], "127.0.0.1"), 200)
        self.assertEqual(self.status(self.spaces[1], self.SERVER), 403)

    def test_with_a_password_it_serves_others(self):
        self.start("--admin-password", "secret")
        self.assertEqual(self.status(self.spaces[1], self.SERVER), 401)
        self.assertEqual(self.status(self.spaces[1], self.SERVER, "X-API-Key: secret"), 200)


class Keys(KeyTest):
    def test_a_round_trip(self):
        secret, key_hash = self.key("operator", queue_scope="emails.*",
                                    expires_at="2099-01-01T00:00:00Z", namespace="acme")
        self.assertEqual(key_hash, hashlib.sha256(secret.encode()).hexdigest())
        self.assertRegex(secret, r"\Ask_[0-9a-f]{40,}\Z")
        row = next(k for k in self.api.must(self.api.get(KEYS)) if k["key_hash"] == key_hash)
        self.assertEqual({k: row[k] for k in ("role", "namespace", "enabled", "queue_scope",
                                              "expires_at")},
                         {"role": "operator", "namespace": "acme", "enabled": True,
                          "queue_scope": "emails.*", "expires_at": "2099-01-01T00:00:00Z"})
        self.assertNotIn("last_used_at", row)
        self.assertNotIn(secret, json.dumps(self.api.must(self.api.get(KEYS))))

    def test_a_secret_of_the_callers_own(self):
        """Posting a known secret changes all fields except created_at."""
        secret = unique("my own secret")
        for role in ("worker", "admin"):
            made = self.api.must(self.api.post(KEYS, {"name": role, "role": role, "key": secret}))
            self.assertEqual(made["api_key"], secret)
        rows = [k for k in self.api.must(self.api.get(KEYS)) if k["key_hash"] == made["key_hash"]]
        self.assertEqual([(k["name"], k["role"]) for k in rows], [("admin", "admin")])

    def test_a_short_secret(self):
        """18.1 has no minimum: one byte is enough. The log has one line for each short key."""
        for secret, short in (("s", True), ("7 bytes", True), ("8 bytes.", False)):
            name = unique("short")
            for _ in range(2):
                self.assertEqual(self.api.must(self.api.post(KEYS, {
                    "name": name, "key": secret, "role": "readonly"}))["api_key"], secret)
            client = self.nobody.with_headers(X_API_Key=secret)
            client.must(client.get("/api/v1/queues"))
            def lines():
                return [e for e in self.server.events("short API key") if e["name"] == name]
            wait_until(lambda: len(lines()) == (1 if short else 0), "the line in the log")

    def test_refusals(self):
        self.refused(self.api.post(KEYS, {"role": "admin"}), 400, "AUTH_ERROR", "name is required")
        self.refused(self.api.post(KEYS, {"name": "x", "expires_at": "soon"}), 400, "AUTH_ERROR")
        self.refused(self.api.post(KEYS, {"name": "x", "namespace": "No!"}), 400, "AUTH_ERROR")
        self.refused(self.api.delete(KEYS, {}), 400, "VALIDATION_ERROR")
        for key_hash in ("no hash", "0" * 64):
            self.assertEqual(self.api.must(self.api.delete(KEYS, {"key_hash": key_hash})),
                             {"status": "deleted"})

    def test_ways_to_show_it(self):
        secret, _ = self.key()
        for headers in ({"X_API_Key": secret}, {"Authorization": f"Bearer {secret}"},
                        {"Authorization": f"bEARER {secret}"},
                        {"Cookie": f"corvo_api_key={secret}"}):
            with self.subTest(headers):
                client = self.nobody.with_headers(**headers)
                client.must(client.get("/api/v1/queues"))

    def test_rotation(self):
        """For a while both secrets are valid. The new key keeps the roles."""
        secret, key_hash = self.key("nothing")
        role = unique("role").replace(".", "-")
        self.api.must(self.api.post("/api/v1/auth/roles", {
            "name": role, "permissions": [{"resource": "queues", "actions": ["read"]}]}))
        self.api.must(self.api.post(f"{KEYS}/{key_hash}/roles", {"role": role}))
        made = self.api.must(self.api.post(f"{KEYS}/{key_hash}/rotate", {"overlap": "1h"}))
        for credential in (secret, made["api_key"]):
            client = self.nobody.with_headers(X_API_Key=credential)
            client.must(client.get("/api/v1/queues"))
        rows = {k["key_hash"]: k for k in self.api.must(self.api.get(KEYS))}
        self.assertEqual(rows[key_hash]["expires_at"], made["old_expires_at"])
        self.assertNotIn("expires_at", rows[made["key_hash"]])
        again = self.api.must(self.api.post(f"{KEYS}/{made['key_hash']}/rotate", {"overlap": "0"}))
        self.refused(self.nobody.with_headers(X_API_Key=made["api_key"]).get("/api/v1/queues"),
                     401, "UNAUTHORIZED", "expired API key")
        client = self.nobody.with_headers(X_API_Key=again["api_key"])
        client.must(client.get("/api/v1/queues"))
        self.refused(self.api.post(f"{KEYS}/{'0' * 64}/rotate"), 404, "NOT_FOUND")

    def test_a_rotation_does_not_undo_a_change(self):
        """18.1: a key that is disabled while it is rotated stays disabled."""
        for _ in range(20):
            secret, key_hash = self.key("admin")
            changes = (lambda: self.api.post(KEYS, {"name": "k", "key": secret, "role": "readonly", "enabled": False}),
                       lambda: self.api.post(f"{KEYS}/{key_hash}/rotate", {"overlap": "1h"}))
            for answer in in_threads(2, lambda i: changes[i]()):
                self.api.must(answer)
            row = {k["key_hash"]: k for k in self.api.must(self.api.get(KEYS))}[key_hash]
            self.assertEqual((row["enabled"], row["role"]), (False, "readonly"))

    def test_use_is_noted(self):
        secret, key_hash = self.key()
        client = self.nobody.with_headers(X_API_Key=secret)
        client.must(client.get("/api/v1/queues"))

        def used():
            return next(k for k in self.api.must(self.api.get(KEYS))
                        if k["key_hash"] == key_hash).get("last_used_at")
        self.assert_time(wait_until(used, "last_used_at"))

    def test_secrets_are_never_stored_or_logged(self):
        with Server("--admin-password", "pass-word-1", "--log-level", "debug") as server:
            api = server.client(**{"X-API-Key": "pass-word-1"})
            made = api.must(api.post(KEYS, {"name": "n", "role": "admin"}))
            session = api.post("/api/v1/auth/session", {"credential": made["api_key"]})
            token = re.match("corvo_session=([^;]+)", session.headers["set-cookie"])[1]
            client = server.client(**{"X-API-Key": made["api_key"]})
            client.must(client.get("/api/v1/queues"))
            for secret in (made["api_key"], token, "pass-word-1"):
                found = subprocess.run(["grep", "-rlF", "--", secret, server.folder],
                                       capture_output=True, text=True, check=False)
                self.assertEqual(found.stdout, "")
                self.assertNotIn(secret, "".join(server.lines))

    def test_a_restart_keeps_them(self):
        folder = tempfile.mkdtemp(prefix="corvo-auth-")
        try:
            with Server(data_dir=folder) as server:
                api = server.client()
                secret = api.must(api.post(KEYS, {"name": "n", "role": "admin"}))["api_key"]
            with Server(data_dir=folder) as server:
                self.assertEqual(server.client().get("/api/v1/queues").status, 401)
                client = server.client(**{"X-API-Key": secret})
                client.must(client.get("/api/v1/queues"))
        finally:
            shutil.rmtree(folder)


class Tenants(KeyTest):
    def test_a_key_stays_in_its_namespace(self):
        """3.4: whatever the header contains, unless the key is for all namespaces."""
        client = self.client(namespace="acme")
        job = client.enqueue(self.queue)
        self.assertEqual(self.api.job(job)["queue"], f"acme::{self.queue}")
        other = client.with_headers(X_Corvo_Namespace="other")
        self.assertEqual(other.job(job)["queue"], self.queue)
        other = client.with_headers(X_Corvo_Namespace="default", X_Corvo_Forwarded="1")
        self.assertEqual(other.job(job)["queue"], self.queue)
        every = self.client(namespace="*").with_headers(X_Corvo_Namespace="acme")
        self.assertEqual(every.job(job)["queue"], self.queue)

    def test_metrics_have_the_labels_of_its_own_queues(self):
        acme, other = self.client(namespace="acme"), self.client(namespace="other")
        acme.enqueue(self.queue)
        other.enqueue(self.queue + ".theirs")
        text = acme.get("/api/v1/metrics").body.decode()
        self.assertIn(f'queue="{self.queue}"', text)
        self.assertNotIn(".theirs", text)
        self.assertNotIn("acme::", text)
        self.assertIn(f'queue="other::{self.queue}.theirs"', self.api.get("/api/v1/metrics").body.decode())

    def test_ids_of_another_tenant(self):
        """Wherever an id is accepted: 404, and nothing has changed."""
        acme, other = self.client(namespace="acme"), self.client(namespace="other")
        job = acme.enqueue(self.queue)
        for method, path, body in (
                ("GET", f"jobs/{job}", None), ("DELETE", f"jobs/{job}", None),
                *[("POST", f"jobs/{job}/{a}", {"queue": "x", "from": 1})
                  for a in ("retry", "cancel", "hold", "approve", "reject", "move", "replay")],
                ("GET", f"jobs/{job}/iterations", None), ("GET", f"jobs/{job}/explain", None),
                ("POST", f"ack/{job}", {}), ("POST", f"fail/{job}", {"error": "x"})):
            with self.subTest(method=method, path=path):
                self.refused(other.request(method, f"/api/v1/{path}", body), 404, "NOT_FOUND")
        answer = other.must(other.post("/api/v1/heartbeat", {"jobs": {job: {}}}))
        self.assertEqual(answer["unknown"], [job])
        self.assertEqual(other.must(other.post("/api/v1/jobs/bulk-get", {"job_ids": [job]})),
                         {"jobs": []})
        self.assertEqual(other.must(other.post("/api/v1/jobs/search", {}))["jobs"], [])
        self.assertEqual(acme.state(job), "pending")

    def test_an_admin_of_a_namespace(self):
        """It can manage the keys of its namespace and nothing of the server."""
        acme = self.client(namespace="acme")
        made = acme.must(acme.post(KEYS, {"name": "mine", "role": "worker"}))
        rows = acme.must(acme.get(KEYS))
        self.assertEqual({k["namespace"] for k in rows}, {"acme"})
        self.assertIn(made["key_hash"], [k["key_hash"] for k in rows])
        for namespace in ("default", "other", "*"):
            self.refused(acme.post(KEYS, {"name": "x", "namespace": namespace}), 403, "FORBIDDEN")
        secret, key_hash = self.key(namespace="other")
        self.refused(acme.delete(KEYS, {"key_hash": key_hash}), 403, "FORBIDDEN")
        self.refused(acme.post(KEYS, {"name": "x", "key": secret}), 403, "FORBIDDEN")
        self.refused(acme.post(f"{KEYS}/{key_hash}/rotate"), 404, "NOT_FOUND")
        self.refused(acme.post(f"{KEYS}/{key_hash}/roles", {"role": "r"}), 403, "FORBIDDEN")
        role = unique("role").replace(".", "-")
        self.api.must(self.api.post("/api/v1/auth/roles", {
            "name": role, "permissions": [{"resource": "queues", "actions": ["read"]}]}))
        self.api.must(self.api.post(f"{KEYS}/{key_hash}/roles", {"role": role}))
        for client, roles in ((self.api, [role]), (acme, [])):
            self.assertEqual(client.must(client.get(f"{KEYS}/{key_hash}/roles"))["roles"], roles)
        for method, path, body in (("POST", "namespaces", {"name": "x"}),
                                   ("DELETE", "namespaces/acme", None),
                                   ("PUT", "org", {"name": "x"}),
                                   ("POST", "org/api-keys", {"name": "x"}),
                                   ("POST", "auth/roles", {"name": "x", "permissions": [
                                       {"resource": "*", "actions": ["*"]}]}),
                                   ("POST", "admin/rebuild-sqlite", None),
                                   ("POST", "admin/accept-clock", None),
                                   ("GET", "admin/backup?namespace=other", None)):
            with self.subTest(path):
                self.refused(acme.request(method, f"/api/v1/{path}", body), 403, "FORBIDDEN")


class Scopes(KeyTest):
    def setUp(self):
        super().setUp()
        self.scoped = self.client("operator", queue_scope=f"{self.queue}.in, other.*")
        self.inside, self.outside = f"{self.queue}.in.a", f"{self.queue}.out"

    def test_queues(self):
        """3.5: 403 if a queue outside the scope is named, 404 for its jobs."""
        job, hidden = self.api.enqueue(self.inside), self.api.enqueue(self.outside)
        for path, body in (("enqueue", {"queue": self.outside}),
                           ("enqueue/batch", {"jobs": [{"queue": self.inside},
                                                       {"queue": self.outside}]}),
                           ("fetch", {"queues": [self.inside, self.outside], "timeout": 1}),
                           (f"queues/{self.outside}/pause", None),
                           (f"jobs/{job}/move", {"queue": self.outside}),
                           ("jobs/search", {"queue": self.outside})):
            with self.subTest(path):
                self.refused(self.scoped.post(f"/api/v1/{path}", body), 403, "FORBIDDEN", "outside the queues that this key may use")
        self.refused(self.scoped.get(f"/api/v1/jobs/{hidden}"), 404, "NOT_FOUND")
        self.refused(self.scoped.post(f"/api/v1/jobs/{hidden}/cancel"), 404, "NOT_FOUND")
        self.assertEqual(self.scoped.job(job)["queue"], self.inside)
        self.assertEqual(self.scoped.fetch(self.inside)["job_id"], job)

    def test_lists(self):
        job, hidden = self.api.enqueue(self.inside, tags={"t": self.queue}), \
            self.api.enqueue(self.outside, tags={"t": self.queue})
        self.assertEqual(list(self.scoped.queues()), [self.inside])
        found = self.scoped.must(self.scoped.post("/api/v1/jobs/search",
                                                  {"tags": {"t": self.queue}}))
        self.assertEqual([j["id"] for j in found["jobs"]], [job])
        self.assertEqual(found["total"], 1)
        words = self.scoped.must(self.scoped.get(f"/api/v1/search/fulltext?q={self.queue}"))
        self.assertNotIn(hidden, json.dumps(words))
        events = self.scoped.must(self.scoped.get("/api/v1/cluster/events?limit=1000"))["events"]
        self.assertEqual({e["queue"] for e in events}, {self.inside})
        self.assertEqual(self.scoped.must(self.scoped.post(
            "/api/v1/jobs/bulk-get", {"job_ids": [job, hidden]}))["jobs"][0]["id"], job)

    def test_bulk(self):
        job, hidden = self.api.enqueue(self.inside), self.api.enqueue(self.outside)
        done = self.scoped.must(self.scoped.post("/api/v1/jobs/bulk",
                                                 {"action": "cancel", "job_ids": [job, hidden]}))
        self.assertEqual((done["affected"], done["errors"]), (1, 1))
        self.assertEqual(self.api.state(hidden), "pending")

    def test_it_makes_no_keys(self):
        scoped = self.client("admin", queue_scope="x")
        self.refused(scoped.post(KEYS, {"name": "n", "role": "admin"}), 403, "FORBIDDEN")

    def test_rpc(self):
        rpc = self.scoped.with_headers(Content_Type="application/json")
        path = "/corvo.v1.WorkerService/"
        self.assertEqual(rpc.post(path + "Enqueue", {"queue": self.outside}).status, 403)
        self.assertEqual(rpc.post(path + "Enqueue", {"queue": self.inside}).status, 200)
        self.assertEqual(rpc.post(path + "Fetch", {"queues": [self.outside]}).status, 403)


class Roles(KeyTest):
    def test_a_round_trip(self):
        name = unique("Role").replace(".", "-")
        body = {"name": name, "permissions": [{"resource": "queues", "actions": ["read", "pause"]}]}
        self.assertEqual(self.api.must(self.api.post("/api/v1/auth/roles", body)), {"status": "ok"})
        row = next(r for r in self.api.must(self.api.get("/api/v1/auth/roles")) if r["name"] == name)
        self.assertEqual(row["permissions"], body["permissions"])
        _, key_hash = self.key("custom")
        for _ in range(2):
            self.api.must(self.api.post(f"{KEYS}/{key_hash}/roles", {"role": name.upper()}))
        self.assertEqual(self.api.must(self.api.get(f"{KEYS}/{key_hash}/roles")),
                         {"key_hash": key_hash, "roles": [name.lower()]})
        self.api.must(self.api.delete(f"/api/v1/auth/roles/{name}"))
        self.assertEqual(self.api.must(self.api.get(f"{KEYS}/{key_hash}/roles"))["roles"], [])

    def test_a_key_with_a_role_of_its_own(self):
        """Checklist 48."""
        name = unique("role").replace(".", "-")
        self.api.must(self.api.post("/api/v1/auth/roles", {
            "name": name, "permissions": [{"resource": "queues", "actions": ["read"]}]}))
        secret, key_hash = self.key("custom")
        client = self.nobody.with_headers(X_API_Key=secret)
        self.refused(client.get("/api/v1/queues"), 403, "FORBIDDEN",
                     "insufficient role permissions")
        self.api.must(self.api.post(f"{KEYS}/{key_hash}/roles", {"role": name}))
        client.must(client.get("/api/v1/queues"))
        self.refused(client.post("/api/v1/enqueue", {"queue": "q"}), 403, "FORBIDDEN")
        self.api.must(self.api.delete(f"{KEYS}/{key_hash}/roles/{name}"))
        self.refused(client.get("/api/v1/queues"), 403, "FORBIDDEN")

    def test_refusals(self):
        for body in ({"name": "x"}, {"permissions": [{"resource": "a", "actions": ["b"]}]},
                     {"name": "x", "permissions": []},
                     {"name": "Admin", "permissions": [{"resource": "a", "actions": ["read"]}]}):
            self.refused(self.api.post("/api/v1/auth/roles", body), 400, "VALIDATION_ERROR")

    def test_refusals_name_what_is_missing(self):
        good = [{"resource": "jobs", "actions": ["read"]}]
        for body, message in (({"permissions": good}, "name is required"),
                              ({"name": "x", "permissions": []}, "permissions: at least one")):
            self.refused(self.api.post("/api/v1/auth/roles", body), 400, "VALIDATION_ERROR", message)

    def test_an_unknown_action_is_refused(self):
        """26: with a list of the actions."""
        good = {"resource": "jobs", "actions": ["Read", "*"]}
        self.refused(self.api.post("/api/v1/auth/roles", {
            "name": "typo", "permissions": [good, {"resource": "jobs", "actions": ["read", "raed"]}]}),
            400, "VALIDATION_ERROR",
            "permissions[1].actions[1]: expected read, write, delete, pause, resume, drain, clear, retry, cancel, approve, "
            "reject, hold, move, replay or *, got 'raed'")
        self.assertNotIn("typo", [r["name"] for r in self.api.must(self.api.get("/api/v1/auth/roles"))])
        self.api.must(self.api.post("/api/v1/auth/roles", {"name": "typo", "permissions": [good]}))


class Features(ApiTest):
    settings = (*ApiTest.settings, "--features", "audit")

    def test_a_feature_that_is_off(self):
        """3.7: exactly this 403 response."""
        for path, feature in (("auth/roles", "rbac"), ("namespaces", "namespaces")):
            self.refused(self.api.get(f"/api/v1/{path}"), 403, "LICENSE_ERROR",
                         f"enterprise feature not enabled: {feature}")
        self.assertEqual(self.api.get("/api/v1/audit-logs").status, 200)


class Namespaces(KeyTest):
    def test_the_default_one_is_as_old_as_the_organisation(self):
        with Server() as server:
            api = server.client()
            [default] = api.must(api.get("/api/v1/namespaces"))
            self.assertEqual(default, {"name": "default",
                                       "created_at": api.must(api.get("/api/v1/org"))["created_at"]})

    def test_the_register(self):
        """Checklist 51."""
        name = unique("ns").replace(".", "-")
        self.assertEqual(self.api.must(self.api.post("/api/v1/namespaces", {"name": name}), 201),
                         {"name": name, "status": "created"})
        self.refused(self.api.post("/api/v1/namespaces", {"name": name}), 409, "CONFLICT",
                     "namespace already exists")
        self.refused(self.api.post("/api/v1/namespaces", {"name": "default"}), 409, "CONFLICT")
        for bad in ("", "A", "-a", "a-", "a" * 64, "a_b"):
            self.refused(self.api.post("/api/v1/namespaces", {"name": bad}), 400,
                         "VALIDATION_ERROR")
        rows = self.api.must(self.api.get("/api/v1/namespaces"))
        for row in rows:
            self.assert_time(row["created_at"])
        self.assertIn("default", [r["name"] for r in rows])
        self.assertIn(name, [r["name"] for r in rows])
        self.refused(self.api.delete("/api/v1/namespaces/default"), 400, "VALIDATION_ERROR")
        self.api.must(self.api.delete(f"/api/v1/namespaces/{name}"))
        self.assertNotIn(name, [r["name"] for r in self.api.must(
            self.api.get("/api/v1/namespaces"))])

    def test_request_limits(self):
        path = "/api/v1/namespaces/default/rate-limit"
        self.assertEqual(self.api.must(self.api.get(path)), {"using_defaults": True})
        self.api.must(self.api.put(path, {"read_rps": 0.5, "write_burst": None}))
        self.assertEqual(self.api.must(self.api.get(path)),
                         {"using_defaults": False, "read_rps": 0.5})
        for field in ("read_rps", "read_burst", "write_rps", "write_burst"):
            for bad in (0, -1, -5e9, 1e10):
                self.refused(self.api.put(path, {"read_rps": 1, field: bad}), 400, "VALIDATION_ERROR",
                             f"{field}: expected ")
            for bad in ("5", True, [1]):  # 1.5: a wrong type of a known member
                self.refused(self.api.put(path, {"read_rps": 1, field: bad}), 400, "PARSE_ERROR",
                             f"{field}: expected a number")
        self.api.must(self.api.put(path, {}))
        self.assertEqual(self.api.must(self.api.get(path)), {"using_defaults": True})
        self.refused(self.api.get("/api/v1/namespaces/none/rate-limit"), 404, "NOT_FOUND")
        self.refused(self.api.put("/api/v1/namespaces/none/rate-limit", {}), 404, "NOT_FOUND")

    def test_limits_and_quotas_do_not_overwrite_each_other(self):
        self.api.must(self.api.post("/api/v1/namespaces", {"name": "both"}), 201, 200)
        for name in ("both", "default"):
            path = f"/api/v1/namespaces/{name}"
            changes = (("rate-limit", {"read_rps": 700}), ("quota", {"max_jobs": 5000}))
            for _ in range(20):
                for what, _ in changes:
                    self.api.must(self.api.put(f"{path}/{what}", {}))
                for answer in in_threads(2, lambda i: self.api.put(f"{path}/{changes[i][0]}", changes[i][1])):
                    self.api.must(answer)
                self.assertEqual(self.api.must(self.api.get(f"{path}/rate-limit"))["read_rps"], 700)
                self.assertEqual(self.api.must(self.api.get(f"{path}/quota"))["jobs"]["max"], 5000)
            for what, _ in changes:
                self.api.must(self.api.put(f"{path}/{what}", {}))

    def test_quotas(self):
        """Limits for jobs, their bytes and queues of a namespace. Other namespaces and other limits are not changed."""
        path = "/api/v1/namespaces/quotas/quota"
        self.refused(self.api.get(path), 404, "NOT_FOUND")
        self.refused(self.api.put(path, {"max_jobs": 1}), 404, "NOT_FOUND")
        self.api.must(self.api.post("/api/v1/namespaces", {"name": "quotas"}), 201)
        self.api.must(self.api.put("/api/v1/namespaces/quotas/rate-limit", {"write_rps": 900}))
        self.refused(self.api.put(path, {"max_jobs": -1}), 400, "VALIDATION_ERROR")
        for bad in ({"max_queues": "x"}, {"max_payload_bytes": 1.5}):
            self.refused(self.api.put(path, bad), 400, "PARSE_ERROR")
        self.api.must(self.api.put(path, {"max_jobs": 3, "max_payload_bytes": 100, "max_queues": 2}))
        key = self.api.must(self.api.post(KEYS, {"name": "q", "role": "admin", "namespace": "quotas"}))
        tenant = self.server.client(**{"X-API-Key": key["api_key"]})

        def enqueue(queue, payload, count=1):
            return tenant.post("/api/v1/enqueue/batch",
                               {"jobs": [{"queue": queue, "payload": payload}] * count})

        tenant.must(enqueue("a", {}, 2), 201)
        answer = enqueue("a", {}, 2)
        self.refused(answer, 429, "QUOTA_EXCEEDED")
        self.assertIn("3 jobs that have not ended", answer.json["error"])
        self.refused(enqueue("a", "x" * 120), 429, "QUOTA_EXCEEDED")
        tenant.must(enqueue("b", {}), 201)
        self.assertEqual(self.api.must(self.api.get(path)),
                         {"jobs": {"used": 3, "max": 3}, "payload_bytes": {"used": 6, "max": 100},
                          "queues": {"used": 2, "max": 2}})
        self.assertEqual(tenant.must(tenant.get(path))["jobs"]["used"], 3)  # it may read the quota of its own namespace
        self.refused(tenant.put(path, {}), 403, "FORBIDDEN")
        # The end of a job frees quota, but not for one queue too many.
        job, = tenant.must(tenant.post("/api/v1/fetch/batch", {"queues": ["a"], "worker_id": "w", "count": 1}))["jobs"]
        tenant.must(tenant.post(f"/api/v1/ack/{job['job_id']}", {}))
        self.refused(enqueue("c", {}), 429, "QUOTA_EXCEEDED")
        tenant.must(enqueue("b", {}), 201)
        # Request limits and quota do not change each other.
        self.api.must(self.api.put("/api/v1/namespaces/quotas/rate-limit", {}))
        self.refused(enqueue("b", {}), 429, "QUOTA_EXCEEDED")
        self.api.must(self.api.put(path, {}))
        self.assertEqual(self.api.must(self.api.get(path))["jobs"], {"used": 3})
        tenant.must(enqueue("c", {}, 5), 201)

    def test_limits_are_kept(self):
        """1.7: at once, only for keys of the namespace."""
        with Server("--admin-password", "pw") as server:
            api = server.client(**{"X-API-Key": "pw"})
            api.must(api.post("/api/v1/namespaces", {"name": "small"}), 201)
            api.must(api.put("/api/v1/namespaces/small/rate-limit",
                             {"read_rps": 0.0001, "read_burst": 2}))
            keys = [api.must(api.post(KEYS, {"name": "k", "role": "admin", "namespace": ns}))
                    for ns in ("small", "default")]
            small, big = (server.client(**{"X-API-Key": k["api_key"]}) for k in keys)
            self.assertEqual([small.get("/api/v1/queues").status for _ in range(3)],
                             [200, 200, 429])
            self.assertEqual([big.get("/api/v1/queues").status for _ in range(3)], [200] * 3)


class Sessions(KeyTest):
    def sign_in(self, credential, **headers):
        answer = self.nobody.post("/api/v1/auth/session", {"credential": credential}, headers)
        self.nobody.must(answer)
        return answer.headers["set-cookie"]

    def with_cookie(self, cookie, **headers):
        return self.nobody.with_headers(Cookie=cookie.split(";")[0], **headers)

    def test_the_cookie(self):
        """HttpOnly, SameSite, an expiry, Secure behind TLS. The server chooses the token."""
        cookie = self.sign_in("the password")
        for part in ("; HttpOnly", "; SameSite=Strict", "; Path=/", "; Max-Age=43200"):
            self.assertIn(part, cookie)
        self.assertNotIn("Secure", cookie)
        self.assertIn("; Secure", self.sign_in("the password", **{"X-Forwarded-Proto": "https"}))
        fixed = self.nobody.post("/api/v1/auth/session", {"credential": "the password"},
                                 {"Cookie": "corvo_session=ss_chosen"})
        self.assertNotIn("ss_chosen", fixed.headers["set-cookie"])
        client = self.with_cookie(cookie)
        client.must(client.get("/api/v1/queues"))

    def test_changes_must_come_from_the_page(self):
        """CSRF: a browser reports where a request comes from."""
        cookie = self.sign_in("the password")
        host = f"127.0.0.1:{self.server.port}"
        for headers, status in (
                ({}, 403), ({"Sec_Fetch_Site": "cross-site"}, 403),
                ({"Sec_Fetch_Site": "same-site"}, 403),
                ({"Origin": "https://evil.example"}, 403), ({"Origin": "null"}, 403),
                ({"Origin": f"http://{host}.evil.example"}, 403),
                ({"Origin": f"http://{host}"}, 200), ({"Sec_Fetch_Site": "same-origin"}, 200)):
            with self.subTest(headers):
                client = self.with_cookie(cookie, **headers)
                self.assertEqual(client.post(f"/api/v1/queues/{self.queue}/pause").status, status)
                self.assertEqual(client.get("/api/v1/queues").status, 200)
        key = self.nobody.with_headers(Cookie="corvo_api_key=the%20password",
                                       Origin="https://evil.example")
        self.assertEqual(key.post(f"/api/v1/queues/{self.queue}/pause").status, 403)
        foreign = self.nobody.post("/api/v1/auth/session", {"credential": "the password"},
                                   {"Origin": "https://evil.example"})
        self.refused(foreign, 403, "FORBIDDEN")

    def test_its_end(self):
        """Signing out, revocation, and the expiry of the key."""
        same = {"Sec_Fetch_Site": "same-origin"}
        client = self.with_cookie(self.sign_in("the password"), **same)
        gone = client.delete("/api/v1/auth/session")
        self.assertIn("Max-Age=0", gone.headers["set-cookie"])
        self.refused(client.get("/api/v1/queues"), 401, "UNAUTHORIZED", "sign in again")
        secret, key_hash = self.key()
        client = self.with_cookie(self.sign_in(secret), **same)
        rows = client.must(client.get("/api/v1/auth/sessions"))
        self.assertEqual([row["current"] for row in rows], [n == 0 for n in range(len(rows))])
        self.assertFalse(any(row["current"] for row in self.api.must(self.api.get("/api/v1/auth/sessions"))))
        self.assertEqual(rows[0]["address"], "127.0.0.1")
        self.api.must(self.api.delete(f"/api/v1/auth/sessions/{rows[0]['id']}"))
        self.refused(client.get("/api/v1/queues"), 401, "UNAUTHORIZED")
        self.refused(self.api.delete(f"/api/v1/auth/sessions/{rows[0]['id']}"), 404, "NOT_FOUND")
        client = self.with_cookie(self.sign_in(secret), **same)
        self.api.must(self.api.delete(KEYS, {"key_hash": key_hash}))
        self.refused(client.get("/api/v1/queues"), 401, "UNAUTHORIZED")

    def test_the_list_has_those_that_are_let_in(self):
        """Sessions whose key was deleted, disabled or has expired are not listed."""
        def listed(name):
            rows = self.api.must(self.api.get("/api/v1/auth/sessions"))
            return name in [row["principal"] for row in rows]
        for change in ({"enabled": False}, {"expires_at": "2001-01-01T00:00:00Z"}, None):
            with self.subTest(change):
                name = unique("signed-in")
                made = self.api.must(self.api.post(KEYS, {"name": name, "role": "admin"}))
                self.sign_in(made["api_key"])
                self.assertTrue(listed(name))
                if change is None:
                    self.api.must(self.api.delete(KEYS, {"key_hash": made["key_hash"]}))
                else:
                    self.api.must(self.api.post(KEYS, {"name": name, "role": "admin",
                                                       "key": made["api_key"], **change}))
                self.assertFalse(listed(name))

    def test_another_password_ends_it(self):
        folder = tempfile.mkdtemp(prefix="corvo-auth-")
        try:
            for password, status in (("first", 200), ("first", 200), ("second", 401)):
                with Server("--admin-password", password, data_dir=folder) as server:
                    if status == 200 and password == "first" and not hasattr(self, "kept"):
                        answer = server.client().post("/api/v1/auth/session",
                                                      {"credential": "first"})
                        self.kept = answer.headers["set-cookie"].split(";")[0]
                    client = server.client(Cookie=self.kept)
                    self.assertEqual(client.get("/api/v1/queues").status, status)
        finally:
            shutil.rmtree(folder)

    def test_refusals(self):
        for body in ({}, {"credential": ""}):
            self.refused(self.nobody.post("/api/v1/auth/session", body), 400, "AUTH_ERROR")
        self.refused(self.nobody.post("/api/v1/auth/session", {"credential": "no"}), 401,
                     "UNAUTHORIZED")

    def test_many_guesses_cost_no_memory_and_few_entries(self):
        """With every way to send a credential: the rate limit is the same, and the number of log entries is limited."""
        with Server("--admin-password", "pw", "--rate-limit-enabled=false") as server:
            api = server.client(**{"X-API-Key": "pw"})
            api.must(api.get("/api/v1/queues"))
            doors = (lambda n: server.client().post("/api/v1/auth/session", {"credential": f"guess {n}"}),
                     lambda n: server.client(**{"X-API-Key": f"guess {n}"}).get("/api/v1/queues"),
                     lambda n: server.client(Authorization=f"Bearer guess {n}").post("/join", {}),
                     lambda n: server.client(**{"Authorization": f"Bearer {n}", "Content-Type": "application/json"})
                     .post("/corvo.v1.WorkerService/Enqueue", {"queue": "q"}))
            used = metric(api, "corvo_request_memory_bytes")
            answers = [door(n).status for n in range(100) for door in doors]
            answers += [doors[2](n).status for n in range(300)]
            self.assertEqual(set(answers), {401, 429})
            # 20 are checked, then one per second. /join always returns 401.
            self.assertGreater(answers.count(429), 200)
            wait_until(lambda: metric(api, "corvo_request_memory_bytes") <= used + 65536, "the memory to be given back")
            self.assertLess(api.must(api.get("/api/v1/audit-logs"))["total"], answers.count(401))
            api.must(api.get("/api/v1/queues"))  # a client with a valid key before continues

    def test_a_hundred_thousand_guesses(self):
        """Most are not checked, and they use no lasting memory. Clients with a valid key at other addresses are
        served meanwhile."""
        many, at_once, clients = 100_000, 200, 4
        with Server("--admin-password", "pw", "--rate-limit-enabled=false", env=LEAN) as server:
            api = server.client(**{"X-API-Key": "pw"})
            api.must(api.get("/api/v1/queues"))
            before = resident(server)
            honest = []

            def guess(client):
                refused = 0
                with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S * 4,
                                              source_address=(f"127.2.0.{client + 1}", 0)) as s:
                    answers = s.makefile("rb")
                    for begin in range(client * many, (client + 1) * many, at_once * clients):
                        s.sendall(b"".join(b"GET /api/v1/queues HTTP/1.1\r\nHost: x\r\nX-API-Key: guess %d\r\n\r\n" % n
                                           for n in range(begin, begin + at_once)))
                        for _ in range(at_once):
                            status = int(answers.readline().split()[1])
                            while line := answers.readline().strip():
                                if line.lower().startswith(b"content-length:"):
                                    length = int(line.split(b":")[1])
                            answers.read(length)
                            self.assertIn(status, (401, 429))
                            refused += status == 429
                return refused
            with concurrent.futures.ThreadPoolExecutor(clients) as pool:
                guesses = [pool.submit(guess, n) for n in range(clients)]
                while not all(g.done() for g in guesses):
                    honest.append(api.get("/api/v1/queues").status)
                refused = sum(g.result() for g in guesses)
            self.assertGreater(refused, many * 0.9)
            self.assertEqual(set(honest), {200})
            self.assertLess(resident(server) - before, 64 << 20)

    def test_guesses_slow_down(self):
        with Server("--admin-password", "pw") as server:
            answers = [server.client().post("/api/v1/auth/session", {"credential": str(n)}).status
                       for n in range(30)]
            self.assertEqual(set(answers), {401, 429})


class Audit(KeyTest):
    def entries(self, **query):
        text = "&".join(f"{k}={v}" for k, v in query.items())
        return self.api.must(self.api.get(f"/api/v1/audit-logs?{text}"))

    def test_the_log_has_the_request_before(self):
        """1.9: when the response arrives, the audit log contains the request."""
        for n in range(20):
            path = f"/api/v1/queues/{self.queue}.{n}/pause"
            self.api.must(self.api.post(path))
            self.assertEqual(self.entries(path_prefix=path)["total"], 1)
            self.assertEqual(self.nobody.post(path).status, 401)
            self.assertEqual([e["status_code"] for e in self.entries(path_prefix=path)["audit_logs"]], [401, 200])

    def test_long_methods_cost_nobody_an_entry(self):
        """They are stored in commands together with entries of other clients, whoever sends them."""
        path, changes = "/api/v1/queues/q/pause", 200
        # On a server of its own: of refusals, only five per second are recorded after the first hundred.
        with Server(*self.settings) as server:
            nobody, admin = server.client(), server.client(**{"X-API-Key": "the password"})

            def ask():
                return {nobody.request("M" * 300, path).status for _ in range(40)}
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                asked = [pool.submit(ask) for _ in range(2)]
                for _ in range(changes):
                    admin.must(admin.post(path))
                self.assertLessEqual(set().union(*(a.result() for a in asked)), {401, 404, 405})
            log = admin.must(admin.get(f"/api/v1/audit-logs?path_prefix={path}&method=post"))
            self.assertEqual(log["total"], changes)
            self.assertEqual(server.events("audit entries lost"), [])

    def test_requests_that_no_route_is_for(self):
        """18.3: an unknown path or a wrong method is logged, except for reads and routine operations."""
        secret, _ = self.key("worker", name="lost")
        client = self.nobody.with_headers(X_API_Key=secret)
        name = unique("nowhere")
        for method, path, status, entries in (("POST", f"/api/v1/{name}", 404, 1),
                                              ("PUT", f"/api/v1/{name}/x", 404, 1),
                                              ("DELETE", f"/api/v1/{name}/y", 404, 1),
                                              ("PUT", "/api/v1/queues", 405, 1),
                                              ("GET", f"/api/v1/{name}/read", 404, 0),
                                              ("DELETE", "/api/v1/enqueue", 405, 0),
                                              ("POST", f"/{name}", 404, 0)):
            with self.subTest(method=method, path=path):
                before = self.entries(path_prefix=path, method=method, principal="lost")["total"]
                self.assertEqual(client.request(method, path).status, status)
                found = self.entries(path_prefix=path, method=method, principal="lost")
                self.assertEqual(found["total"] - before, entries)
                if entries:
                    self.assertEqual((found["audit_logs"][0]["status_code"], found["audit_logs"][0]["role"]),
                                     (status, "worker"))

    def test_a_change(self):
        """18.3: with the true principal. Reads, searches and routine operations are not logged."""
        secret, _ = self.key("operator", name="the operator", namespace="acme")
        client = self.nobody.with_headers(X_API_Key=secret)
        client.must(client.post(f"/api/v1/queues/{self.queue}/pause?why=test"))
        path = f"/api/v1/queues/{self.queue}/pause"
        entry = self.entries(path_prefix=path)["audit_logs"][0]
        self.assertEqual({k: entry[k] for k in ("namespace", "principal", "role", "method", "path",
                                                "status_code")},
                         {"namespace": "acme", "principal": "the operator", "role": "operator",
                          "method": "POST", "path": path, "status_code": 200})
        self.assertEqual(entry["metadata"]["query"], "why=test")
        self.assert_time(entry["created_at"])
        client.enqueue(self.queue)
        client.must(client.post("/api/v1/jobs/search", {}))
        client.must(client.post(f"/api/v1/queues/{self.queue}/resume"))
        self.assertEqual(self.entries(path_prefix="/api/v1/enqueue")["total"], 0)
        self.assertEqual(self.entries(path_prefix="/api/v1/jobs/search")["total"], 0)

    def test_the_comment_of_an_approval(self):
        """http-api.md 26: who approved, when, and the comment. A comment that would be truncated is refused."""
        secret, _ = self.key("operator", name="the approver")
        client = self.nobody.with_headers(X_API_Key=secret)
        job_id = client.enqueue(self.queue)
        client.act(job_id, "hold")
        path = f"/api/v1/jobs/{job_id}/approve"
        self.refused(client.post(f"{path}?comment={'x' * 301}"), 400, "VALIDATION_ERROR")
        self.assertEqual(client.get(f"/api/v1/jobs/{job_id}").json["state"], "held")
        longest = urllib.parse.quote("ü" * 150)
        self.assertEqual(client.must(client.post(f"{path}?comment={longest}"))["status"], "pending")
        entry = [e for e in self.entries(path_prefix=path)["audit_logs"] if e["status_code"] == 200][0]
        self.assertEqual((entry["principal"], entry["metadata"]["query"]), ("the approver", f"comment={longest}"))

    def test_a_refusal(self):
        secret, _ = self.key("readonly", name="a reader")
        client = self.nobody.with_headers(X_API_Key=secret)
        path = f"/api/v1/queues/{self.queue}/clear"
        client.post(path)
        entry = self.entries(path_prefix=path)["audit_logs"][0]
        self.assertEqual((entry["principal"], entry["status_code"]), ("a reader", 403))
        self.nobody.post(path + "?x")
        entry = self.entries(path_prefix=path, method="post", since="2026-01-01")["audit_logs"][0]
        self.assertEqual((entry["principal"], entry["status_code"]), (None, 401))

    def test_pages_and_filters(self):
        for n in range(5):
            self.api.must(self.api.post(f"/api/v1/queues/{self.queue}/pause?{n}"))
        prefix = f"/api/v1/queues/{self.queue}"
        page = self.entries(path_prefix=prefix, limit=2, offset=1)
        self.assertEqual([e["metadata"]["query"] for e in page["audit_logs"]], ["3", "2"])
        self.assertEqual((page["total"], page["limit"], page["offset"]), (5, 2, 1))
        self.assertEqual(self.entries(path_prefix=prefix, principal="nobody")["total"], 0)
        self.assertEqual(self.entries(path_prefix=prefix, until="2020-01-01")["total"], 0)
        self.assertEqual(self.entries(path_prefix=prefix, namespace="default")["total"], 5)
        self.assertEqual(self.entries(limit=5000)["limit"], 1000)
        for bad in ("limit=0", "limit=x", "offset=-1"):
            self.refused(self.api.get(f"/api/v1/audit-logs?{bad}"), 400, "VALIDATION_ERROR")
        lines = self.api.get(f"/api/v1/audit-logs?path_prefix={prefix}&format=jsonl").body
        self.assertEqual([json.loads(line)["metadata"]["query"] for line in lines.splitlines()],
                         ["4", "3", "2", "1", "0"])

    def test_many_entries(self):
        """More entries than one turn of the network thread reads."""
        count = 2100
        requests = b"".join(f"POST /api/v1/queues/{self.queue}/pause?{n} HTTP/1.1\r\nHost: x\r\nX-API-Key: the password\r\n"
                            f"Content-Length: 0\r\n{'Connection: close' if n == count - 1 else 'X-N: 1'}\r\n\r\n".encode()
                            for n in range(count))
        with socket.create_connection(("127.0.0.1", self.server.port), PATIENCE_S) as s:
            s.sendall(requests)
            with s.makefile("rb") as answers:
                self.assertEqual(answers.read().count(b"HTTP/1.1 200"), count)
        prefix = f"/api/v1/queues/{self.queue}"
        self.assertEqual(self.entries(path_prefix=prefix, offset=count - 1)["total"], count)
        lines = self.api.get(f"/api/v1/audit-logs?path_prefix={prefix}&format=jsonl").body.splitlines()
        self.assertEqual([json.loads(line)["metadata"]["query"] for line in lines], [str(n) for n in reversed(range(count))])

    def test_a_tenant_sees_its_own(self):
        acme = self.client(namespace="acme")
        acme.must(acme.post(f"/api/v1/queues/{self.queue}/pause"))
        rows = acme.must(acme.get("/api/v1/audit-logs?limit=1000"))["audit_logs"]
        self.assertEqual({r["namespace"] for r in rows}, {"acme"})

    def test_an_attack_is_bounded(self):
        with Server("--admin-password", "pw", "--rate-limit-enabled=false") as server:
            nobody, admin = server.client(), server.client(**{"X-API-Key": "pw"})
            for n in range(600):
                nobody.post(f"/api/v1/queues/q{n}/pause")
            admin.must(admin.post("/api/v1/queues/last/pause"))
            entries = admin.must(admin.get("/api/v1/audit-logs?path_prefix=/api/v1/queues&limit=1000"))["audit_logs"]
            suppressed = sum(e["metadata"].get("suppressed", 0) for e in entries)
            self.assertGreater(suppressed, 0)
            self.assertEqual(len(entries) + suppressed, 601, "each refusal has an entry or is counted in one")


class Paths(KeyTest):
    def test_tricks(self):
        """No spelling of a path reaches more than the plain path does."""
        reader = self.key("readonly")[0]
        for path in ("//api/v1/auth/keys", "/api//v1/auth/keys", "/api/v1/auth//keys",
                     "/api/v1/./auth/keys", "/api/v1/%2e/auth/keys", "/api/v1/x/../auth/keys",
                     "/api/v1/x/%2e%2e/auth/keys", "/API/v1/auth/keys", "/api/v1/AUTH/keys",
                     "/api/v1/auth/keys/", "/api/v1/auth/keys%2f", "/api/v1/auth%2fkeys",
                     "/ui/../api/v1/auth/keys", "/ui/%2e%2e/api/v1/auth/keys",
                     "/api/v1/auth/keys;x", "/api/v1/auth/keys%00", "/healthz/../api/v1/auth/keys"):
            for headers in ({}, {"X-API-Key": reader}):
                with self.subTest(path=path, headers=bool(headers)):
                    connection = http.client.HTTPConnection("127.0.0.1", self.server.port,
                                                            timeout=PATIENCE_S)
                    connection.putrequest("POST", path, skip_accept_encoding=True)
                    body = b'{"name":"stolen","role":"admin"}'
                    for name, value in {**headers, "Content-Length": str(len(body))}.items():
                        connection.putheader(name, value)
                    connection.endheaders(body)
                    answer = connection.getresponse()
                    self.assertIn(answer.status, (400, 401, 403, 404, 405))
                    connection.close()
        self.assertNotIn("stolen", [k["name"] for k in self.api.must(self.api.get(KEYS))])


class Organisation(KeyTest):
    def test_a_round_trip(self):
        org = self.api.must(self.api.get("/api/v1/org"))
        self.assertEqual((org["id"], org["name"]), ("org_default", "My Organization"))
        self.assertEqual(self.api.must(self.api.put("/api/v1/org", {"name": "Acme"})),
                         {"status": "ok"})
        self.assertEqual(self.api.must(self.api.get("/api/v1/org")), {**org, "name": "Acme"})
        self.refused(self.api.put("/api/v1/org", {"name": " "}), 400, "VALIDATION_ERROR")

    def test_members(self):
        path = "/api/v1/org/members"
        owner = self.api.must(self.api.post(path, {"name": "O", "email": "o@x", "role": "owner"}),
                              201)
        other = self.api.must(self.api.post(path, {"name": "M"}), 201)
        self.assertEqual([m["id"] for m in self.api.must(self.api.get(path))],
                         [owner["id"], other["id"]])
        self.refused(self.api.delete(f"{path}/{owner['id']}"), 403, "FORBIDDEN",
                     "cannot remove the owner")
        self.api.must(self.api.delete(f"{path}/{other['id']}"))
        self.refused(self.api.delete(f"{path}/{other['id']}"), 404, "NOT_FOUND")
        for role in ("", " ", None):
            made = self.api.must(self.api.post(path, {"name": "D", "role": role}), 201)
            self.assertEqual(made["role"], "member")

    def test_ids_are_in_the_order_of_creation(self):
        """2.1: lexicographically non-decreasing."""
        for kind, prefix in (("members", "mem_"), ("api-keys", "key_")):
            ids = [self.api.must(self.api.post("/api/v1/org/" + kind, {"name": "n"}), 201)["id"] for _ in range(20)]
            self.assertEqual(ids, sorted(set(ids)))
            for each in ids:
                self.assert_id(each, prefix)
                self.api.must(self.api.delete(f"/api/v1/org/{kind}/{each}"))

    def test_the_first_key_closes_an_open_server(self):
        """19: it is an admin; 18.1: the response reports the change."""
        with Server() as server:
            api = server.client()
            made = api.must(api.post("/api/v1/org/api-keys", {"name": "first"}), 201)
            self.assertIn("every request needs a key", made["note"])
            self.refused(api.get("/api/v1/queues"), 401, "UNAUTHORIZED", "missing API key")
            admin = api.with_headers(X_API_Key=made["key"])
            self.assertNotIn("note", admin.must(admin.post("/api/v1/org/api-keys", {"name": "second"}), 201))

    def test_keys(self):
        """19: these keys are admins of the default namespace."""
        path = "/api/v1/org/api-keys"
        made = self.api.must(self.api.post(path, {"name": "ci"}), 201)
        self.assertEqual(made["prefix"], made["key"][:8])
        self.assert_id(made["id"], "key_")
        rows = self.api.must(self.api.get(path))
        self.assertEqual([r for r in rows if r["id"] == made["id"]],
                         [{k: made[k] for k in ("id", "name", "prefix", "created_at")}])
        client = self.nobody.with_headers(X_API_Key=made["key"])
        client.must(client.post(KEYS, {"name": "by the organisation"}))
        self.api.must(self.api.delete(f"{path}/{made['id']}"))
        self.refused(client.get("/api/v1/queues"), 401, "UNAUTHORIZED")
        self.refused(self.api.delete(f"{path}/{made['id']}"), 404, "NOT_FOUND")


if __name__ == "__main__":
    unittest.main()
