"""Differences on a terminal: tables, colors, relative times, questions, Ctrl-C."""
import datetime
import os
import unittest
import unittest.mock

from cli_harness import FakeTest, LiveTest, Terminal, environment

RED, RESET = "\x1b[31m", "\x1b[0m"


def job(state, **more):
    hours_ago = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=2, minutes=1)
    return {"id": "job_1", "queue": "q", "state": state, "payload": {}, "priority": 2, "attempt": 1,
            "created_at": hours_ago.strftime("%Y-%m-%dT%H:%M:%SZ"), **more}


class Output(FakeTest):
    def shown(self, corvo, *args, **options):
        with Terminal(corvo, *args, **options) as terminal:
            text, code = terminal.finish()
        self.assertEqual(code, 0, text)
        return text

    def test_search_is_a_table_with_colours_and_relative_times(self):
        found = {"jobs": [job("dead")], "total": 1, "has_more": False, "duration_ms": 2}
        _, corvo = self.serve({"POST /jobs/search": found})
        text = self.shown(corvo, "search")
        self.assertIn(f"{RED}dead{RESET}", text)
        self.assertIn("2h ago", text)
        self.assertTrue(text.endswith("1 results (2ms)\n"))

    def test_no_color_is_obeyed_and_an_empty_one_is_none(self):
        found = {"jobs": [job("dead")], "total": 1, "has_more": False, "duration_ms": 2}
        _, corvo = self.serve({"POST /jobs/search": found})
        self.assertNotIn("\x1b", self.shown(corvo, "search", env={"NO_COLOR": "1"}))
        self.assertIn(RED, self.shown(corvo, "search", env={"NO_COLOR": ""}))
        self.assertNotIn("\x1b", self.ok(corvo.run("search", "--output", "table")))

    def test_what_a_job_says_cannot_move_the_cursor(self):
        evil = "evil\x1b[2J\x07\u009b"
        _, corvo = self.serve({
            "GET /queues": [{"name": evil, "pending": 1, "paused": False}],
            "GET /jobs/j/iterations": {"iterations": [{"iteration": 1, "status": "held", "hold_reason": evil}]},
            "GET /usage/summary": {"period": "24h", "groups": [{"key": evil}]},
            "GET /cluster/status": {"mode": evil}})
        for args in (("queues",), ("iterations", "j"), ("usage",), ("cluster", "status")):
            with self.subTest(args):
                text = self.shown(corvo, *args, env={"NO_COLOR": "1"})
                self.assertIn("evil?[2J??", text)
                self.assertEqual([c for c in "\x1b\x07\u009b" if c in text], [])

    def heads(self, corvo, columns, *args):
        lines = self.shown(corvo, *args, env={"NO_COLOR": "1"}, columns=columns).splitlines()
        self.assertLessEqual(max(map(len, lines)), columns)
        return lines[0].split("  ")

    def test_a_table_has_as_much_as_fits(self):
        queue = {"name": "emails.send", "pending": 1, "active": 0, "held": 0, "completed": 2, "dead": 3,
                 "paused": False, "scheduled": 4, "retrying": 5}
        schedule = {"id": "sched_01m7mma14d000000001r000000", "name": "daily", "queue": "emails.send",
                    "cron": "0 9 * * *", "timezone": "UTC", "next_run": "2026-01-01T00:00:00Z"}
        _, corvo = self.serve({"GET /queues": [queue], "GET /schedules": [schedule]})
        self.assertEqual(self.heads(corvo, 80, "queues")[-2:], ["SCHEDULED", "RETRYING"])
        self.assertEqual(self.heads(corvo, 70, "queues")[-1], "PAUSED")
        self.assertEqual(self.heads(corvo, 80, "schedules")[-1].strip(), "ID")
        self.assertNotIn("SCHEDULED", self.ok(corvo.run("queues")))

    def test_history_leaves_out_steps_without_activity(self):
        def point(minute, **counts):
            names = ("enqueued", "started", "completed", "failed", "dead", "cancelled", "expired", "depth")
            times = {"count": 0, "p50_ms": 0, "p99_ms": 0}
            return {"at": f"2026-11-17T10:{minute}:00Z", **dict.fromkeys(names, 0), "wait": times, "run": times, **counts}

        points = [point("29"), point("30", enqueued=7, depth=7), point("31", depth=7)]
        _, corvo = self.serve({"GET /history": {"points": points}})
        text = self.shown(corvo, "history", env={"NO_COLOR": "1"}, columns=80)
        self.assertEqual([line[:17] for line in text.splitlines()[1:]], ["2026-11-17 10:30Z"])
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        self.assertEqual(len(self.ok(corvo.run("history")).splitlines()), 4)
        _, corvo = self.serve({"GET /history": {"points": points[:1]}})
        self.assertEqual(self.shown(corvo, "history"), "No activity in this range\n")

    def test_workers_are_healthy_stale_or_offline(self):
        def beat(seconds):
            at = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=seconds)
            return at.strftime("%Y-%m-%dT%H:%M:%SZ")

        workers = [{"id": f"w{age}", "queues": "[]", "last_heartbeat": beat(age)}
                   for age in (0, 120, 3600)]
        _, corvo = self.serve({"GET /workers": workers + [{"id": "wx"}]})
        rows = [line.split() for line in self.ok(corvo.run("workers")).splitlines()[1:]]
        self.assertEqual([(r[0], r[3]) for r in rows],
                         [("w0", "healthy"), ("w120", "stale"), ("w3600", "offline"),
                          ("wx", "unknown")])
        self.assertIn(f"{RED}offline{RESET}", self.shown(corvo, "workers"))

    def test_json_is_json_on_a_terminal_too(self):
        _, corvo = self.serve({"GET /queues": []})
        self.assertEqual(self.shown(corvo, "queues", "--output", "json"), "[]\n")

    def test_an_error_goes_to_the_terminal_and_the_code_says_so(self):
        _, corvo = self.serve({})
        with Terminal(corvo, "queues") as terminal:
            text, code = terminal.finish()
        self.assertEqual((text, code), ("Error: no route GET /queues\n", 1))


class Questions(LiveTest):
    def ask(self, answer, *args):
        with Terminal(self.corvo, *args) as terminal:
            terminal.expect("[y/N] ")
            terminal.type(answer)
            return terminal.finish()

    def test_clear_asks_and_takes_no_for_an_answer(self):
        for answer in ("n\n", "\n", "what\n", "\x04"):
            self.enqueue()
            text, code = self.ask(answer, "clear", self.queue)
            self.assertEqual(code, 1)
            self.assertIn(f"Delete all pending and scheduled jobs of queue {self.queue}?", text)
            self.assertIn("Nothing was changed.", text)
        self.assertEqual(self.api.queue(self.queue)["pending"], 4)

    def test_clear_asks_and_takes_yes_for_an_answer(self):
        self.enqueue()
        text, code = self.ask("y\n", "clear", self.queue)
        self.assertEqual(code, 0)
        self.assertTrue(text.endswith(f"Queue {self.queue} cleared\n"))
        self.assertEqual(self.api.queue(self.queue)["pending"], 0)

    def test_yes_is_not_asked(self):
        self.enqueue()
        with Terminal(self.corvo, "clear", self.queue, "-y") as terminal:
            text, code = terminal.finish()
        self.assertEqual((text, code), (f"Queue {self.queue} cleared\n", 0))

    def test_ctrl_c_at_the_question_does_nothing(self):
        self.enqueue()
        with Terminal(self.corvo, "clear", self.queue) as terminal:
            terminal.expect("[y/N] ")
            os.killpg(terminal.process.pid, 2)
            self.assertEqual(terminal.finish()[1], 130)
        self.assertEqual(self.api.queue(self.queue)["pending"], 1)


class Inherited(unittest.TestCase):
    def test_a_child_gets_nothing_that_no_test_named(self):
        hostile = {"LC_ALL": "C", "LC_CTYPE": "C.UTF-8", "NO_COLOR": "1", "TMUX": "x", "CORVO_URL": "x",
                   "http_proxy": "http://127.0.0.1:1", "COLUMNS": "10"}
        plain = environment({"TERM": "xterm"})
        with unittest.mock.patch.dict(os.environ, hostile):
            self.assertEqual(environment({"TERM": "xterm"}), plain)
        self.assertEqual(plain["TERM"], "xterm")
        self.assertFalse(set(hostile) & set(plain))
