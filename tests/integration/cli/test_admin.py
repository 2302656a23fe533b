"""Cost, keys, namespaces, webhooks, audit, cluster and backup commands, with known responses."""
import os
import pathlib
import shutil
import signal
import socket
import tempfile

from cli_harness import FakeTest, Step, json

TOTALS = {"input_tokens": 210, "output_tokens": 35, "cache_creation_tokens": 10,
          "cache_read_tokens": 30, "cost_usd": 0.23, "count": 3}
USAGE = {"period": "7d", "from": "2026-02-13T10:00:00Z", "to": "2026-02-20T10:00:00Z",
         "totals": TOTALS, "groups": [{"key": "model-a", **TOTALS}, {"key": "", **TOTALS}]}


class Costs(FakeTest):
    def test_usage(self):
        fake, corvo = self.serve({"GET /usage/summary": USAGE})
        self.ok(corvo.run("usage", "--period", "7d", "--group-by", "model"),
                "Usage summary (7d)\nWindow: 2026-02-13T10:00:00Z -> 2026-02-20T10:00:00Z\n"
                "Total rows: 3\nInput tokens: 210\nOutput tokens: 35\nCache create tokens: 10\n"
                "Cache read tokens: 30\nTotal cost USD: 0.230000\nGroups:\n"
                "- model-a rows=3 in=210 out=35 cache_create=10 cache_read=30 cost=0.230000\n"
                "- - rows=3 in=210 out=35 cache_create=10 cache_read=30 cost=0.230000\n")
        self.assertEqual(fake.requests[0].query, {"period": "7d", "group_by": "model"})
        self.assertEqual(json.loads(self.ok(corvo.run("usage", "--output", "json"))), USAGE)
        self.assertEqual(fake.requests[1].query, {"period": "24h"})

    def test_cache_stats(self):
        _, corvo = self.serve({"GET /usage/summary": USAGE})
        self.ok(corvo.run("cache", "stats"), "Cache create tokens: 10\nCache read tokens:   30\n"
                                             "Estimated hit rate:  75.0%\n")
        _, corvo = self.serve({"GET /usage/summary": {"totals": {}}})
        self.assertIn("Estimated hit rate:  0.0%", self.ok(corvo.run("cache", "stats")))

    def test_budgets(self):
        budget = {"id": "budget_1", "scope": "queue", "target": "q", "daily_usd": 10,
                  "per_job_usd": 1.25, "on_exceed": "hold"}
        fake, corvo = self.serve({"GET /budgets": [budget, {"scope": "global", "target": "*",
                                                            "daily_usd": 5, "on_exceed": "reject"}],
                                  "POST /budgets": budget,
                                  "DELETE /budgets/tag/a=b": {"status": "deleted"}})
        self.ok(corvo.run("budget", "list"),
                "SCOPE   TARGET  DAILY_USD  PER_JOB_USD  ON_EXCEED\n"
                "queue   q       10         1.25         hold\n"
                "global  *       5          -            reject\n")
        self.ok(corvo.run("budget", "set", "queue", "q", "--daily", "10", "--per-job", "1.25"),
                "Budget set for queue:q\n")
        self.assertEqual(fake.asked("POST /budgets")[0].json,
                         {"scope": "queue", "target": "q", "daily_usd": 10, "per_job_usd": 1.25,
                          "on_exceed": "hold"})
        self.ok(corvo.run("budget", "set", "global", "*", "--daily", "0", "--on-exceed", "reject"))
        self.assertEqual(fake.asked("POST /budgets")[1].json,
                         {"scope": "global", "target": "*", "daily_usd": 0, "on_exceed": "reject"})
        self.ok(corvo.run("budget", "delete", "tag", "a=b"), "Budget deleted for tag:a=b\n")
        self.assertEqual(fake.requests[-1].raw_path, "/api/v1/budgets/tag/a%3Db")
        self.failed(corvo.run("budget", "set", "queue", "q"), "set --daily, --per-job or both")
        self.failed(corvo.run("budget", "set", "team", "q", "--daily", "1"), "<scope> must be")

    def test_approval_policies(self):
        policy = {"id": "apol_1", "name": "big", "mode": "all", "enabled": True, "queue": "q",
                  "tag_key": "size", "tag_value": "big", "created_at": "2026-02-20T10:00:00Z"}
        fake, corvo = self.serve({"GET /approval-policies": [policy, {"id": "apol_2", "name": "n",
                                                                      "mode": "any",
                                                                      "enabled": False}],
                                  "POST /approval-policies": policy,
                                  "DELETE /approval-policies/apol_1": {"status": "deleted"}})
        self.ok(corvo.run("approval-policy", "list"),
                "ID      NAME  MODE  ENABLED  QUEUE  TAG\n"
                "apol_1  big   all   true     q      size=big\n"
                "apol_2  n     any   false    -      -\n")
        self.ok(corvo.run("approval-policy", "list", "-o", "id"), "apol_1\napol_2\n")
        self.ok(corvo.run("approval-policy", "list", "-o", "csv"),
                "id,name,mode,enabled,queue,tag\napol_1,big,all,true,q,size=big\napol_2,n,any,false,,\n")
        first, _ = self.ok(corvo.run("approval-policy", "list", "-o", "jsonl")).splitlines()
        self.assertEqual(json.loads(first), policy)
        self.ok(corvo.run("approval-policy", "set", "big", "--mode", "all", "--queue", "q", "--tag",
                          "size=big", "--disabled"), "approval policy set: big\n")
        self.assertEqual(fake.asked("POST /approval-policies")[0].json,
                         {"name": "big", "mode": "all", "enabled": False, "queue": "q",
                          "tag_key": "size", "tag_value": "big"})
        self.failed(corvo.run("approval-policy", "set", "x", "--tag", "size"),
                    "tag must be key=value")
        self.ok(corvo.run("approval-policy", "delete", "apol_1"),
                "approval policy deleted: apol_1\n")

    def test_empty_lists_say_so(self):
        for args, path, text in ((("budget", "list"), "/budgets", "No budgets configured"),
                                 (("approval-policy", "list"), "/approval-policies",
                                  "No approval policies configured"),
                                 (("keys",), "/auth/keys", "No API keys"),
                                 (("webhooks", "list"), "/webhooks", "No webhooks"),
                                 (("workers",), "/workers", "No workers connected"),
                                 (("schedules",), "/schedules", "No schedules"),
                                 (("queues",), "/queues",
                                  "QUEUE  PENDING  ACTIVE  HELD  COMPLETED  DEAD  PAUSED")):
            _, corvo = self.serve({f"GET {path}": []})
            self.ok(corvo.run(*args), text + "\n")


class Administration(FakeTest):
    def test_keys(self):
        fake, corvo = self.serve({"GET /auth/keys": [
            {"key_hash": "abc", "name": "ops", "namespace": "default", "role": "admin",
             "enabled": True, "created_at": "2026-02-20T10:00:00Z", "queue_scope": ""}],
            "POST /auth/keys": {"status": "ok", "api_key": "sk_123"},
            "DELETE /auth/keys": {"status": "deleted"}})
        self.assertIn("ops", self.ok(corvo.run("keys", "list")))
        self.ok(corvo.run("keys", "create", "--name", "ci", "--role", "worker", "--queue-scope",
                          "emails.*", "--expires-at", "2030-01-01T00:00:00Z"), "sk_123\n")
        self.assertEqual(fake.asked("POST /auth/keys")[0].json,
                         {"name": "ci", "role": "worker",  # without a namespace: the server uses that of the caller
                          "queue_scope": "emails.*", "expires_at": "2030-01-01T00:00:00Z"})
        self.assertNotIn("x-corvo-namespace", fake.requests[-1].headers)
        self.ok(corvo.run("keys", "create", "--name", "all", "--namespace", "*"), "sk_123\n")
        self.assertEqual(fake.requests[-1].json["namespace"], "*")
        self.assertNotIn("x-corvo-namespace", fake.requests[-1].headers)  # it would select the caller's namespace
        self.ok(corvo.run("keys", "create", "--name", "x", env={"CORVO_NAMESPACE": "acme"}), "sk_123\n")
        self.assertEqual(fake.requests[-1].json["namespace"], "acme")
        self.ok(corvo.run("keys", "list", "-o", "id"), "abc\n")
        self.ok(corvo.run("keys", "delete", "abc"), "Key deleted: abc\n")
        self.assertEqual(fake.requests[-1].json, {"key_hash": "abc"})

    def test_the_first_digits_of_a_hash_name_a_key(self):
        hashes = ["12" + "0" * 62, "13" + "0" * 62]
        fake, corvo = self.serve({"GET /auth/keys": [{"key_hash": h, "name": "ops"} for h in hashes],
                                  "DELETE /auth/keys": {"status": "deleted"}})
        for text, message in (("ops", "no API key has a hash that begins with 'ops'"),
                              ("1", "2 API keys have a hash that begins with '1'")):
            for args in (("keys", "delete", text), ("keys", "rotate", text), ("keys", "roles", text),
                         ("roles", "assign", text, "r"), ("roles", "unassign", text, "r")):
                with self.subTest(args):
                    self.failed(corvo.run(*args), message)
        self.assertEqual({r.method for r in fake.requests}, {"GET"})
        self.ok(corvo.run("keys", "delete", "12"), f"Key deleted: {hashes[0]}\n")
        self.assertEqual(fake.requests[-1].json, {"key_hash": hashes[0]})

    def test_the_first_key_says_that_it_closes_the_server(self):
        _, corvo = self.serve({"POST /auth/keys": {"status": "ok", "api_key": "sk_123", "note": "it was open"}})
        done = corvo.run("keys", "create", "--name", "ci")
        self.assertEqual((done.stdout, done.stderr), ("sk_123\n", "Note: it was open\n"))

    def test_rotating_a_key(self):
        key = "ab" * 32
        fake, corvo = self.serve({f"POST /auth/keys/{key}/rotate": {"status": "ok", "api_key": "sk_new"}})
        self.ok(corvo.run("keys", "rotate", key), "sk_new\n")
        self.ok(corvo.run("keys", "rotate", key, "--overlap", "1h"), "sk_new\n")
        self.assertEqual([r.json for r in fake.requests], [{}, {"overlap": "1h"}])

    def test_roles(self):
        roles = [{"name": "pauser", "created_at": "2026-02-20T10:00:00Z", "updated_at": "2026-02-21T10:00:00Z",
                  "permissions": [{"resource": "queues", "actions": ["read", "pause"]},
                                  {"resource": "jobs", "actions": ["*"]}]}]
        fake, corvo = self.serve({"GET /auth/keys": [{"key_hash": "abc"}, {"key_hash": "none"}],
                                  "GET /auth/roles": roles, "POST /auth/roles": {"status": "ok"},
                                  "DELETE /auth/roles/pauser": {"status": "deleted"},
                                  "GET /auth/keys/abc/roles": {"key_hash": "abc", "roles": ["pauser", "viewer"]},
                                  "GET /auth/keys/none/roles": {"key_hash": "none", "roles": []},
                                  "POST /auth/keys/abc/roles": {"status": "ok"},
                                  "DELETE /auth/keys/abc/roles/pauser": {"status": "deleted"}})
        self.ok(corvo.run("roles"), "NAME    UPDATED               PERMISSIONS\n"
                                    "pauser  2026-02-21T10:00:00Z  queues:read,queues:pause,jobs:*\n")
        self.assertEqual(json.loads(self.ok(corvo.run("roles", "list", "-o", "json"))), roles)
        self.ok(corvo.run("roles", "create", "pauser", "--allow", "queues:read,jobs:*", "--allow", "queues:pause"),
                "Role set: pauser\n")
        self.assertEqual(fake.asked("POST /auth/roles")[0].json,
                         {"name": "pauser", "permissions": [{"resource": "queues", "actions": ["read", "pause"]},
                                                            {"resource": "jobs", "actions": ["*"]}]})
        for bad in ("queues", ":read", "queues:"):
            self.failed(corvo.run("roles", "create", "x", "--allow", bad), "--allow must be resource:action")
        self.failed(corvo.run("roles", "create", "x"), "allow")
        self.ok(corvo.run("roles", "assign", "abc", "pauser"), "Role pauser assigned to abc\n")
        self.assertEqual(fake.requests[-1].json, {"role": "pauser"})
        self.ok(corvo.run("keys", "roles", "abc"), "pauser\nviewer\n")
        self.assertIn("no custom roles", corvo.run("keys", "roles", "none").stderr)
        self.ok(corvo.run("roles", "unassign", "abc", "pauser"), "Role pauser removed from abc\n")
        self.ok(corvo.run("roles", "delete", "pauser"), "Role deleted: pauser\n")

    def test_sessions(self):
        _, corvo = self.serve({"GET /auth/sessions": [
            {"id": "s1", "principal": "ops", "role": "admin", "namespace": "default", "address": "10.0.0.7",
             "user_agent": "Firefox", "created_at": "2026-02-20T10:00:00Z", "expires_at": "2026-02-20T22:00:00Z"}],
            "DELETE /auth/sessions/s1": {"status": "deleted"}})
        self.assertIn("10.0.0.7", self.ok(corvo.run("sessions")))
        self.ok(corvo.run("sessions", "list", "-o", "id"), "s1\n")
        self.ok(corvo.run("sessions", "end", "s1"), "Session ended: s1\n")

    def test_single_sign_on(self):
        shown = {"provider": "oidc", "oidc_issuer_url": "https://id.example", "oidc_client_id": "corvo",
                 "oidc_client_secret_set": True, "saml_enabled": False, "oidc_group_claim": "groups",
                 "group_role_mappings": {"ops": "admin", "dev": "operator"}}
        fake, corvo = self.serve({"GET /settings/sso": shown, "POST /settings/sso": {
            "status": "ok", "warning": "the provider is away", "note": "this server was open"}})
        self.ok(corvo.run("sso"), "Provider:      oidc\nIssuer:        https://id.example\n"
                                  "Client id:     corvo\nGroup claim:   groups\n"
                                  "Group:         ops=admin\nGroup:         dev=operator\n")
        self.assertEqual(json.loads(self.ok(corvo.run("sso", "show", "-o", "json"))), shown)
        done = corvo.run("sso", "set", "oidc", "--issuer", "https://id.example", "--client-id", "corvo",
                         "--map", "ops=admin,dev=operator",
                         env={"CORVO_OIDC_CLIENT_SECRET": "hidden"})
        self.assertEqual((done.returncode, done.stdout), (0, "Single sign-on set: oidc\n"))
        self.assertEqual(done.stderr, "Note: the provider is away\nNote: this server was open\n")
        self.assertEqual(fake.requests[-1].json, {
            "provider": "oidc", "oidc_issuer_url": "https://id.example", "oidc_client_id": "corvo",
            "oidc_client_secret": "hidden", "oidc_group_claim": "groups", "saml_enabled": True,
            "group_role_mappings": {"ops": "admin", "dev": "operator"}})
        corvo.run("sso", "set", "saml", "--disabled")
        self.assertEqual(fake.requests[-1].json["saml_enabled"], False)
        fake, corvo = self.serve({"GET /settings/sso": {"provider": ""}, "POST /settings/sso": {"status": "ok"}})
        self.ok(corvo.run("sso"), "Single sign-on is off\n")
        self.ok(corvo.run("sso", "off", "--yes"), "Single sign-on is off\n")
        self.assertEqual(fake.requests[-1].json, {"provider": ""})

    def test_organization(self):
        member = {"id": "m1", "name": "Ann", "email": "a@b.c", "role": "member", "created_at": "2026-02-20T10:00:00Z"}
        key = {"id": "k1", "name": "ci", "prefix": "ok_12", "created_at": "2026-02-20T10:00:00Z"}
        fake, corvo = self.serve({"GET /org": {"id": "org_default", "name": "Acme"}, "PUT /org": {"status": "ok"},
                                  "GET /org/members": [member], "POST /org/members": (201, member),
                                  "DELETE /org/members/m1": {"status": "deleted"}, "GET /org/api-keys": [key],
                                  "POST /org/api-keys": (201, {**key, "key": "ok_123"}),
                                  "DELETE /org/api-keys/k1": {"status": "deleted"}})
        self.ok(corvo.run("org"), "Acme (org_default)\n")
        self.ok(corvo.run("org", "rename", "Ajax"), "Organization renamed: Ajax\n")
        self.assertEqual(fake.requests[-1].json, {"name": "Ajax"})
        self.assertIn("a@b.c", self.ok(corvo.run("org", "members")))
        self.ok(corvo.run("org", "add-member", "Ann", "--email", "a@b.c"), "Member added: m1\n")
        self.assertEqual(fake.requests[-1].json, {"name": "Ann", "email": "a@b.c", "role": "member"})
        self.ok(corvo.run("org", "remove-member", "m1"), "Member removed: m1\n")
        self.assertIn("ok_12", self.ok(corvo.run("org", "keys")))
        self.ok(corvo.run("org", "create-key", "ci"), "ok_123\n")
        self.ok(corvo.run("org", "delete-key", "k1"), "Key deleted: k1\n")

    def test_namespaces(self):
        fake, corvo = self.serve({
            "GET /namespaces": [{"name": "acme", "created_at": "2026-02-20T10:00:00Z",
                                 "rate_limit": {"read_rps": 5}}],
            "POST /namespaces": (201, {"name": "acme", "status": "created"}),
            "DELETE /namespaces/acme": {"status": "deleted"},
            "PUT /namespaces/acme/rate-limit": {"status": "updated"},
            "GET /namespaces/acme/rate-limit": [Step({"using_defaults": True}),
                                                Step({"using_defaults": False, "read_rps": 5, "write_burst": 2.5})],
            "PUT /namespaces/acme/quota": {"status": "updated"},
            "GET /namespaces/acme/quota": [Step({"jobs": {"used": 1}}), Step({"jobs": {"used": 1, "max": 7}})]})
        self.assertIn('{"read_rps": 5}', self.ok(corvo.run("namespaces")))
        self.ok(corvo.run("namespaces", "create", "acme"), "Namespace created: acme\n")
        self.ok(corvo.run("namespaces", "rate-limit", "acme", "--read-rps", "5", "--write-burst",
                          "2.5"), "Rate limit of acme updated\n")
        self.ok(corvo.run("namespaces", "rate-limit", "acme", "--write-burst", "3"), "Rate limit of acme updated\n")
        self.ok(corvo.run("namespaces", "rate-limit", "acme", "--clear"))
        self.assertEqual([r.json for r in fake.asked("PUT /namespaces/acme/rate-limit")],
                         [{"read_rps": 5, "write_burst": 2.5}, {"read_rps": 5, "write_burst": 3}, {}])
        self.failed(corvo.run("namespaces", "rate-limit", "acme", "--clear", "--read-rps", "3"),
                    "use either --clear or --read-rps, not both")
        self.assertIn('"using_defaults": false',
                      self.ok(corvo.run("namespaces", "rate-limit", "acme")))
        self.ok(corvo.run("namespaces", "quota", "acme", "--max-jobs", "7"), "Quota of acme updated\n")
        self.ok(corvo.run("namespaces", "quota", "acme", "--max-queues", "2"), "Quota of acme updated\n")
        self.ok(corvo.run("namespaces", "quota", "acme", "--clear"))
        self.assertEqual([r.json for r in fake.asked("PUT /namespaces/acme/quota")],
                         [{"max_jobs": 7}, {"max_jobs": 7, "max_queues": 2}, {}])
        self.assertIn('"used": 1', self.ok(corvo.run("namespaces", "quota", "acme")))
        self.ok(corvo.run("namespaces", "delete", "acme"), "Namespace deleted: acme\n")

    def test_webhooks(self):
        hook = {"id": "wh_1", "url": "https://x.example/h", "events": ["completed", "dead"],
                "enabled": True, "retry_limit": 3, "created_at": "2026-02-20T10:00:00Z",
                "last_status_code": 200}
        fake, corvo = self.serve({"GET /webhooks": [hook],
                                  "POST /webhooks": {"status": "ok", "id": "wh_1"},
                                  "DELETE /webhooks/wh_1": {"status": "deleted", "id": "wh_1"}})
        self.assertIn("wh_1  https://x.example/h  completed,dead  true     200          -",
                      self.ok(corvo.run("webhooks")))
        self.ok(corvo.run("webhooks", "set", "wh_1", "--url", "https://x.example/h", "--events",
                          "completed,dead", "--secret", "s", "--disabled"), "Webhook set: wh_1\n")
        self.assertEqual(fake.asked("POST /webhooks")[0].json,
                         {"id": "wh_1", "url": "https://x.example/h",
                          "events": ["completed", "dead"], "secret": "s", "retry_limit": 3,
                          "enabled": False})
        self.ok(corvo.run("webhooks", "delete", "wh_1"), "Webhook deleted: wh_1\n")

    def test_webhooks_keep_what_is_not_given(self):
        hook = {"id": "wh_1", "url": "https://x.example/h", "events": ["dead"], "secret": "***",
                "enabled": False, "retry_limit": 7, "created_at": "2026-02-20T10:00:00Z"}
        kept = {name: hook[name] for name in ("id", "url", "events", "secret", "enabled", "retry_limit")}
        fake, corvo = self.serve({"GET /webhooks": [hook],
                                  "POST /webhooks": {"status": "ok", "id": "wh_1"}})
        for args, changed in ((("--url", "https://y.example/h"), {"url": "https://y.example/h"}),
                              (("--disabled=false",), {"enabled": True}),
                              (("--events", "failed", "--retry-limit", "3"), {"events": ["failed"], "retry_limit": 3}),
                              (("--secret", ""), {"secret": ""})):
            with self.subTest(args):
                self.ok(corvo.run("webhooks", "set", "wh_1", *args), "Webhook set: wh_1\n")
                self.assertEqual(fake.asked("POST /webhooks")[-1].json, kept | changed)
        for args in (("wh_2",), ()):
            self.failed(corvo.run("webhooks", "set", *args, "--events", "dead"),
                        "Error: flag --url is required for a new webhook\n")
        self.ok(corvo.run("webhooks", "set", "wh_2", "--url", "https://z.example/h"), "Webhook set: wh_1\n")
        self.assertEqual(fake.asked("POST /webhooks")[-1].json,
                         {"id": "wh_2", "url": "https://z.example/h", "retry_limit": 3, "enabled": True})

    def test_audit(self):
        entry = {"id": 7, "principal": None, "role": "admin", "method": "POST",
                 "path": "/api/v1/queues/x/pause", "status_code": 200,
                 "created_at": "2026-02-20T10:00:00Z"}
        fake, corvo = self.serve({"GET /audit-logs": {"audit_logs": [entry], "total": 1}})
        self.ok(corvo.run("audit", "--method", "post", "--path-prefix", "/api/v1/queues", "--since",
                          "2026-02-01", "--limit", "5"),
                "TIME                  PRINCIPAL  ROLE   METHOD  STATUS  PATH\n"
                "2026-02-20T10:00:00Z  -          admin  POST    200     /api/v1/queues/x/pause\n")
        self.assertEqual(fake.requests[0].query,
                         {"method": "post", "path_prefix": "/api/v1/queues", "since": "2026-02-01",
                          "limit": "5", "offset": "0"})

    def test_cluster(self):
        fake, corvo = self.serve({
            "GET /cluster/events": {"events": [{"seq": 4, "type": "enqueued", "job_id": "job_1",
                                                "queue": "q",
                                                "created_at": "2026-02-20T10:00:00Z"},
                                               {"seq": 5, "type": "queue.paused", "queue": "q",
                                                "created_at": "2026-02-20T10:00:01Z"}]},
            "POST /cluster/join": lambda r: {"status": "ok", "added": r.json["node_id"] == "new"},
            "POST /admin/accept-clock": {"status": "ok", "ahead_ms": 7200000,
                                         "time": "2026-11-16T16:00:00Z"},
            "POST /admin/rebuild-sqlite": {"status": "ok", "rebuilt": True, "duration_ms": 12}})
        self.ok(corvo.run("cluster", "events", "--after", "3", "--limit", "7"),
                "4 2026-02-20T10:00:00Z enqueued job_1 q\n"
                "5 2026-02-20T10:00:01Z queue.paused - q\n")
        self.assertEqual(fake.requests[0].query, {"after_seq": "3", "limit": "7"})
        self.ok(corvo.run("cluster", "join", "new", "10.0.0.2:9000", "--shard", "1",
                          "--shard-count", "2"), "Node new joined\n")
        self.assertEqual(fake.requests[1].json, {"node_id": "new", "addr": "10.0.0.2:9000",
                                                 "shard": 1, "shard_count": 2})
        self.ok(corvo.run("cluster", "join", "old", "10.0.0.3:9000"), "Node old already a member\n")
        self.ok(corvo.run("admin", "rebuild-sqlite"), "SQLite rebuilt in 12ms\n")
        self.ok(corvo.run("admin", "accept-clock"),
                "Server time is 2026-11-16T16:00:00Z; the clock was 7200000ms ahead\n")

    def test_cluster_verify_lists_problems_for_programs(self):
        _, corvo = self.serve({"GET /cluster/status": {"leader_id": "", "nodes": [{"id": "n1"}]}})
        done = corvo.run("cluster", "verify", "-o", "json")
        self.assertEqual((done.returncode, json.loads(done.stdout)), (1, {"nodes": 1, "problems": [
            {"problem": "There is no leader: a majority of the voters must be running"},
            {"node": "n1", "problem": "has not reported the URL of its API"}]}))
        self.assertIn("Node n1 has not reported the URL of its API.\n", corvo.run("cluster", "verify").stdout)

    def test_cluster_verify_does_not_wait_for_a_node_that_hangs(self):
        """Its process is stopped: the system still accepts connections for it."""
        hung = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(hung.close)
        _, corvo = self.serve({"GET /cluster/status": {"leader_id": "n1", "nodes": [
            {"id": "n1", "http_url": f"http://127.0.0.1:{hung.getsockname()[1]}"}]}})
        with corvo.start("cluster", "verify", "--timeout", "60s") as running:
            connection = hung.accept()[0]
            self.addCleanup(connection.close)
            running.signal(signal.SIGINT)
            self.assertEqual(running.wait(), 130)
            self.assertTrue(running.lines.empty())
        for flags in ((), ("--timeout", "50ms")):
            done = corvo.run("cluster", "verify", *flags)
            self.assertEqual((done.returncode, done.stdout), (1, "Node n1 does not respond at its API URL.\n"))

    def test_cluster_status_shows_how_far_each_node_is_behind(self):
        nodes = [{"id": "a", "role": "leader", "voter": True, "address": "h:1", "match_index": 90},
                 {"id": "b", "role": "follower", "voter": True, "address": "h:2",
                  "match_index": 83},
                 {"id": "c", "role": "follower", "voter": False, "address": "h:3"}]
        _, corvo = self.serve({"GET /cluster/status": {"mode": "cluster", "state": "Leader",
                                                       "commit_index": "90", "nodes": nodes}})
        table = self.ok(corvo.run("cluster", "status")).split("\n\n")[1]
        self.assertEqual([line.split() for line in table.splitlines()],
                         [["NODE", "ROLE", "VOTER", "ADDRESS", "LAG"],
                          ["a", "leader", "true", "h:1", "0"],
                          ["b", "follower", "true", "h:2", "7"],
                          ["c", "follower", "false", "h:3", "-"]])

    def test_cluster_status_lists_the_nodes_that_are_not_healthy(self):
        nodes = [{"id": "a", "role": "Leader", "voter": True, "address": "h:1", "status": "healthy"},
                 {"id": "b", "role": "Follower", "voter": True, "address": "h:2", "status": "unreachable",
                  "error": "connect: Connection refused"},
                 {"id": "c", "role": "Follower", "voter": True, "address": "h:3", "status": "outdated"},
                 {"id": "d", "role": "Follower", "voter": True, "address": "h:4", "status": "differs"}]
        _, corvo = self.serve({"GET /cluster/status": {"mode": "cluster", "state": "Leader", "nodes": nodes}})
        parts = self.ok(corvo.run("cluster", "status")).split("\n\n")
        self.assertEqual(parts[2:], ["Node b is unreachable: connect: Connection refused.\nNode c is outdated.\n"
                                     "Node d is different from the majority.\n"])

    def test_health_of_a_sick_server(self):
        _, corvo = self.serve({"GET /healthz": (503, {"error": "database unavailable",
                                                      "code": "UNHEALTHY"})})
        self.failed(corvo.run("health"), "Error: database unavailable")

    def test_seed_fails_where_a_required_call_does_and_skips_what_is_not_there(self):
        _, corvo = self.serve({"POST /enqueue": (507, {"error": "the disk is nearly full"})})
        done = corvo.run("seed", "demo")
        self.assertEqual(done.returncode, 1)
        self.assertIn("Skipped: the server has no /budgets", done.stderr)
        self.assertIn("Error: the disk is nearly full", done.stderr)
        _, corvo = self.serve({"POST /budgets": (400, {"error": "bad budget"})})
        self.failed(corvo.run("seed", "demo"), "Error: bad budget")


JOB = {"id": "job_1", "queue": "q", "state": "pending", "payload": {}, "priority": 2,
       "created_at": "2026-02-20T10:00:00Z"}
BACKUP = {"namespace": "acme", "created_at": "2026-02-20T10:00:00Z", "jobs": [JOB],
          "queues": [{"name": "q", "paused": False}], "meta": {"format": 2}}


class Backup(FakeTest):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="corvo-backup-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.file = str(self.folder / "backup.json")

    def write(self, value):
        text = value if isinstance(value, str) else json.dumps(value)
        pathlib.Path(self.file).write_text(text, encoding="utf-8")

    def test_create_writes_what_the_server_sends(self):
        text = json.dumps(BACKUP).encode()

        def stream(_):
            return 200, iter([text[:20], text[20:50], text[50:]])

        fake, corvo = self.serve({"GET /admin/backup": stream})
        self.ok(corvo.run("backup", "create", self.file, "--namespace", "acme"),
                f"Backup written to {self.file} ({len(text)} bytes)\n")
        self.assertEqual(pathlib.Path(self.file).read_bytes(), text)
        self.assertEqual(os.listdir(self.folder), ["backup.json"])
        self.assertEqual(os.stat(self.file).st_mode & 0o077, 0, "it has the secrets of webhooks")
        self.assertEqual(fake.requests[0].query, {"namespace": "acme"})
        self.assertEqual(self.ok(corvo.run("backup", "create", "-")).encode(), text)
        self.assertEqual(self.ok(corvo.run("admin", "backup")).encode(), text)
        self.ok(corvo.run("admin", "backup", "-o", self.file))
        for args in (("backup", "create", self.file), ("admin", "backup", "-o", self.file)):
            self.ok(corvo.run(*args, "--include-secrets"))
            self.assertEqual(fake.requests[-1].query, {"include_secrets": "true"})

    def test_what_is_no_file_is_not_replaced_by_a_backup(self):
        fake, corvo = self.serve({})
        os.mkfifo(self.file)
        self.failed(corvo.run("backup", "create", self.file), "is not a regular file; use - for standard output")
        self.failed(corvo.run("admin", "backup", "-o", str(self.folder)), "is a directory")
        self.assertTrue(pathlib.Path(self.file).is_fifo())
        self.assertEqual(fake.requests, [])

    def test_a_backup_that_breaks_off_leaves_the_old_one(self):
        def broken(_):
            def pieces():
                yield b'{"namespace":'
                raise ConnectionError
            return 200, pieces()

        self.write("old")
        for answer, message in ((broken, "Error: the backup stopped after 13 bytes"),
                                ((403, {"error": "insufficient role permissions"}),
                                 "Error: insufficient role permissions")):
            _, corvo = self.serve({"GET /admin/backup": answer})
            self.failed(corvo.run("backup", "create", self.file), message)
            self.assertEqual(pathlib.Path(self.file).read_text(encoding="utf-8"), "old")
            self.assertEqual(os.listdir(self.folder), ["backup.json"])

    def test_verify(self):
        _, corvo = self.serve({})
        self.write(BACKUP)
        self.ok(corvo.run("backup", "verify", self.file),
                "Backup of namespace acme from 2026-02-20T10:00:00Z, format 2: 1 jobs, 1 queues\n")
        for value, message in (("{", "the backup is damaged: invalid JSON at byte 1"),
                               ({}, "not a backup in a known format"),
                               ({**BACKUP, "meta": {"format": 3}}, "not a backup in a known format"),
                               ({**BACKUP, "meta": {"format": 2, "checksum": "crc32c:00000000"}},
                                "its checksum does not match"),
                               ({**BACKUP, "jobs": {}}, "no namespace or no jobs"),
                               ({**BACKUP, "jobs": [JOB, {"id": "x"}]}, "jobs[1] is incomplete")):
            self.write(value)
            self.failed(corvo.run("backup", "verify", self.file), message)
        self.failed(corvo.run("backup", "verify", str(self.folder / "none")), "Error: ")
        self.write({**BACKUP, "jobs": [{**JOB, "payload": "x" * (128 << 20)}]})
        self.failed(corvo.run("backup", "verify", self.file), "the backup is too large to be restored: jobs[0]")
        self.write({**BACKUP, "meta": {"format": 2, "rows_left_out": 3}})
        self.assertIn("3 rows", corvo.run("backup", "verify", self.file).stderr)

    def test_restore(self):
        fake, corvo = self.serve({"POST /admin/restore": {"status": "ok", "restored_jobs": 1,
                                                          "namespace": "acme"}})
        self.write(BACKUP)
        for args in (("backup", "restore"), ("admin", "restore")):
            self.ok(corvo.run(*args, self.file), "Restored 1 jobs into acme\n")
            self.assertEqual(fake.requests[-1].json, BACKUP)
            self.assertEqual(fake.requests[-1].query, {"verify": "true"})
        self.ok(corvo.run("admin", "restore", "-", stdin=json.dumps(BACKUP)),
                "Restored 1 jobs into acme\n")
        # A backup of an older server has no format. It is sent as it is.
        self.ok(corvo.run("admin", "restore", "-", stdin='{"jobs":[]}'))
        fake.routes["POST /admin/restore"] = {"status": "ok", "restored_jobs": 1, "skipped_jobs": 2,
                                              "failed_jobs": 3, "namespace": "acme"}
        done = corvo.run("backup", "restore", self.file, "--skip", "500")
        self.assertEqual(fake.requests[-1].query, {"verify": "true", "skip": "500"})
        self.assertEqual((done.returncode, done.stdout), (0, "Restored 1 jobs into acme\n"))
        self.assertEqual(done.stderr, "2 jobs already existed\n3 jobs could not be restored\n")

    def test_an_edited_backup_is_restored_only_when_told_so(self):
        fake, corvo = self.serve({"POST /admin/restore": {
            "status": "ok", "restored_jobs": 1, "namespace": "acme", "warnings": ["it differs"]}})
        self.write({**BACKUP, "meta": {"format": 2, "checksum": "crc32c:00000000"}})
        self.failed(corvo.run("backup", "restore", self.file), "its checksum does not match")
        self.assertEqual(fake.requests, [])
        for args in (("backup", "restore"), ("admin", "restore")):
            done = corvo.run(*args, self.file, "--verify=false")
            self.assertEqual((done.returncode, done.stdout, done.stderr),
                             (0, "Restored 1 jobs into acme\n", "Warning: it differs\n"))
            self.assertEqual(fake.requests[-1].query, {"verify": "false"})
        count = len(fake.requests)
        self.write("{oops")
        self.failed(corvo.run("backup", "restore", self.file), "the backup is damaged")
        self.assertEqual(len(fake.requests), count)
