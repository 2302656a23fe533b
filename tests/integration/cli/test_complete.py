"""Completion: what the shells' scripts offer, from the table and from the server."""
import os
import re
import subprocess

from cli_harness import PATIENCE_S, Corvo, FakeTest, binary, environment


def bash(script, line, env=None):
    """Complete the last word of the line as bash does, which also splits words at = and :."""
    words = [w for w in re.split(r"\s+|([=:]+)", line) if w]
    if line.endswith(" "):
        words.append("")
    quoted = " ".join(f"'{w}'" for w in words)
    program = (f'PATH="{os.path.dirname(binary())}:$PATH"\n{script}\nCOMP_LINE=\'{line}\'; COMP_WORDS=({quoted}); '
               f"COMP_CWORD={len(words) - 1}; _corvo; printf '%s\\n' \"${{COMPREPLY[@]}}\"\n")
    done = subprocess.run(["bash", "-c", program], env=environment(env or {}), capture_output=True, text=True,
                          timeout=PATIENCE_S, check=True)
    return done.stdout.split("\n")[:-1]


class Completion(FakeTest):
    def serve_lists(self):
        return self.serve({
            "GET /queues": [{"name": "emails"}, {"name": "reports"}],
            "GET /schedules": [{"id": "sched_1"}], "GET /webhooks": [{"id": "wh_1"}],
            "GET /approval-policies": [{"id": "pol_1"}], "GET /markers": [{"id": "m_1"}],
            "GET /auth/sessions": [{"id": "ses_1"}], "GET /auth/keys": [{"key_hash": "9f86"}],
            "GET /auth/roles": [{"name": "pauser"}], "GET /namespaces": [{"name": "acme"}],
            "GET /org/members": [{"id": "mem_1"}], "GET /org/api-keys": [{"id": "ok_1"}],
            "GET /cluster/status": {"nodes": [{"id": "n1"}]}})

    def offers(self, corvo, *words):
        out = self.ok(corvo.run("__complete", *words))
        return [line.split("\t")[0] for line in out.splitlines()]

    def test_ids_are_those_of_the_command(self):
        _, corvo = self.serve_lists()
        for words, wanted in (("schedules delete", "sched_1"), ("webhooks delete", "wh_1"), ("webhooks set", "wh_1"),
                              ("approval-policy delete", "pol_1"), ("unmark", "m_1"), ("sessions end", "ses_1"),
                              ("keys rotate", "9f86"), ("roles assign", "9f86"), ("roles assign 9f86", "pauser"),
                              ("roles delete", "pauser"), ("namespaces quota", "acme"),
                              ("org remove-member", "mem_1"), ("org delete-key", "ok_1"),
                              ("cluster remove", "n1")):
            with self.subTest(words):
                self.assertIn(wanted, self.offers(corvo, *words.split(), ""))
        for words in ("namespaces create", "roles create", "schedules create"):
            self.assertEqual(self.offers(corvo, *words.split(), ""), [])

    def test_the_server_of_the_command_line_is_asked_as_its_user(self):
        fake, _ = self.serve_lists()
        nowhere = Corvo("http://127.0.0.1:1")
        for words in (("--server", fake.url, "pause"), ("pause", f"--server={fake.url}"),
                      ("pause", "-o", "json", "--server", fake.url),
                      ("search", "--server", fake.url, "--queue"), ("work", "--server", fake.url, "--queue")):
            with self.subTest(words):
                self.assertEqual(self.offers(nowhere, *words, "e"), ["emails"])
        self.offers(nowhere, "pause", "--server", fake.url, "--api-key", "k", "--namespace", "acme", "")
        headers = fake.requests[-1].headers
        self.assertEqual((headers["x-api-key"], headers["x-corvo-namespace"]), ("k", "acme"))
        # Here the flag is a field of the key, not the namespace to act in.
        self.offers(nowhere, "keys", "create", "--server", fake.url, "--namespace", "acme", "--queue-scope", "")
        self.assertEqual(self.offers(nowhere, "pause", ""), [])

    def test_words_are_offered_for_every_form_of_a_flag(self):
        nowhere = Corvo("http://127.0.0.1:1")
        self.assertEqual(self.offers(nowhere, "queues", "-o", "j"), ["json", "jsonl"])
        self.assertEqual(self.offers(nowhere, "queues", "--output=j"), ["--output=json", "--output=jsonl"])
        self.assertEqual(self.offers(nowhere, "queues", "--no-such=j"), [])
        self.assertEqual(self.offers(nowhere, "completion", "z"), ["zsh"])
        self.assertEqual(self.offers(nowhere, "budget", "set", "q"), ["queue"])

    def test_bash_with_words_that_it_splits(self):
        fake, corvo = self.serve_lists()
        script = self.ok(corvo.run("completion", "bash"))
        for line, wanted in ((f"corvo --server {fake.url} pause e", ["emails"]),
                             (f"corvo pause --server {fake.url} ", ["emails", "reports"]),
                             (f"corvo --server={fake.url} que", ["queues"]),
                             ("corvo search --order=d", ["desc"]), ("corvo search --order=", ["asc", "desc"]),
                             ("corvo search --order d", ["desc"]), ("corvo que", ["queues"])):
            with self.subTest(line):
                self.assertEqual(bash(script, line), wanted)
