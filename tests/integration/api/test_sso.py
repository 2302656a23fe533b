"""Settings of single sign-on, and users that a trusted proxy authenticates (contract 3.1, 3.3, 3.7, 18.5).

tests/integration/sso tests tokens and the sign-in, with a real provider.
"""
import http.client
import json
import tempfile
import unittest

from harness import PATIENCE_S, ApiTest, Server, run_command, wait_until
from test_cluster import Cluster

SSO = "/api/v1/settings/sso"
PROXIES = ("--trusted-proxies", "127.0.0.2, 127.7.0.0/16")


def ask(server, source, method="GET", path="/api/v1/queues", headers=(), body=None):
    """Send a request from this source address. Headers may repeat. Returns status and body of the response."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S,
                                            source_address=(source, 0))
    try:
        connection.putrequest(method, path)
        for name, value in headers:
            connection.putheader(name, value)
        data = b"" if body is None else json.dumps(body).encode()
        connection.putheader("Content-Length", str(len(data)))
        connection.endheaders(data)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read() or b"null")
    finally:
        connection.close()


class Settings(ApiTest):
    settings = (*ApiTest.settings, "--admin-password", "the password")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.api = cls.api.with_headers(X_API_Key="the password")

    def setUp(self):
        super().setUp()
        self.api.must(self.api.post(SSO, {"provider": ""}))

    def test_shape(self):
        """18.5: the defaults, and stored settings."""
        shown = self.api.must(self.api.get(SSO))
        self.assert_time(shown.pop("updated_at"))
        self.assertEqual(shown, {
            "provider": "", "oidc_issuer_url": "", "oidc_client_id": "", "saml_enabled": False,
            "oidc_client_secret_set": False, "oidc_group_claim": "groups", "group_role_mappings": {}})
        saved = self.api.must(self.api.post(SSO, {
            "provider": "oidc", "oidc_issuer_url": " http://127.0.0.1:9/realm ", "oidc_client_id": "c",
            "oidc_client_secret": "hidden", "oidc_group_claim": "teams",
            "group_role_mappings": {"dev": "operator", "Ops ü": "custom"}}))
        self.assertEqual(saved["status"], "ok")
        self.assertIn("the provider's configuration", saved["warning"])
        answer = self.api.get(SSO)
        self.assertNotIn("hidden", answer.body.decode())
        shown = self.api.must(answer)
        self.assertEqual((shown["provider"], shown["oidc_issuer_url"], shown["oidc_client_id"],
                          shown["oidc_client_secret_set"], shown["oidc_group_claim"]),
                         ("oidc", "http://127.0.0.1:9/realm", "c", True, "teams"))
        self.assertEqual(shown["group_role_mappings"], {"dev": "operator", "Ops ü": "custom"})

    def test_the_secret_stays_with_its_client(self):
        oidc = {"provider": "oidc", "oidc_issuer_url": "http://127.0.0.1:9", "oidc_client_id": "c"}
        for change, kept in (({"oidc_client_secret": "s"}, True), ({}, True),
                             ({"oidc_client_id": "other"}, False), ({}, False),
                             ({"oidc_client_secret": "s"}, True), ({"oidc_client_secret": ""}, False)):
            self.api.must(self.api.post(SSO, {**oidc, **change}))
            self.assertEqual(self.api.must(self.api.get(SSO))["oidc_client_secret_set"], kept, change)

    def test_what_is_wrong_is_named(self):
        oidc = {"provider": "oidc", "oidc_issuer_url": "https://id.example", "oidc_client_id": "c"}
        rows = [
            ({"provider": "ldap"}, "provider: 'ldap'"),
            ({**oidc, "oidc_issuer_url": ""}, "oidc_issuer_url is required"),
            ({**oidc, "oidc_client_id": " "}, "oidc_client_id is required"),
            ({**oidc, "oidc_issuer_url": "id.example"}, "oidc_issuer_url"),
            ({**oidc, "oidc_issuer_url": "ftp://id.example"}, "oidc_issuer_url"),
            ({**oidc, "oidc_issuer_url": "https://"}, "oidc_issuer_url"),
            ({**oidc, "oidc_issuer_url": "https://id.example/?a=b"}, "oidc_issuer_url"),
            ({**oidc, "oidc_issuer_url": "https://id.example/" + "x" * 2000}, "oidc_issuer_url"),
            ({**oidc, "group_role_mappings": {"": "admin"}}, "group_role_mappings"),
            ({**oidc, "group_role_mappings": {"g": ""}}, "group_role_mappings: 'g'"),
            ({**oidc, "group_role_mappings": {"g": " "}}, "group_role_mappings: 'g'"),
            ({**oidc, "group_role_mappings": {"g": 1}}, "group_role_mappings: 'g'"),
            ({**oidc, "group_role_mappings": {"g": "a\nadmin"}}, "group_role_mappings: 'g'"),
            ({**oidc, "group_role_mappings": {f"g{n}": "r" for n in range(257)}}, "group_role_mappings"),
        ]
        for body, why in rows:
            with self.subTest(body=str(body)[:100]):
                self.refused(self.api.post(SSO, body), 400, "VALIDATION_ERROR", why)
        self.refused(self.api.post(SSO, {**oidc, "group_role_mappings": []}), 400, "PARSE_ERROR")
        twice = b'{"provider":"","group_role_mappings":{"g":"a","g":"b"}}'
        self.refused(self.api.post(SSO, twice), 400, "VALIDATION_ERROR", "twice")
        self.assertEqual(self.api.must(self.api.get(SSO))["provider"], "")

    def test_only_an_admin_of_the_default_namespace(self):
        made = self.api.must(self.api.post("/api/v1/auth/keys",
                                           {"name": "t", "role": "admin", "namespace": "tenant"}))
        tenant = self.server.client().with_headers(X_API_Key=made["api_key"])
        self.refused(tenant.post(SSO, {"provider": ""}), 403, "FORBIDDEN")

    def test_without_a_provider_there_is_no_sign_in(self):
        self.refused(self.api.get("/api/v1/auth/sso/login"), 404, "NOT_FOUND")
        self.refused(self.api.get("/api/v1/auth/sso/callback?code=a&state=b"), 404, "NOT_FOUND")
        self.assertNotIn("sso_login_url", self.api.must(self.api.get("/api/v1/info")))

    def test_settings_outlive_a_restart(self):
        with tempfile.TemporaryDirectory() as folder:
            for stored in (False, True):
                with Server("--admin-password", "pw", data_dir=folder) as server:
                    api = server.client().with_headers(X_API_Key="pw")
                    if not stored:
                        api.must(api.post(SSO, {"provider": "saml", "saml_enabled": True}))
                    shown = api.must(api.get(SSO))
                    self.assertEqual((shown["provider"], shown["saml_enabled"]), ("saml", True))


class Closed(ApiTest):
    def test_sso_closes_an_open_server(self):
        """3.1: nobody is anonymous any more, and the response reports it."""
        with Server() as server:
            api = server.client()
            saved = api.must(api.post(SSO, {"provider": "saml", "saml_enabled": True}))
            self.assertIn("this server was open", saved["note"])
            self.assertIn("--trusted-proxies", saved["warning"])
            self.refused(api.get("/api/v1/queues"), 401, "UNAUTHORIZED", "missing API key")

    def test_a_saml_provider_that_is_not_enabled_closes_nothing(self):
        with Server() as server:
            api = server.client()
            self.assertNotIn("note", api.must(api.post(SSO, {"provider": "saml"})))
            api.must(api.get("/api/v1/queues"))

    def test_started_with_a_provider(self):
        """The flags are in effect until settings are stored."""
        with Server("--oidc-issuer-url", "http://127.0.0.1:9", "--oidc-client-id", "c",
                    "--admin-password", "pw") as server:
            nobody, admin = server.client(), server.client().with_headers(X_API_Key="pw")
            self.refused(nobody.get("/api/v1/queues"), 401, "UNAUTHORIZED")
            shown = admin.must(admin.get(SSO))
            self.assertEqual((shown["provider"], shown["oidc_client_id"]), ("oidc", "c"))
            self.assertEqual(nobody.must(nobody.get("/api/v1/info"))["sso_login_url"],
                             "/api/v1/auth/sso/login")
            admin.must(admin.post(SSO, {"provider": ""}))
            self.assertNotIn("sso_login_url", nobody.must(nobody.get("/api/v1/info")))
            self.assertEqual(admin.must(admin.get(SSO))["provider"], "")

    def test_flags_that_are_wrong(self):
        for args, why in ((("--oidc-issuer-url", "id", "--oidc-client-id", "c"), "oidc-issuer-url"),
                          (("--trusted-proxies", "10.0.0.0/8, proxy"), "setting trusted-proxies: expected a comma-separated list"
                           " of networks such as 10.0.0.0/8, got 'proxy'")):
            done = run_command("server", "--bind", "127.0.0.1:0", *args)
            self.assertEqual(done.returncode, 1)
            self.assertIn(why, done.stderr)


class Gate(ApiTest):
    def test_without_the_feature(self):
        """3.7: 403 LICENSE_ERROR, and the settings have no effect."""
        with Server("--features", "audit,rbac", "--saml-header-auth", *PROXIES) as server:
            api = server.client()
            for answer in (api.get(SSO), api.post(SSO, {"provider": ""}),
                           api.get("/api/v1/auth/sso/login"), api.get("/api/v1/auth/sso/callback")):
                self.refused(answer, 403, "LICENSE_ERROR", "sso")
            status, who = ask(server, "127.0.0.2", path="/api/v1/auth/status",
                              headers=[("X-Corvo-SAML-Subject", "mallory")])
            self.assertEqual((status, who["principal"]), (200, "anonymous"))
            self.assertTrue(server.events("single sign-on is off"))


class Proxy(ApiTest):
    """Trusted-header mode."""
    settings = (*ApiTest.settings, "--admin-password", "the password", "--saml-header-auth", *PROXIES)

    def call(self, source, *headers, method="GET", path="/api/v1/queues", body=None):
        return ask(self.server, source, method, path,
                   [(f"X-Corvo-SAML-{name}", value) for name, value in headers], body)

    def test_who_is_let_in(self):
        for headers, role, ns in (
                ([("Subject", "alice")], "readonly", "default"),
                ([("Subject", " alice "), ("Role", "Operator"), ("Namespace", "acme")], "Operator", "acme"),
                ([("Subject", "alice"), ("Namespace", "default")], "readonly", "default")):
            for source in ("127.0.0.2", "127.7.3.4"):
                status, who = self.call(source, *headers, path="/api/v1/auth/status")
                self.assertEqual((status, who["principal"], who["role"], who["namespace"]),
                                 (200, "alice", role, ns))

    def test_roles(self):
        queue = {"queue": "proxied"}
        for headers, status in (
                ([("Subject", "a")], 403),
                ([("Subject", "a"), ("Role", "worker")], 201),
                ([("Subject", "a"), ("Roles", "auditor, worker")], 201),
                ([("Subject", "a"), ("Role", "nothing")], 403)):
            with self.subTest(headers):
                self.assertEqual(self.call("127.0.0.2", *headers, method="POST",
                                           path="/api/v1/enqueue", body=queue)[0], status)

    def test_from_anywhere_else_they_are_ignored(self):
        admin = [("Subject", "mallory"), ("Role", "admin")]
        for source in ("127.0.0.1", "127.0.0.3", "127.8.0.1"):
            self.assertEqual(self.call(source, *admin)[0], 401)
        # An address in a header is not the source address.
        for name in ("X-Forwarded-For", "X-Real-IP", "Forwarded"):
            status, _ = ask(self.server, "127.0.0.3", headers=[
                ("X-Corvo-SAML-Subject", "mallory"), (name, "127.0.0.2")])
            self.assertEqual(status, 401)

    def test_without_a_subject_a_credential_counts(self):
        status, _ = ask(self.server, "127.0.0.2", headers=[("X-Corvo-SAML-Role", "admin")])
        self.assertEqual(status, 401)
        status, who = ask(self.server, "127.0.0.2", path="/api/v1/auth/status",
                          headers=[("X-API-Key", "the password"), ("X-Corvo-SAML-Subject", "")])
        self.assertEqual((status, who["principal"]), (200, "admin"))

    def test_what_cannot_be_is_refused(self):
        for headers in ([("Subject", "a"), ("Namespace", "No Name")],
                        [("Subject", "a"), ("Role", "x" * 300)],
                        [("Subject", "a"), ("Subject", "b")],
                        [("Subject", "a"), ("Role", "readonly"), ("Role", "admin")]):
            with self.subTest(headers):
                status, answer = self.call("127.0.0.2", *headers)
                self.assertEqual((status, answer["code"]), (401, "UNAUTHORIZED"))
                self.assertIn("X-Corvo-SAML", answer["error"])

    def test_a_page_of_another_server_changes_nothing(self):
        """The proxy authenticates a browser by a cookie, which the browser sends automatically."""
        for site, status in (("cross-site", 403), ("same-origin", 201)):
            found, _ = ask(self.server, "127.0.0.2", "POST", "/api/v1/enqueue",
                           [("X-Corvo-SAML-Subject", "a"), ("X-Corvo-SAML-Role", "worker"),
                            ("Sec-Fetch-Site", site)], {"queue": "proxied"})
            self.assertEqual(found, status)

    def test_the_audit_log_has_the_user(self):
        self.call("127.0.0.2", ("Subject", "auditee"), ("Role", "operator"), method="POST",
                  path="/api/v1/queues/audited/pause", body={})
        api = self.api.with_headers(X_API_Key="the password")
        self.assertEqual(api.must(api.get("/api/v1/audit-logs?principal=auditee"))["total"], 1)


class OnEveryNode(unittest.TestCase):
    def test_settings_reach_all_members(self):
        """18.5: settings stored through one node are in effect on all of them, without a restart."""
        with Cluster(3, *PROXIES) as cluster:
            leader = cluster.leader()
            follower = next(n for n in cluster.nodes if n is not leader)
            follower.api.must(follower.api.post(SSO, {"provider": "saml", "saml_enabled": True}))
            for node in cluster.nodes:
                wait_until(lambda node=node: ask(
                    node, "127.0.0.2", headers=[("X-Corvo-SAML-Subject", "a")])[0] == 200)
                # A change is forwarded to the leader with the address of the client.
                status, _ = ask(node, "127.0.0.2", "POST", "/api/v1/enqueue",
                                [("X-Corvo-SAML-Subject", "a"), ("X-Corvo-SAML-Role", "worker")],
                                {"queue": "q"})
                self.assertEqual(status, 201)
                status, _ = ask(node, "127.0.0.3", "POST", "/api/v1/enqueue",
                                [("X-Corvo-SAML-Subject", "a"), ("X-Corvo-SAML-Role", "worker")],
                                {"queue": "q"})
                self.assertEqual(status, 401)


if __name__ == "__main__":
    unittest.main()
