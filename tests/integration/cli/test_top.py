"""corvo top on a terminal. tmux is the terminal, and returns what a person would see."""
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading

from cli_harness import (PATIENCE_S, Corvo, FakeTest, LiveTest, Server, Terminal, binary, environment,
                         frame, json, unique)
from harness import wait_until

COLOUR = re.compile(r"\x1b\[(?:[\d;]*;)?[34][0-7](?:;[\d;]*)?m")  # SGR sequences, except for the default colors


class Screen:
    """corvo top in a terminal of a given size. After it has ended, the screen shows its exit status."""

    def __init__(self, corvo, *args, size=(80, 24), env=None):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="corvo-top-"))
        (self.folder / "conf").write_text("set -g status off\nset -sg escape-time 0\n")
        settings = {**corvo.env, **(env or {})}
        words = [f"{k}={v}" for k, v in settings.items()]
        run = shlex.join(["env", *words, binary(), "top", "--interval", "200ms", *args])
        inner = shlex.quote(f"echo $$ > {self.folder}/pid; exec {run}")
        script = f"trap : INT TERM; sh -c {inner}; echo ended with $?; stty -a; exec cat"
        self.env = environment()
        self._tmux("-f", str(self.folder / "conf"), "new-session", "-d", "-x", str(size[0]), "-y",
                   str(size[1]), "sh", "-c", script)

    def _tmux(self, *args):
        done = subprocess.run(["tmux", "-u", "-S", str(self.folder / "socket"), *args], env=self.env,
                              capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        if done.returncode != 0:
            raise AssertionError(f"tmux {args}: {done.stderr}")
        return done.stdout

    def text(self, *flags):
        return self._tmux("capture-pane", "-p", *flags)

    def lines(self):
        return self.text().split("\n")

    def keys(self, *keys):
        self._tmux("send-keys", *keys)

    def type(self, text):
        self._tmux("send-keys", "-l", text)

    def resize(self, width, height):
        self._tmux("resize-window", "-x", str(width), "-y", str(height))

    def signal(self, number):
        os.kill(int((self.folder / "pid").read_text()), number)

    def expect(self, *parts, without=()):
        """Wait until the screen shows all of the parts and none of `without`."""
        shown = ""

        def is_there():
            nonlocal shown
            shown = self.text()
            return all(p in shown for p in parts) and not any(p in shown for p in without)
        try:
            wait_until(is_there)
        except AssertionError:
            raise AssertionError(f"not {parts} without {without}:\n{shown}") from None
        return shown

    def expect_ended(self, code):
        """Wait until the program has ended with this exit status and the terminal has echo and line input again."""
        shown = self.expect(f"ended with {code}", "icanon")
        for mode in (" echo ", " icanon "):
            assert mode in " ".join(shown.split()), shown
        return shown

    def row(self, name):
        """Return the line of a queue as words, or [] if the queue is not shown."""
        for line in self.lines():
            words = line.lstrip(">").split()
            if words and words[0] == name:
                return words
        return []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["tmux", "-S", str(self.folder / "socket"), "kill-server"], env=self.env,
                       capture_output=True, timeout=PATIENCE_S, check=False)
        shutil.rmtree(self.folder, ignore_errors=True)


class Sizes(LiveTest):
    """Shows the data of seed demo on screens of different sizes."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.corvo.run("seed", "demo")

    def test_all_parts_fit_on_a_small_screen(self):
        with Screen(self.corvo) as screen:
            shown = screen.expect("corvo top", "agents.research", "seed-worker", "seed failure", "writes 0/s",
                                  "q quit  ? help  s sort: name")
        lines = shown.rstrip("\n").split("\n")
        self.assertEqual(len(lines), 24)
        self.assertIn("healthy  cluster Leader", lines[0])
        self.assertRegex(lines[1], r"^pending \d+  active 1  retry 1  sched \d+ .* dead 6  done \d+$")
        for line, flow in zip(lines[2:5], ("in", "done", "failed")):
            self.assertRegex(line, rf"^{flow} +\d+/min [▁▂▃▄▅▆▇█]{{60}}$")
        self.assertRegex(lines[5], r"^writes 0/s  waiting \d+ of \S+  wait p99 \S+  flush\+apply p50 \S+ p99 \S+$")
        self.assertRegex(shown, r"imports\.legacy +paused +1 ")
        self.assertRegex(shown, r"dead +emails\.send +attempt 1  seed failure 6")

    def test_a_large_screen_has_workers_beside_the_queues_and_more_columns(self):
        with Screen(self.corvo, size=(200, 50)) as screen:
            shown = screen.expect("agents.research", "seed-worker", "seed failure 1", "writes 0/s")
        head = next(line for line in shown.split("\n") if "QUEUES 7" in line)
        for word in ("SCHED", "HELD", "DONE", "FAILS", "IN/MIN", "OUT, LATELY", "WORKERS 1"):
            self.assertIn(word, head)
        self.assertRegex(shown, r"dead +emails\.send +job_\w{26} attempt 1  seed failure 1\n")
        self.assertRegex(shown, r"flushes \d+/s  refused 0  fetches waiting 0")

    def test_it_follows_the_size_of_the_terminal(self):
        with Screen(self.corvo) as screen:
            screen.expect("WORKERS 1", without=["OUT, LATELY"])
            screen.resize(200, 50)
            screen.expect("OUT, LATELY", "flushes")
            screen.resize(40, 10)
            screen.expect("QUEUES 7", "agents.resea", without=["WORKERS", "LAST FAILURES"])
            screen.resize(5, 2)
            screen.resize(80, 24)
            screen.expect("WORKERS 1", "LAST FAILURES", without=["OUT, LATELY"])

    def test_colours_are_for_terminals_that_have_them(self):
        rows = (("screen", {}, True, "▁"), ("screen", {"NO_COLOR": "1"}, False, "▁"),
                ("vt100", {}, False, "_____"))
        for term, extra, coloured, lowest in rows:
            with self.subTest(term=term, extra=extra), \
                    Screen(self.corvo, env={"TERM": term, **extra}) as screen:
                shown = screen.expect("seed failure", "imports.legacy", lowest)
                self.assertEqual(bool(COLOUR.search(screen.text("-e"))), coloured)
                self.assertEqual(shown.isascii(), term == "vt100")

    def test_plain_characters_where_the_locale_has_no_others_or_by_wish(self):
        for args, env in (((), {"LANG": "C", "LC_ALL": "C"}), (("--ascii",), {})):
            with self.subTest(args=args), Screen(self.corvo, *args, env=env) as screen:
                self.assertTrue(screen.expect("seed failure", "_____").isascii())

    def test_a_terminal_that_cannot_be_drawn_on_is_an_error(self):
        with Screen(self.corvo, env={"TERM": "nothing-like-this"}) as screen:
            screen.expect("cannot draw on this terminal", "ended with 1")


class Keys(LiveTest):
    def setUp(self):
        self.queue = unique("top")  # short enough for the column

    def screen(self, *args, **options):
        return Screen(self.corvo, "--queue", self.queue, *args, **options)

    def fill(self, **counts):
        """Create queues with the given numbers of pending jobs. Return their names."""
        names = {key: f"{self.queue}.{key}" for key in counts}
        for key, count in counts.items():
            for _ in range(count):
                self.api.enqueue(names[key])
        return names

    def order(self, screen, names):
        return sorted(names, key=lambda key: next(
            (i for i, line in enumerate(screen.lines()) if names[key] in line), 99))

    def test_s_sorts_by_the_next_column(self):
        names = self.fill(a=1, b=3, c=2)
        with self.screen() as screen:
            screen.expect("s sort: name", *names.values())
            self.assertEqual(self.order(screen, names), ["a", "b", "c"])
            screen.keys("s")
            screen.expect("s sort: pending", "*PENDING")
            self.assertEqual(self.order(screen, names), ["b", "c", "a"])
            screen.keys("s", "s", "s", "s")
            screen.expect("s sort: name")

    def test_the_selection_stays_with_its_queue_and_moves(self):
        names = self.fill(a=1, b=3, c=2)
        with self.screen() as screen:
            screen.expect(f">{names['a']}")
            screen.keys("s")
            screen.expect("*PENDING", f">{names['a']}")
            screen.keys("Up")
            screen.expect(f">{names['c']}")
            screen.keys("Home")
            screen.expect(f">{names['b']}")
            screen.keys("j")
            screen.expect(f">{names['c']}")

    def test_a_filter_is_typed_and_taken_back(self):
        names = self.fill(north=1, south=1)
        with Screen(self.corvo) as screen:
            screen.expect(names["north"], names["south"])
            screen.keys("/")
            screen.expect("Queues with: _")
            screen.type(names["south"].upper() + "x")
            screen.expect("no queue name contains this text")
            screen.keys("BSpace", "Enter")
            screen.expect(f">{names['south']}", without=[names["north"]])
            screen.keys("Escape")
            screen.expect(names["north"], names["south"])

    def test_pausing_asks_first_and_is_seen_by_the_server(self):
        self.fill(a=1)
        name = f"{self.queue}.a"
        with self.screen() as screen:
            screen.expect(f">{name}")
            screen.keys("P")
            screen.expect(f"Pause queue {name}? [y/N]")
            screen.keys("n")
            screen.expect("q quit")
            self.assertFalse(self.api.queue(name)["paused"])
            screen.keys("P", "y")
            screen.expect(f"{name} is paused")
            self.assertTrue(self.api.queue(name)["paused"])
            wait_until(lambda: screen.row(name)[1:2] == ["paused"])
            screen.keys("P")
            screen.expect(f"Resume queue {name}? [y/N]")
            screen.keys("y")
            screen.expect(f"{name} is resumed")
            self.assertFalse(self.api.queue(name)["paused"])

    def test_a_queue_and_a_job_are_shown_whole(self):
        self.fill(a=1)
        job = self.enqueue(payload=json.dumps({"lines": list(range(40))}))
        with self.screen() as screen:
            screen.expect(f">{self.queue}")
            screen.keys("Enter")
            screen.expect(f"queue {self.queue}", '"pending": 1', '"created_at"')
            screen.keys("q")
            screen.expect("q quit")
            screen.keys("i")
            screen.expect("Job: _")
            screen.type(job)
            screen.keys("Enter")
            screen.expect(f"job {job}", '"state": "pending"', "down: more")
            screen.keys("End")
            screen.expect("}", "q: back", without=["down: more", '"state"'])
            screen.keys("Escape", "i")
            screen.type("job_none")
            screen.keys("Enter")
            screen.expect("not found")

    def test_help_lists_the_keys_and_goes_away(self):
        with self.screen() as screen:
            screen.expect("q quit")
            screen.keys("?")
            screen.expect("P          pause or resume", "q, Ctrl-C  quit")
            screen.keys("q")
            screen.expect("q quit", without=["Ctrl-C"])

    def test_a_failure_is_shown_when_it_happens_and_leads_to_its_job(self):
        with self.screen() as screen:
            screen.expect("LAST FAILURES")
            job = self.enqueue("--max-retries", "0")
            self.api.fetch(self.queue)
            self.api.fail(job, "no\x1b[31m paper")
            screen.expect("no?[31m paper")
            screen.keys("Tab", "Enter")
            screen.expect(f"job {job}", '"state": "dead"')
            screen.keys("q")
            screen.expect("> ", "dead")

    def test_rates_come_from_what_changes(self):
        self.fill(a=1)
        with self.screen() as screen:
            wait_until(lambda: screen.row(f"{self.queue}.a")[5:7] == ["0", "0"])
            self.fill(a=20)
            wait_until(lambda: screen.row(f"{self.queue}.a")[5:6] not in (["0"], ["-"], []))
            wait_until(lambda: screen.row(f"{self.queue}.a")[1:2] == ["21"])


class Endings(LiveTest):
    def test_q_and_signals_give_the_terminal_back(self):
        rows = (("q", lambda s: s.keys("q"), 0), ("Ctrl-C", lambda s: s.keys("C-c"), 130),
                ("SIGTERM", lambda s: s.signal(signal.SIGTERM), 143))
        for name, end, code in rows:
            with self.subTest(name=name), Screen(self.corvo) as screen:
                screen.expect("QUEUES", "q quit", "Leader")
                end(screen)
                self.assertNotIn("QUEUES", screen.expect_ended(code))

    def test_a_terminal_that_goes_away_ends_it(self):
        with Terminal(self.corvo, "top") as terminal:
            terminal.expect("QUEUES")
            os.close(terminal.master)
            terminal.master = None
            self.assertEqual(terminal.process.wait(PATIENCE_S), 1)


class Restart(LiveTest):
    def test_it_says_that_the_server_is_away_and_goes_on_when_it_is_back(self):
        folder = tempfile.mkdtemp(prefix="corvo-top-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        first = Server(*self.settings, data_dir=folder)
        corvo, api = Corvo(f"http://127.0.0.1:{first.port}"), first.client()
        queue = unique("away")
        with Screen(corvo) as screen:
            try:
                api.enqueue(queue)
                screen.expect(queue, "Leader", without=["NO ANSWER"])
            finally:
                first.stop()
            # What was shown before stays on the screen.
            screen.expect("NO ANSWER for", "trying again", queue)
            second = Server(*self.settings, "--bind", f"127.0.0.1:{first.port}", data_dir=folder)
            try:
                screen.expect("q quit", without=["NO ANSWER"])
                api = second.client()
                api.fail(api.fetch(queue)["job_id"], "after the restart")
                screen.expect("after the restart")
                screen.keys("q")
                screen.expect_ended(0)
            finally:
                second.stop()

    def test_it_may_begin_before_the_server(self):
        with Screen(Corvo("http://127.0.0.1:1")) as screen:
            screen.expect("NO ANSWER for", "no answer yet", "trying again")
            screen.keys("q")
            screen.expect_ended(0)


def documents(**more):
    return {"GET /queues": [], "GET /workers": [], "GET /cluster/status": {"status": "healthy"},
            "GET /metrics/throughput": [], "GET /events": (404, {"error": "no log here"}), **more}


class Answers(FakeTest):
    """Responses that a Corvo server would not send."""

    def test_what_is_refused_is_shown_and_asked_again(self):
        steps = iter([(401, {"error": "a key is needed"})])
        _, corvo = self.serve(documents(**{"GET /queues": lambda r: next(steps, [])}))
        with Screen(corvo) as screen:
            screen.expect("no queues", "no log here", without=["a key is needed"])
        _, corvo = self.serve(documents(**{"GET /queues": (401, {"error": "a key is needed"})}))
        with Screen(corvo) as screen:
            screen.expect("a key is needed; trying again", "REFUSED for")

    def test_a_queue_that_may_not_be_paused_is_said_so(self):
        _, corvo = self.serve(documents(**{"GET /queues": [{"name": "q"}],
                                           "POST /queues/q/pause": (403, {"error": "not yours"})}))
        with Screen(corvo) as screen:
            screen.expect(">q")
            screen.keys("P", "y")
            screen.expect("Not paused: not yours")

    def test_nonsense_is_nothing(self):
        for nonsense in (b"", b"<html>", b"[[[", b"[1,{\"name\":7}]", b"{\"nodes\":7,\"status\":[]}"):
            _, corvo = self.serve(documents(**{key: nonsense for key in documents() if "events" not in key}))
            with self.subTest(nonsense=nonsense), Screen(corvo) as screen:
                screen.expect("QUEUES")
                screen.keys("q")
                screen.expect_ended(0)

    def test_the_event_stream_has_no_limit_of_time(self):
        over = threading.Event()
        self.addCleanup(over.set)

        def events(_):
            def pieces():
                yield b": hello\n\n"
                over.wait(PATIENCE_S)
            return pieces()
        fake, corvo = self.serve(documents(**{"GET /events": events}))
        with Screen(corvo, "--timeout", "300ms") as screen:
            screen.expect("no queues")
            wait_until(lambda: len(fake.asked("GET /queues")) >= 8)
            self.assertEqual(len(fake.asked("GET /events")), 1)

    def test_frozen_asks_nothing(self):
        fake, corvo = self.serve(documents())
        with Screen(corvo) as screen:
            screen.expect("no queues")
            screen.keys("p")
            screen.expect("FROZEN")
            wait_until(lambda: len(fake.asked("GET /queues")) == len(fake.asked("GET /metrics/throughput")))
            asked = len(fake.asked("GET /queues"))
            for _ in range(5):
                screen.keys("?")
                screen.expect("Ctrl-C")
                screen.keys("?")
                screen.expect("q quit", without=["Ctrl-C"])
            self.assertEqual(len(fake.asked("GET /queues")), asked)
            screen.keys("p")
            wait_until(lambda: len(fake.asked("GET /queues")) > asked)

    def test_the_event_stream_goes_on_behind_the_last_event(self):
        def events(request):
            number = int(request.query.get("last_event_id", 0)) + 1
            return iter([frame({"seq": number, "type": "failed", "job_id": f"j{number}", "queue": "q",
                                "at_ns": 1, "data": {"attempt": 1, "error": f"error {number}"}},
                               "failed", number)])
        fake, corvo = self.serve(documents(**{"GET /events": events}))
        with Screen(corvo) as screen:
            screen.expect("error 1")
            screen.expect("error 3")
        first, second = fake.asked("GET /events")[:2]
        self.assertEqual((first.query["types"], second.query["last_event_id"]), ("failed,dead", "1"))
        self.assertNotIn("last_event_id", first.query)


class Once(LiveTest):
    def test_without_a_terminal_it_is_printed_once(self):
        self.enqueue()
        text = self.ok(self.corvo.run("top", env={"LANG": "C"}))
        self.assertRegex(text, rf"\n {re.escape(self.queue)[:8]}")
        self.assertIn("\n LAST FAILURES\n", text)
        self.assertTrue(text.isascii())
        self.assertFalse(self.ok(self.corvo.run("top", env={"LANG": "C", "LC_CTYPE": "C.UTF-8"})).isascii())
        self.assertIn("\n LAST FAILURES\n", self.ok(self.corvo.run("top", "--once")))

    def test_json_is_the_servers_documents(self):
        self.enqueue()
        told = json.loads(self.ok(self.corvo.run("top", "--once", "--output", "json")))
        self.assertEqual(sorted(told), ["cluster", "queues", "recent_dead", "throughput", "workers"])
        self.assertIn(self.queue, [q["name"] for q in told["queues"]])
        self.assertEqual(len(told["throughput"]), 60)
        self.assertIsInstance(told["recent_dead"], list)

    def test_what_makes_no_sense_is_refused(self):
        for interval in ("1ms", "0s", "25h"):
            self.failed(self.corvo.run("top", "--interval", interval), "--interval must be between 100ms and 24h")
        self.failed(Corvo("http://127.0.0.1:1").run("top"), "request failed")


class OnceOfFake(FakeTest):
    def test_the_newest_dead_jobs_are_asked_for(self):
        dead = {"id": "job_1", "queue": "q", "attempt": 3, "failed_at": "2026-01-01T00:00:00Z",
                "last_error": "last"}
        fake, corvo = self.serve(documents(**{"POST /jobs/search": {"jobs": [dead], "total": 1}}))
        text = self.ok(corvo.run("top"))
        self.assertRegex(text, r"\d+d dead   q  .* attempt 3  last\n$")
        asked = fake.asked("POST /jobs/search")[0].json
        self.assertEqual(asked, {"state": ["dead"], "sort": "failed_at", "order": "desc", "limit": 5})
        told = json.loads(self.ok(corvo.run("top", "--output", "json")))
        self.assertEqual(told["recent_dead"], [dead])

    def test_a_server_without_a_search_shows_the_rest(self):
        _, corvo = self.serve(documents())
        self.assertTrue(self.ok(corvo.run("top")).endswith(" LAST FAILURES\n the server has no search index\n"))
        self.assertEqual(json.loads(self.ok(corvo.run("top", "--output", "json")))["recent_dead"], [])
