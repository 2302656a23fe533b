"""Every route and RPC method with every kind of credential (contract 3.2, 3.6, 22; rpc.md 8.1).

The table is derived from the contract, not from the server. A cell defines whether a role is allowed, and both
outcomes are asserted. An allowed request has a body that is not JSON, or names things that do not exist, so that
it changes nothing. A route of the server without a row here fails the test.
"""
import http.client
import itertools
import json
import unittest

from harness import PATIENCE_S, ApiTest
from test_rpc import envelope, envelopes

# Method, path, allowed built-in roles: Admin, Operator, Worker, Readonly. "open": everybody. "AOWR*": every
# authenticated caller, whatever its role.
ROUTES = [
    ("POST", "/api/v1/enqueue", "AOW"),
    ("POST", "/api/v1/enqueue/batch", "AOW"),
    ("POST", "/api/v1/webhooks/{queue}", "AOW"),
    ("POST", "/api/v1/batch", "AOW"),
    ("POST", "/api/v1/batch/{id}/seal", "AOW"),
    ("GET", "/api/v1/batch/{id}", "AOWR"),
    ("POST", "/api/v1/fetch", "AOW"),
    ("POST", "/api/v1/fetch/batch", "AOW"),
    ("POST", "/api/v1/ack/batch", "AOW"),
    ("POST", "/api/v1/ack/{job_id}", "AOW"),
    ("POST", "/api/v1/fail/{job_id}", "AOW"),
    ("POST", "/api/v1/heartbeat", "AOW"),
    ("GET", "/api/v1/jobs/{id}", "AOWR"),
    ("POST", "/api/v1/jobs/bulk-get", "AOWR"),
    ("GET", "/api/v1/jobs/{id}/iterations", "AOWR"),
    ("GET", "/api/v1/jobs/{id}/explain", "AOR"),
    *[("POST", f"/api/v1/jobs/{{id}}/{action}", "AO")
      for action in ("retry", "cancel", "hold", "approve", "reject", "replay", "move")],
    ("DELETE", "/api/v1/jobs/{id}", "AO"),
    ("POST", "/api/v1/jobs/search", "AOR"),
    ("GET", "/api/v1/dead", "AOR"),
    ("GET", "/api/v1/search/fulltext", "AOR"),
    ("POST", "/api/v1/jobs/bulk", "AO"),
    ("GET", "/api/v1/bulk/{id}", "AOR"),
    ("DELETE", "/api/v1/bulk/{id}", "AO"),
    ("GET", "/api/v1/bulk/{id}/progress", "AOR"),
    ("GET", "/api/v1/queues", "AOR"),
    ("GET", "/api/v1/queues/{name}", "AOR"),
    ("GET", "/api/v1/queues/{name}/explain", "AOR"),
    *[("POST", f"/api/v1/queues/{{name}}/{action}", "AO")
      for action in ("pause", "resume", "clear", "drain", "concurrency", "throttle")],
    ("DELETE", "/api/v1/queues/{name}/throttle", "AO"),
    ("DELETE", "/api/v1/queues/{name}", "AO"),
    ("GET", "/api/v1/schedules", "AOR"),
    ("POST", "/api/v1/schedules", "AO"),
    ("GET", "/api/v1/upcoming", "AOR"),
    ("GET", "/api/v1/schedules/{id}", "AOR"),
    ("PUT", "/api/v1/schedules/{id}", "AO"),
    ("DELETE", "/api/v1/schedules/{id}", "AO"),
    ("POST", "/api/v1/schedules/{id}/run", "AO"),
    ("GET", "/api/v1/workers", "AOR"),
    ("GET", "/api/v1/events", "AOR"),
    ("GET", "/api/v1/cluster/events", "AOR"),
    ("GET", "/api/v1/webhooks", "AOR"),
    ("POST", "/api/v1/webhooks", "AO"),
    ("DELETE", "/api/v1/webhooks/{queue}", "AO"),
    ("GET", "/api/v1/push/hosts", "AOR"),
    ("GET", "/api/v1/usage/summary", "AOR"),
    ("GET", "/api/v1/billing/summary", "AOR"),
    ("GET", "/api/v1/budgets", "AOR"),
    ("POST", "/api/v1/budgets", "AO"),
    ("DELETE", "/api/v1/budgets/{scope}/{target}", "AO"),
    ("GET", "/api/v1/approval-policies", "AOR"),
    ("POST", "/api/v1/approval-policies", "AO"),
    ("DELETE", "/api/v1/approval-policies/{id}", "AO"),
    ("GET", "/api/v1/auth/status", "AOR"),
    ("GET", "/api/v1/auth/keys", "AOR"),
    ("POST", "/api/v1/auth/keys", "A"),
    ("DELETE", "/api/v1/auth/keys", "A"),
    ("POST", "/api/v1/auth/keys/{key_hash}/rotate", "A"),
    ("GET", "/api/v1/auth/roles", "AOR"),
    ("POST", "/api/v1/auth/roles", "A"),
    ("DELETE", "/api/v1/auth/roles/{name}", "A"),
    ("GET", "/api/v1/auth/keys/{key_hash}/roles", "AOR"),
    ("POST", "/api/v1/auth/keys/{key_hash}/roles", "A"),
    ("DELETE", "/api/v1/auth/keys/{key_hash}/roles/{role}", "A"),
    ("POST", "/api/v1/auth/session", "open"),
    ("DELETE", "/api/v1/auth/session", "AOWR*"),
    ("GET", "/api/v1/auth/permissions", "AOWR*"),
    ("GET", "/api/v1/auth/sessions", "A"),
    ("DELETE", "/api/v1/auth/sessions/{id}", "A"),
    ("GET", "/api/v1/auth/sso/login", "open"),
    ("GET", "/api/v1/auth/sso/callback", "open"),
    ("GET", "/api/v1/settings/sso", "AOR"),
    ("POST", "/api/v1/settings/sso", "A"),
    ("GET", "/api/v1/audit-logs", "AOR"),
    ("GET", "/api/v1/namespaces", "AOR"),
    ("POST", "/api/v1/namespaces", "A"),
    ("DELETE", "/api/v1/namespaces/{name}", "A"),
    ("PUT", "/api/v1/namespaces/{name}/quota", "A"),
    ("GET", "/api/v1/namespaces/{name}/quota", "AOR"),
    ("PUT", "/api/v1/namespaces/{name}/rate-limit", "A"),
    ("GET", "/api/v1/namespaces/{name}/rate-limit", "AOR"),
    ("GET", "/api/v1/org", "AOR"),
    ("PUT", "/api/v1/org", "A"),
    ("GET", "/api/v1/org/members", "AOR"),
    ("POST", "/api/v1/org/members", "A"),
    ("DELETE", "/api/v1/org/members/{id}", "A"),
    ("GET", "/api/v1/org/api-keys", "AOR"),
    ("POST", "/api/v1/org/api-keys", "A"),
    ("DELETE", "/api/v1/org/api-keys/{id}", "A"),
    ("GET", "/api/v1/cluster/status", "AOR"),
    ("POST", "/api/v1/cluster/join", "A"),
    ("POST", "/api/v1/admin/rebuild-sqlite", "A"),
    ("POST", "/api/v1/admin/accept-clock", "A"),
    ("GET", "/api/v1/admin/backup", "A"),
    ("POST", "/api/v1/admin/restore", "A"),
    ("GET", "/api/v1/debug/runtime", "AOR"),
    ("GET", "/api/v1/metrics", "AOR"),
    ("GET", "/metrics", "AOR"),
    ("GET", "/api/v1/metrics/throughput", "AOR"),
    ("GET", "/api/v1/history", "AOR"),
    ("GET", "/api/v1/history/queues", "AOR"),
    ("GET", "/api/v1/cluster/history", "AOR"),
    ("GET", "/api/v1/markers", "AOR"),
    ("POST", "/api/v1/markers", "AO"),
    ("DELETE", "/api/v1/markers/{id}", "AO"),
    ("GET", "/api/v1/errors", "AOR"),
    ("POST", "/api/v1/cluster/leave", "A"),
    ("POST", "/api/v1/cluster/transfer", "A"),
    ("DELETE", "/api/v1/cluster/nodes/{id}", "A"),
    # The API of Scheduled-DB, which does not distinguish producers from workers.
    ("POST", "/jobs", "AOW"),
    ("POST", "/jobs/batch", "AOW"),
    ("GET", "/jobs", "AOWR"),
    ("GET", "/jobs/{id}", "AOWR"),
    ("DELETE", "/jobs/{id}", "AOW"),
    ("GET", "/jobs/{id}/status", "AOWR"),
    ("GET", "/jobs/{id}/executions", "AOWR"),
    ("POST", "/jobs/{id}/cancel", "AOW"),
    ("GET", "/debug/cluster", "AOWR"),
    *[("GET", path, "open") for path in ("/api/v1/info", "/healthz", "/livez", "/readyz",
                                         "/openapi.json", "/docs", "/docs/guide",
                                         "/docs/guide/{path}", "/corvo.v1.proto",
                                         "/health", "/ready", "/ui", "/ui/{path}", "/")],
]

# Routes that use a separate secret. Their own tests cover them.
OWN_SECRET = {("POST", "/join"), ("POST", "/api/v1/cluster/audit")}

# Method, roles, and the resources that a custom role must grant.
RPC = [
    ("Enqueue", "AOW", "enqueue"), ("Fetch", "AOW", "fetch"), ("FetchBatch", "AOW", "fetch"),
    ("Ack", "AOW", "ack"), ("AckBatch", "AOW", "ack"), ("Fail", "AOW", "fail"),
    ("Heartbeat", "AOW", "heartbeat"), ("StreamLifecycle", "AOW", "fetch", "ack"),
    ("Subscribe", "AOR", "events"), ("GetServerInfo", "open"),
]

ROLES = {"A": "admin", "O": "operator", "W": "worker", "R": "readonly"}
WORDS = ("pause", "resume", "drain", "clear", "retry", "cancel", "approve", "reject", "hold", "move",
         "replay")

_addresses = itertools.count(1)


def permission_of(method, path):
    """Return the permission that a custom role must grant (3.6)."""
    parts = path.strip("/").split("/")
    if method == "GET":
        return parts[2], "read"
    if len(parts) >= 5 and parts[-1] in WORDS:
        return parts[2], parts[-1]
    return parts[2], "delete" if method == "DELETE" else "write"


class Matrix(ApiTest):
    settings = (*ApiTest.settings, "--admin-password", "the password")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.admin = cls.api.with_headers(X_API_Key="the password")
        cls.keys = {letter: cls.make(role) for letter, role in ROLES.items()}

    @classmethod
    def make(cls, role, **fields):
        body = {"name": f"a {role}", "role": role, **fields}
        return cls.admin.must(cls.admin.post("/api/v1/auth/keys", body))["api_key"]

    def status(self, method, path, headers, body=b"{", guess=False):
        """Return only the status, because some responses never end. Guesses use separate addresses, because the
        server would soon refuse to check them."""
        path = path.replace("{queue}", "q").replace("{path}", "x")
        for name in ("{id}", "{job_id}", "{name}", "{role}", "{scope}", "{target}", "{key_hash}"):
            path = path.replace(name, "none")
        source = None
        if guess:
            n = next(_addresses)
            source = (f"127.1.{n // 200}.{n % 200 + 1}", 0)
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port,
                                                timeout=PATIENCE_S + 60, source_address=source)
        try:
            connection.request(method, path, None if method == "GET" else body, headers)
            return connection.getresponse().status
        finally:
            connection.close()

    def expect(self, allowed, method, path, headers, body=b"{"):
        status = self.status(method, path, headers, body)
        if allowed:
            self.assertNotIn(status, (401, 403, 405, 500))
        else:
            self.assertEqual(status, 403)

    def test_the_table_is_whole(self):
        paths = self.admin.must(self.admin.get("/openapi.json"))["paths"]
        there = {(method.upper(), path) for path, methods in paths.items() for method in methods
                 if method in ("get", "post", "put", "delete")}
        self.assertEqual(there - {(m, p) for m, p, _ in ROUTES} - OWN_SECRET, set())
        self.assertEqual({(m, p) for m, p, _ in ROUTES} - there, set())

    def test_built_in_roles(self):
        for method, path, roles in ROUTES:
            for letter, role in ROLES.items():
                with self.subTest(method=method, path=path, role=role):
                    self.expect(roles == "open" or letter in roles, method, path,
                                {"X-API-Key": self.keys[letter]})

    def test_a_session_is_what_its_key_is(self):
        for letter, role in ROLES.items():
            answer = self.api.post("/api/v1/auth/session", {"credential": self.keys[letter]})
            cookie = answer.headers["set-cookie"].split(";")[0]
            for method, path, roles in ROUTES:
                if (method, path) == ("DELETE", "/api/v1/auth/session"):
                    continue  # it ends the session
                with self.subTest(method=method, path=path, role=role):
                    headers = {"Cookie": cookie, "Sec-Fetch-Site": "same-origin"}
                    self.expect(roles == "open" or letter in roles, method, path, headers)

    def test_who_is_nobody(self):
        past = self.make("admin", expires_at="2020-01-01T00:00:00Z")
        disabled = self.make("admin", enabled=False)
        rows = {"none": {}, "bad": {"X-API-Key": "sk_nobody"}, "expired": {"X-API-Key": past},
                "disabled": {"Authorization": f"Bearer {disabled}"},
                "no session": {"Cookie": "corvo_session=ss_none"}}
        for name, headers in rows.items():
            for method, path, roles in ROUTES:
                with self.subTest(method=method, path=path, credential=name):
                    status = self.status(method, path, headers, guess=True)
                    if roles == "open":
                        self.assertNotIn(status, (401, 403))
                    else:
                        self.assertEqual(status, 401)

    def test_custom_roles(self):
        """A role with exactly the permission is allowed. One with all other permissions is not."""
        wanted = {permission_of(m, p) for m, p, roles in ROUTES
                  if roles != "open" and p.startswith("/api/v1/")}
        keys = {}
        for n, (resource, action) in enumerate(sorted(wanted)):
            for kind, permissions in (
                    ("exact", [{"resource": resource, "actions": [action]}]),
                    ("other", [{"resource": r, "actions": [a]} for r, a in sorted(wanted)
                               if r != resource])):
                role = f"{kind}-{n}"
                self.admin.must(self.admin.post("/api/v1/auth/roles",
                                                {"name": role, "permissions": permissions}))
                keys[kind, resource, action] = self.make(role)
        for method, path, roles in ROUTES:
            if roles == "open" or not path.startswith("/api/v1/"):
                continue
            with self.subTest(method=method, path=path):
                permission = permission_of(method, path)
                self.expect(True, method, path, {"X-API-Key": keys["exact", *permission]})
                self.expect(roles == "AOWR*", method, path, {"X-API-Key": keys["other", *permission]})

    def refused(self, key):
        caller = self.api.with_headers(X_API_Key=key)
        # The OpenAPI document uses the same parameter name for both methods of this path.
        return {(row["method"], row["path"].replace("/webhooks/{id}", "/webhooks/{queue}")): row
                for row in caller.must(caller.get("/api/v1/auth/permissions"))["refused"]}

    def test_a_caller_is_told_what_it_may_not_do(self):
        """18.1: exactly the routes that the table refuses, with the allowed roles."""
        table = [(m, p, roles) for m, p, roles in ROUTES
                 if p.startswith("/api/v1/") and roles not in ("open", "AOWR*")]
        for letter, role in ROLES.items():
            with self.subTest(role=role):
                self.assertEqual(set(self.refused(self.keys[letter])) - OWN_SECRET,
                                 {(m, p) for m, p, roles in table if letter not in roles})
        self.assertEqual(self.refused(self.keys["R"])["POST", "/api/v1/jobs/{id}/retry"],
                         {"method": "POST", "path": "/api/v1/jobs/{id}/retry", "roles": ["admin", "operator"],
                          "whole_server": False, "resource": "jobs", "action": "retry"})
        self.admin.must(self.admin.post("/api/v1/auth/roles", {"name": "retrier", "permissions": [
            {"resource": "jobs", "actions": ["retry"]}]}))
        self.assertEqual({(m, p) for m, p, _ in table} - set(self.refused(self.make("retrier"))),
                         {("POST", "/api/v1/jobs/{id}/retry")})
        for limit in ({"namespace": "told"}, {"queue_scope": "told.*"}):
            with self.subTest(**limit):
                refused = self.refused(self.make("admin", **limit))
                self.assertIn(("POST", "/api/v1/namespaces"), refused)
                self.assertTrue(all(row["whole_server"] for row in refused.values()), refused)
                self.assertNotIn(("POST", "/api/v1/jobs/bulk"), refused)

    def test_an_ack_with_a_next_needs_both(self):
        """8.7: a role that may acknowledge but not fetch cannot fetch in this way."""
        for granted, allowed in ((("ack",), False), (("ack", "fetch"), True)):
            role = "next-" + "-".join(granted)
            self.admin.must(self.admin.post("/api/v1/auth/roles", {"name": role, "permissions": [
                {"resource": r, "actions": ["write"]} for r in granted]}))
            caller = self.api.with_headers(X_API_Key=self.make(role))
            for path, body in (("/api/v1/ack/job_00000000000000000000000000", {}),
                               ("/api/v1/ack/batch", {"acks": [{"job_id": "x"}]})):
                with self.subTest(granted=granted, path=path):
                    answer = caller.post(path, {**body, "next": {"queues": ["q"]}})
                    self.assertEqual(answer.status != 403, allowed, answer)

    def verdict(self, method, headers, guess=False):
        """Return the result of the method over Connect: the code of a refusal, or "allowed"."""
        stream = method == "Subscribe"  # a lifecycle stream over HTTP/1.1 is a single exchange
        body = envelope(b"{}") if stream else b"{}"
        # The timeout ends an open stream of events.
        rpc = {"Content-Type": "application/connect+json" if stream else "application/json",
               "Connect-Timeout-Ms": "100"}
        n = next(_addresses)
        source = (f"127.1.{n // 200}.{n % 200 + 1}", 0) if guess else None
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=PATIENCE_S, source_address=source)
        try:
            connection.request("POST", f"/corvo.v1.WorkerService/{method}", body, {**headers, **rpc})
            answer = connection.getresponse().read()
        finally:
            connection.close()
        if stream:
            answer = json.dumps(json.loads(envelopes(answer)[-1][1]).get("error", {}))
        code = json.loads(answer).get("code")
        return code if code in ("unauthenticated", "permission_denied") else "allowed"

    def test_rpc(self):
        """8.1: every method with every kind of credential."""
        nobody = {"none": {}, "bad": {"X-API-Key": "bad"},
                  "expired": {"X-API-Key": self.make("admin", expires_at="2020-01-01T00:00:00Z")},
                  "disabled": {"Authorization": f"Bearer {self.make('admin', enabled=False)}"},
                  "no session": {"Cookie": "corvo_session=ss_none"}}
        sessions = {}
        for letter in ROLES:
            answer = self.api.post("/api/v1/auth/session", {"credential": self.keys[letter]})
            sessions[letter] = {"Cookie": answer.headers["set-cookie"].split(";")[0], "Sec-Fetch-Site": "same-origin"}
        for method, roles, *resources in RPC:
            for name, headers in nobody.items():
                with self.subTest(method=method, credential=name):
                    self.assertEqual(self.verdict(method, headers, guess=True),
                                     "allowed" if roles == "open" else "unauthenticated")
            for letter, role in ROLES.items():
                for headers in ({"X-API-Key": self.keys[letter]}, {"Authorization": f"Bearer {self.keys[letter]}"},
                                {"Cookie": f"corvo_api_key={self.keys[letter]}", "Sec-Fetch-Site": "same-origin"},
                                sessions[letter]):
                    with self.subTest(method=method, role=role, by=list(headers)):
                        self.assertEqual(self.verdict(method, headers),
                                         "allowed" if roles == "open" or letter in roles else "permission_denied")
            for n, missing in enumerate([None, *resources] if roles != "open" else []):
                with self.subTest(method=method, missing=missing):
                    action = "read" if method == "Subscribe" else "write"
                    granted = [r for r in resources if r != missing] + ["queues"]
                    self.admin.must(self.admin.post("/api/v1/auth/roles", {
                        "name": f"rpc-{method.lower()}-{n}",
                        "permissions": [{"resource": r, "actions": [action]} for r in granted]}))
                    headers = {"X-API-Key": self.make(f"rpc-{method.lower()}-{n}")}
                    self.assertEqual(self.verdict(method, headers), "permission_denied" if missing else "allowed")

    def test_rpc_of_another_namespace_and_scope(self):
        """8.1: an id of another namespace is unknown. A scope applies to everything that names a queue."""
        mine, others, scoped = (
            self.api.with_headers(X_API_Key=self.make("worker", **fields), Content_Type="application/json")
            for fields in ({"namespace": "mine"}, {"namespace": "others"}, {"queue_scope": "in.*"}))

        def call(client, method, body):
            return client.post(f"/corvo.v1.WorkerService/{method}", body)
        job_id = call(mine, "Enqueue", {"queue": self.queue, "payloadJson": "{}"}).json["jobId"]
        self.assertEqual(call(others, "Fetch", {"queues": [self.queue], "workerId": "w", "leaseDuration": 1}).json
                         .get("jobId", ""), "")
        self.assertEqual(call(mine, "Fetch", {"queues": [self.queue], "workerId": "w"}).json["jobId"], job_id)
        for method, body in (("Ack", {"jobId": job_id}), ("Fail", {"jobId": job_id, "error": "no"})):
            with self.subTest(method=method):
                answer = call(others, method, body)
                self.assertNotEqual(answer.status, 200, answer)
        self.assertEqual(self.admin.with_headers(X_Corvo_Namespace="mine").get(f"/api/v1/jobs/{job_id}").json["state"],
                         "active")
        self.assertEqual(call(mine, "Ack", {"jobId": job_id}).status, 200)
        for method, body in (("Enqueue", {"queue": "out", "payloadJson": "{}"}),
                             ("Fetch", {"queues": ["out"], "workerId": "w"}),
                             ("FetchBatch", {"queues": ["out"], "workerId": "w", "count": 1})):
            with self.subTest(method=method, scope="in.*"):
                self.assertEqual(call(scoped, method, body).json.get("code"), "permission_denied")
        self.assertEqual(call(scoped, "Enqueue", {"queue": "in.x", "payloadJson": "{}"}).status, 200)

    def test_streams_of_custom_roles(self):
        """8.1: fetch and ack are needed to open a stream, enqueue for frames with enqueues."""
        path = "/corvo.v1.WorkerService/StreamLifecycle"
        rows = (("fetch", "ack", "enqueue"), ("fetch", "ack"), ("fetch",), ("ack",))
        for granted in rows:
            role = "stream-" + "-".join(granted)
            self.admin.must(self.admin.post("/api/v1/auth/roles", {"name": role, "permissions": [
                {"resource": r, "actions": ["write"]} for r in granted]}))
            client = self.api.with_headers(X_API_Key=self.make(role),
                                           Content_Type="application/json")
            answer = client.post(path, {"requestId": 1, "enqueues": [{"queue": self.queue}]})
            with self.subTest(granted=granted):
                if not {"fetch", "ack"} <= set(granted):
                    self.assertEqual(answer.status, 403, answer)
                elif "enqueue" in granted:
                    self.assertEqual(len(json.loads(answer.body)["enqueuedJobIds"]), 1, answer)
                else:
                    self.assertIn("enqueue: forbidden", json.loads(answer.body)["error"], answer)


if __name__ == "__main__":
    unittest.main()
