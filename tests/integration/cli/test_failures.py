"""Failures: unavailable servers, missing keys, broken pipes, Ctrl-C."""
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import unittest

from cli_harness import (PATIENCE_S, CliTest, Corvo, FakeTest, LiveTest, Server, binary,
                         environment, frame, signal)

NO_QUEUES = "QUEUE  PENDING  ACTIVE  HELD  COMPLETED  DEAD  PAUSED\n"


def closed_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class NoServer(CliTest):
    def setUp(self):
        self.corvo = Corvo(f"http://127.0.0.1:{closed_port()}")

    def test_every_kind_of_command_says_that_the_request_failed(self):
        for args in (("queues",), ("enqueue", "q", "{}"), ("health",), ("status",), ("search",),
                     ("bulk", "retry", "--filter", "{}", "--yes"), ("backup", "create", "-"),
                     ("seed", "demo"), ("wait", "job_1"), ("drain", "q", "--wait")):
            with self.subTest(args[0]):
                self.failed(self.corvo.run(*args), "Error: request failed: ")

    def test_a_bad_url_is_a_failed_request(self):
        for url in ("http://", "ftp://x", "nonsense://y", "http://no such host/"):
            with self.subTest(url):
                self.failed(self.corvo.run("queues", "--server", url), "Error: request failed: ")

    def test_a_password_in_the_url_is_not_printed(self):
        for url in ("http://u:s3cret@127.0.0.1:1", "u:s3cret@127.0.0.1:1/p@th", "http://u:s3@cret@127.0.0.1:1/"):
            done = self.corvo.run("queues", "--server", url, "--log-level", "debug")
            self.assertNotIn("cret", done.stderr)
            self.assertIn("127.0.0.1:1", done.stderr)

    def test_nothing_is_left_of_a_backup_that_failed(self):
        path = f"/tmp/corvo-cli-test-{os.getpid()}.json"
        self.failed(self.corvo.run("backup", "create", path), "Error: request failed: ")
        self.assertFalse(os.path.exists(path) or os.path.exists(path + ".part"))


class Mute(CliTest):
    """A server that accepts connections and never responds."""

    def test_a_command_ends_when_its_time_is_over(self):
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen(16)
            corvo = Corvo(f"http://127.0.0.1:{listener.getsockname()[1]}")
            for args in (("wait", "job_1", "--wait-timeout", "300ms"), ("wait", "job_1", "--timeout", "300ms"),
                         ("drain", "q", "--wait", "--wait-timeout", "300ms"), ("queues", "--timeout", "300ms")):
                with self.subTest(args):
                    self.failed(corvo.run(*args), "Error: request failed: Timeout was reached")


class Usage(CliTest):
    def setUp(self):
        self.corvo = Corvo("http://127.0.0.1:1")

    def test_misuse_says_what_is_wrong_and_how_it_is_used(self):
        for args, message, usage in (
                (("quues",), "unknown command 'quues'; did you mean 'queues'?", "corvo --help"),
                (("budget", "sett"), "did you mean 'budget set'?", "corvo"),
                (("queues", "--ouput", "json"), "did you mean --output?", "corvo queues [flags]"),
                (("pause",), "needs <queue>, got 0 arguments", "corvo pause <queue> [flags]"),
                (("pause", "a", "b"), "unexpected argument 'b'", "corvo pause <queue> [flags]"),
                (("search", "--limit", "x"), "--limit: expected a whole number", "corvo search"),
                (("search", "--state", ",,"), "flag --state requires at least one value", "corvo search"),
                (("wait", "job_1", "--state", ""), "flag --state requires at least one value", "corvo wait"),
                (("enqueue", "q", "{}", "--agent-max-iterations", "-3"), "must not be negative", "corvo enqueue"),
                (("enqueue", "q", "{}", "--max-retries", "-2"), "must be at least -1", "corvo enqueue"),
                (("enqueue", "q", "{}", "--delay", "5"), '1h, tomorrow or "tomorrow 9:00", got', "corvo enqueue"),
                (("search", "--since", "5"), '1h, yesterday or "yesterday 9:00", got', "corvo search"),
                (("--", "quues"), "unknown command 'quues'", "corvo --help"),
                (("--", "queues", "-o", "json"), "unexpected argument '-o'", "corvo queues"),
                (("seed",), "Error: corvo seed requires a command", "corvo seed <command>"),
                (("cluster", "bogus"), "unknown command 'cluster bogus'", "  cluster leave <node-id>"),
                (("budget", "sett"), "did you mean 'budget set'?", "  budget delete <scope> <target>"),
                (("budget",), "Error: corvo budget requires a command", "corvo budget <command>")):
            with self.subTest(args):
                done = self.corvo.run(*args)
                self.failed(done, message)
                self.assertIn("usage: ", done.stderr)
                self.assertIn(usage, done.stderr)

    def test_what_would_be_ignored_is_refused(self):
        for args, message in (
                (("bulk", "move", "x", "--to", "y"), "use either <queue> or --to, not both"),
                (("bulk", "retry", "--to", "z"), "bulk retry accepts no --to"),
                (("bulk", "move", "x", "--priority", "high"), "bulk move accepts no --priority"),
                (("concurrency", "q", "2147483648"), "<max> must be a whole number from 1 to 2147483647,"
                                                     " or 0 for unlimited, not '2147483648'"),
                (("drain", "q", "--wait-timeout", "1s"), "--wait-timeout requires --wait"),
                (("throttle", "q", "5/1s", "--remove"), "use either a rate or --remove, not both")):
            with self.subTest(args):
                self.failed(self.corvo.run(*args, stdin="job_1\n"), f"Error: {message}\n")

    def test_help_is_everywhere_and_ends_well(self):
        for args, part in (((), "usage: corvo <command>"), (("help",), "Queues:"),
                           (("--help",), "Queues:"), (("budget", "--help"), "budget set"),
                           (("help", "budget"), "budget set"), (("search", "-h"), "--payload-jq"),
                           (("help", "search"), "--payload-jq"),
                           (("server", "--help"), "--data-dir"),
                           (("help", "server"), "--data-dir"),
                           (("schedules", "--help"), "schedules create"),
                           (("jobs", "--help"), "jobs retry [job-id]"),
                           (("keys", "--help"), "keys create"), (("help", "org"), "org rename <name>"),
                           (("help", "queue"), "queue pause <queue>")):
            with self.subTest(args):
                self.assertIn(part, self.ok(self.corvo.run(*args)))

    def test_help_lists_no_commands_where_there_are_none(self):
        for name, listed in (("audit", False), ("events", False), ("push", True)):
            with self.subTest(name):
                self.assertEqual("\nCommands:\n" in self.ok(self.corvo.run(name, "--help")), listed)

    def test_every_command_has_help_and_a_manual_page(self):
        names = [line[2:36].split("<")[0].split("[")[0].strip()
                 for line in self.ok(self.corvo.run()).split("\nGlobal flags")[0].splitlines()
                 if line.startswith("  ")]
        self.assertGreater(len(names), 50)
        for name in names:
            with self.subTest(name):
                if name != "server":
                    self.assertIn(f"usage: corvo {name}",
                                  self.ok(self.corvo.run(*name.split(), "--help")))
                page = self.ok(self.corvo.run("man", *name.split()))
                self.assertTrue(page.startswith(".TH \"corvo\\-"))

    def test_the_environment_and_the_flag_name_the_server(self):
        done = self.corvo.run("queues", env={"CORVO_URL": "http://127.0.0.1:2"})
        self.assertIn("127.0.0.1:2", done.stderr)
        done = self.corvo.run("queues", "--server", "127.0.0.1:3/")
        self.assertIn("127.0.0.1:3", done.stderr)

    def test_bash_completes_commands_flags_and_values(self):
        script = self.ok(self.corvo.run("completion", "bash"))
        folder = os.path.dirname(binary())
        for line, wanted in (("corvo que", "queues"), ("corvo budget s", "set"),
                             ("corvo search --payload-j", "--payload-jq"),
                             ("corvo search --order d", "desc"), ("corvo bench --js", "--json"),
                             ("corvo jobs li", "list"), ("corvo queue pa", "pause"),
                             ("corvo jobs list --payload-j", "--payload-jq"),
                             ("corvo bench c", "compare"), ("corvo server --data", "--data-dir")):
            words = line.split()
            program = (f'PATH="{folder}:$PATH"\n{script}\nCOMP_WORDS=({line}); '
                       f"COMP_CWORD={len(words) - 1}; _corvo; printf '%s\\n' \"${{COMPREPLY[@]}}\"\n")
            done = subprocess.run(["bash", "-c", program], env=environment(), capture_output=True, text=True,
                                  timeout=PATIENCE_S, check=True)
            with self.subTest(line):
                self.assertEqual(done.stdout.splitlines(), [wanted], done.stderr)

    def test_completion_knows_four_shells(self):
        for shell in ("bash", "zsh", "fish", "powershell"):
            self.assertIn("corvo __complete", self.ok(self.corvo.run("completion", shell)))
        self.failed(self.corvo.run("completion", "tcsh"), "unknown shell 'tcsh'")


class Unauthorised(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--admin-password", "open sesame")
        cls.url = f"http://127.0.0.1:{cls.server.port}"

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def test_without_a_key_the_error_says_how_to_give_one(self):
        done = Corvo(self.url).run("queues")
        self.failed(done, "Error: missing API key\n")
        self.assertIn("CORVO_API_KEY", done.stderr)
        self.failed(Corvo(self.url).run("queues", "--api-key", "wrong"), "Error: invalid API key")

    def test_a_key_comes_from_the_flag_or_the_environment_and_the_flag_wins(self):
        self.ok(Corvo(self.url).run("queues", "--api-key", "open sesame"))
        self.ok(Corvo(self.url, CORVO_API_KEY="open sesame").run("queues"))
        self.failed(Corvo(self.url, CORVO_API_KEY="open sesame").run("queues", "--api-key", "x"),
                    "invalid API key")

    def test_a_key_that_no_header_can_carry_is_refused(self):
        self.failed(Corvo(self.url).run("queues", "--api-key", "a\nX-Evil: b"),
                    "--api-key contains a control character")

    def test_a_worker_that_may_not_fetch_ends(self):
        done = Corvo(self.url).run("work", "--queue", "q", "--exec", "true")
        self.failed(done, "Error: missing API key")

    def test_the_namespace_is_sent(self):
        corvo = Corvo(self.url, CORVO_API_KEY="open sesame")
        self.ok(corvo.run("enqueue", "mine", "{}", "--namespace", "acme"))
        self.assertIn("mine", self.ok(corvo.run("queues", env={"CORVO_NAMESPACE": "acme"})))
        self.assertIn("acme::mine", self.ok(corvo.run("queues")))


class Encrypted(CliTest):
    def test_a_server_is_trusted_by_its_certificate(self):
        folder = tempfile.mkdtemp(prefix="corvo-tls-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        cert, key = os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                        "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key,
                        "-out", cert], env=environment(), check=True, capture_output=True)
        with Server("--tls-cert", cert, "--tls-key", key) as server:
            corvo = Corvo(f"https://127.0.0.1:{server.port}")
            self.ok(corvo.run("queues", "--ca-file", cert), NO_QUEUES)
            self.ok(corvo.run("queues", env={"SSL_CERT_FILE": cert}), NO_QUEUES)
            self.failed(corvo.run("queues", env={"SSL_CERT_FILE": ""}),
                        "Error: request failed: SSL certificate problem: self-signed certificate")
            self.failed(corvo.run("queues", "--ca-file", key), f"the CA bundle '{key}' cannot be used")
            self.failed(corvo.run("queues", "--ca-file", "absent.pem"), "the CA bundle 'absent.pem' cannot be used")


class Interrupted(FakeTest):
    def test_signals_end_a_request_with_their_exit_code(self):
        def never(_):
            def wait():
                yield b": hello\n\n"
                release.wait(PATIENCE_S)
            return 200, wait()

        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            release = threading.Event()
            fake, corvo = self.serve({"GET /queues": never})
            with self.subTest(number), corvo.start("queues") as running:
                while not fake.asked("GET /queues"):
                    self.assertIsNone(running.process.poll())
                running.signal(number)
                self.assertEqual(running.wait(), code)
                self.assertTrue(running.errors.empty())
            release.set()

    def test_signals_end_what_asks_no_server(self):
        with tempfile.TemporaryDirectory() as folder:
            fifo = os.path.join(folder, "fifo")
            os.mkfifo(fifo)
            for number in (signal.SIGINT, signal.SIGTERM):
                with self.subTest(number), Corvo("").start("bench", "compare", fifo, fifo) as running:
                    with open(fifo, "wb"):  # the program has opened its end and is reading
                        running.signal(number)
                        self.assertEqual(running.wait(), -number)

    def test_a_timeout_ends_a_request(self):
        def slow(_):
            def wait():
                yield b" "
                release.wait(PATIENCE_S)
            return 200, wait()

        release = threading.Event()
        _, corvo = self.serve({"GET /queues": slow})
        self.failed(corvo.run("queues", "--timeout", "50ms"), "Error: request failed: ")
        release.set()

    def test_closed_standard_descriptors_are_failures_and_not_other_files(self):
        _, corvo = self.serve({"GET /queues": []})
        for command, message in (("bulk retry <&-", "Error: cannot read standard input\n"),
                                 ("queues >&-", "Error: the output could not be written\n"),
                                 ("queues 2>&-", "")):
            with self.subTest(command):
                done = subprocess.run(["sh", "-c", f'exec "$0" {command}', binary()],
                                      env=environment(corvo.env), stderr=subprocess.PIPE,
                                      stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                                      timeout=PATIENCE_S, check=False)
                self.assertEqual((done.returncode, done.stderr), (1 if message else 0, message))

    def test_what_is_too_long_for_a_server_is_sent_all_the_same(self):
        """The server decides whether to refuse it. Without the filter it would be a different request."""
        long = "x" * 65500
        fake, corvo = self.serve({"GET /queues": [], "GET /events": (400, {"error": "asked"})})
        self.ok(corvo.run("queues", "--namespace", long), NO_QUEUES)
        self.assertEqual(fake.requests[0].headers["x-corvo-namespace"], long)
        self.failed(corvo.run("events", "--queues", long, "--queues", long), "Too Long")
        self.failed(corvo.run("help", long), "unknown command")

    def test_an_error_that_is_not_the_standard_object_is_shown_raw(self):
        _, corvo = self.serve({"GET /queues": (502, b"<html>bad gateway</html>")})
        self.failed(corvo.run("queues"), "Error: <html>bad gateway</html>\n")
        _, corvo = self.serve({"GET /queues": (301, b"")})
        self.failed(corvo.run("queues"), "Error: the server returned status 301, a redirect: set --server to the URL that it redirects to\n")
        _, corvo = self.serve({"GET /queues": (500, b"")})
        self.failed(corvo.run("queues"), "Error: the server returned status 500\n")

    def test_a_redirect_ends_what_would_try_again(self):
        _, corvo = self.serve({"GET /events": (302, b""), "POST /fetch/batch": (302, b""), "GET /admin/backup": (302, b"")})
        for args in (("events",), ("work", "--queue", "q", "--exec", "true", "--protocol", "http"),
                     ("backup", "create", "-")):
            with self.subTest(args):
                self.failed(corvo.run(*args), "Error: the server returned status 302, a redirect")

    def test_a_peer_that_speaks_another_protocol_is_named_as_such(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            def answer():
                connection = listener.accept()[0]
                connection.recv(65536)
                connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
                connection.close()
            thread = threading.Thread(target=answer)
            thread.start()
            done = Corvo(f"http://127.0.0.1:{listener.getsockname()[1]}").run("queues")
            thread.join()
        self.failed(done, "Error: request failed: the response is not HTTP; check the port, and whether it needs https (")

    def test_an_answer_of_another_kind_of_server_is_a_failure(self):
        page = b"<!doctype html><title>hello</title>"
        _, corvo = self.serve({"POST /enqueue": page, "POST /queues/q/pause": page,
                               "DELETE /jobs/job_1": b"", "GET /queues": page})
        for args in (("enqueue", "q", "{}"), ("pause", "q"), ("delete", "job_1"), ("queues",),
                     ("queues", "--output", "json"), ("seed", "demo", "--count", "1")):
            with self.subTest(args):
                self.failed(corvo.run(*args), "Error: request failed: the response is not JSON (http:")
        _, corvo = self.serve({"GET /queues": b'[{"name":"a","pending":1},{"na'})
        for args in (("queues",), ("queues", "-o", "json")):
            self.failed(corvo.run(*args), "Error: request failed: the response is not JSON (http:")
        _, corvo = self.serve({"POST /enqueue": {}, "POST /auth/keys": {}})
        self.failed(corvo.run("enqueue", "q", "{}"), "Error: request failed: the response has no job id")
        self.failed(corvo.run("keys", "create", "--name", "x"), "Error: request failed: the response has no api_key")

    def test_nonsense_in_an_answer_does_no_harm(self):
        for body in (b"", b"null", b"[1,2,3]", b'{"jobs":7}', b"[[[", b"\xff\xfe"):
            _, corvo = self.serve({"GET /queues": body, "POST /jobs/search": body,
                                   "GET /cluster/status": body, "GET /workers": body})
            for args in (("queues",), ("search",), ("status",), ("workers",), ("held",),
                         ("queues", "--output", "json"), ("search", "--output", "table")):
                with self.subTest((body, args)):
                    self.assertIn(corvo.run(*args).returncode, (0, 1))


class BrokenPipe(FakeTest):
    def test_a_reader_that_goes_away_ends_it_silently(self):
        jobs = [{"id": f"job_{i}", "payload": "x" * 100} for i in range(20000)]
        _, corvo = self.serve({"POST /jobs/search": {"jobs": jobs, "total": len(jobs)}})
        with subprocess.Popen([binary(), "search"], env=environment(corvo.env),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdout.read(10)
            process.stdout.close()
            self.assertEqual(process.stderr.read(), b"")
            self.assertEqual(process.wait(PATIENCE_S), -signal.SIGPIPE)

    def test_a_follower_ends_when_its_reader_does(self):
        def stream(_):
            def events():
                number = 0
                while True:
                    number += 1
                    yield frame({"seq": number, "type": "enqueued"}, "enqueued", number)
            return 200, events()

        _, corvo = self.serve({"GET /events": stream})
        with subprocess.Popen([binary(), "events"], env=environment(corvo.env),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdout.readline()
            process.stdout.close()
            self.assertEqual(process.wait(PATIENCE_S), -signal.SIGPIPE)
            self.assertEqual(process.stderr.read(), b"")

    @unittest.skipUnless(os.path.exists("/dev/full"), "needs a device that is full")
    def test_a_full_disk_is_a_failure(self):
        _, corvo = self.serve({"GET /queues": []})
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([binary(), "queues"], env=environment(corvo.env), stdout=full,
                                  stderr=subprocess.PIPE, text=True, timeout=PATIENCE_S,
                                  check=False)
        self.assertEqual((done.returncode, done.stderr),
                         (1, "Error: the output could not be written\n"))


class Namespaced(LiveTest):
    def test_log_level_debug_shows_requests_on_standard_error(self):
        done = self.corvo.run("queues", "--log-level", "debug")
        self.assertEqual(done.returncode, 0)
        self.assertIn('"msg":"request"', done.stderr)
        self.assertEqual(self.corvo.run("queues", "--log-level", "nonsense").stderr, "")
