"""Schedules (contract 13): records, cron expressions, firing."""
import unittest
from datetime import datetime, timedelta, timezone

from harness import ApiTest, in_threads, unique, wait_until


def now():
    return datetime.now(timezone.utc)


def stamp(moment):
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def fraction(time):
    """Return the fraction of a time's second."""
    return time.rstrip("Z").partition(".")[2]


class ScheduleTest(ApiTest):
    def create(self, **fields):
        body = {"name": unique("schedule"), "queue": self.queue, "cron": "0 0 1 1 *", **fields}
        return self.api.post("/api/v1/schedules", body)

    def made(self, **fields):
        return self.api.must(self.create(**fields), 201)

    def record(self, key):
        return self.api.must(self.api.get(f"/api/v1/schedules/{key}"))

    def change(self, key, **fields):
        return self.api.put(f"/api/v1/schedules/{key}", fields)

    def delete(self, key):
        return self.api.delete(f"/api/v1/schedules/{key}")


class Records(ScheduleTest):
    def test_a_minimal_one_has_the_defaults(self):
        """13.1: the record."""
        record = self.made(name="minimal")
        self.assert_id(record["id"], "sched_")
        self.assert_time(record["created_at"])
        year = now().year + 1
        self.assertEqual(record["next_run"], f"{year}-01-01T00:00:00Z")
        for field in ("id", "created_at", "next_run", "updated_at"):
            record.pop(field, None)
        self.assertEqual(record, {"name": "minimal", "queue": self.queue, "cron": "0 0 1 1 *",
                                  "timezone": "UTC", "payload": {}, "max_retries": 3,
                                  "enabled": True})

    def test_an_empty_time_zone_is_none(self):
        """2.3, 13.1: clients in some languages send unset fields as empty texts."""
        record = self.api.must(self.api.post("/api/v1/schedules", {
            "name": unique("zone"), "queue": self.queue, "cron": "@daily", "timezone": ""}), 201)
        self.assertEqual(record["timezone"], "UTC")
        path = f"/api/v1/schedules/{record['id']}"
        self.api.must(self.api.put(path, {"timezone": "Europe/Lisbon"}))
        changed = self.api.must(self.api.put(path, {"timezone": "", "queue": self.queue + ".b"}))
        self.assertEqual((changed["timezone"], changed["queue"]),
                         ("Europe/Lisbon", self.queue + ".b"))

    def test_every_field_is_kept(self):
        record = self.made(timezone="America/New_York", payload={"b": 1, "a": 2}, unique_key="u",
                           max_retries=0, priority="high", tags={"k": "v"}, enabled=False)
        self.assertEqual((record["timezone"], record["payload"], record["unique_key"],
                          record["max_retries"], record["priority"], record["tags"],
                          record["enabled"]),
                         ("America/New_York", {"b": 1, "a": 2}, "u", 0, 1, {"k": "v"}, False))
        self.assertNotIn("next_run", record)
        self.assertEqual(self.record(record["id"]), record)
        self.assertEqual(self.record(record["name"]), record)

    def test_are_listed_by_name(self):
        """13.2: array by name."""
        for name in ("list.c", "list.a", "list.b"):
            self.made(name=name)
        names = [s["name"] for s in self.api.must(self.api.get("/api/v1/schedules"))]
        self.assertEqual(names, sorted(names))
        self.assertLessEqual({"list.a", "list.b", "list.c"}, set(names))

    def test_names_are_unique(self):
        """24.59 duplicate name → 409; also by renaming."""
        first, second = self.made(), self.made()
        self.refused(self.create(name=first["name"]), 409, "CONFLICT")
        self.refused(self.change(second["id"], name=first["name"]), 409, "CONFLICT")
        self.api.must(self.change(second["id"], name=second["name"]))
        self.api.must(self.delete(first["id"]))
        self.api.must(self.change(second["id"], name=first["name"]))
        self.assertEqual(self.record(first["name"])["id"], second["id"])

    def test_what_is_required(self):
        """13.2: VALIDATION_ERROR names the field."""
        for field in ("name", "queue", "cron"):
            for nothing in ("", None):
                with self.subTest(field=field, nothing=nothing):
                    self.refused(self.create(**{field: nothing}), 400, "VALIDATION_ERROR", field)
        for field, wrong in (("name", "x" * 256), ("name", "a\nb"), ("queue", "x" * 256),
                             ("timezone", "Mars/Olympus"), ("timezone", "../../etc/passwd"),
                             ("max_retries", -1), ("tags", [])):
            with self.subTest(field=field, wrong=wrong):
                self.refused(self.create(**{field: wrong}), 400, "VALIDATION_ERROR", field)
        for field, wrong in (("name", 5), ("cron", []), ("enabled", "yes"), ("max_retries", "1")):
            with self.subTest(field=field, wrong=wrong):
                self.refused(self.create(**{field: wrong}), 400, "PARSE_ERROR")

    def test_only_supplied_fields_change(self):
        """24.59 PUT changes queue; 13.2: only supplied fields change."""
        before = self.made(payload=[1], tags={"a": "b"}, unique_key="k", max_retries=5)
        after = self.api.must(self.change(before["id"], queue="another"))
        for record in (before, after):
            record.pop("updated_at", None)
        self.assertEqual(after, {**before, "queue": "another"})
        after = self.api.must(self.change(before["name"], payload={"n": 1}, priority="critical"))
        self.assertEqual((after["payload"], after["priority"], after["queue"]),
                         ({"n": 1}, 0, "another"))

    def test_push_is_removed_by_null(self):
        push = {"url": "http://127.0.0.1:9/x"}
        name = self.queue
        made = self.api.must(self.api.post("/api/v1/schedules", {
            "name": name, "queue": self.queue, "cron": "@daily", "push": push}), 200, 201)
        for body, wanted in (({"max_retries": 2}, push["url"]), ({"push": None}, None)):
            self.api.must(self.api.put(f"/api/v1/schedules/{made['id']}", body))
            row = next(s for s in self.api.must(self.api.get("/api/v1/schedules")) if s["name"] == name)
            self.assertEqual((row.get("push") or {}).get("url"), wanted)

    def test_changes_by_many_at_once_all_count(self):
        """13.2: 409 only for a name conflict. Only supplied fields change, even with concurrent changes."""
        record = self.made(payload={"n": -1}, max_retries=0, tags={"n": "-1"})
        fields = ("payload", "max_retries", "tags")
        values = {"payload": lambda n: {"n": n}, "max_retries": lambda n: n,
                  "tags": lambda n: {"n": str(n)}}

        def work(i):
            field = fields[i]
            for n in range(40):
                answer = self.api.must(self.change(record["id"], **{field: values[field](n)}))
                self.assertEqual(answer[field], values[field](n))  # no other thread changes this field

        in_threads(len(fields), work)
        after = self.record(record["id"])
        self.assertEqual([after[field] for field in fields], [values[f](39) for f in fields])

    def test_a_new_cron_expression_moves_the_next_run(self):
        """13.2: cron or timezone change recomputes next_run from now."""
        record = self.made()
        after = self.api.must(self.change(record["id"], cron="30 12 31 12 *"))
        year = now().year if now() < datetime(now().year, 12, 31, 12, 30,
                                              tzinfo=timezone.utc) else now().year + 1
        self.assertEqual(after["next_run"], f"{year}-12-31T12:30:00Z")
        after = self.api.must(self.change(record["id"], timezone="Asia/Tokyo"))
        self.assertEqual(after["next_run"][10:], "T03:30:00Z")
        self.refused(self.change(record["id"], cron="nonsense"), 400, "VALIDATION_ERROR", "cron")
        self.assertEqual(self.record(record["id"])["cron"], "30 12 31 12 *")

    def upcoming(self, name):
        rows = self.api.must(self.api.get(f"/api/v1/upcoming?prefix={name}"))
        self.assertLessEqual(len(rows), 1)
        return rows[0] if rows else None

    def test_the_runs_of_the_next_day(self):
        made = self.made(cron="0 */6 * * *", timezone="Asia/Tokyo")
        row = self.upcoming(made["name"])
        self.assertEqual([row[k] for k in ("id", "queue", "cron", "timezone", "more")],
                         [made["id"], self.queue, "0 */6 * * *", "Asia/Tokyo", False])
        self.assertEqual(len(row["runs"]), 4)
        self.assertEqual(row["runs"][0], made["next_run"])
        at = [datetime.fromisoformat(run.replace("Z", "+00:00")) for run in row["runs"]]
        self.assertEqual({b - a for a, b in zip(at, at[1:])}, {timedelta(hours=6)})

    def test_of_many_runs_the_first_are_listed(self):
        row = self.upcoming(self.made(cron="* * * * *")["name"])
        self.assertEqual((len(row["runs"]), row["more"]), (48, True))

    def test_what_does_not_run_within_a_day_or_at_all_has_no_runs(self):
        far = self.made(cron="@every 48h")
        self.assertEqual((self.upcoming(far["name"])["runs"], self.upcoming(far["name"])["more"]), ([], False))
        self.api.must(self.change(far["id"], enabled=False))
        self.assertIsNone(self.upcoming(far["name"]))

    def test_disabling_and_enabling(self):
        """13.4: a disabled schedule keeps its record; re-enabling recomputes next_run."""
        record = self.made(cron="@every 1h")
        off = self.api.must(self.change(record["id"], enabled=False))
        self.assertIs(off["enabled"], False)
        self.assertNotIn("next_run", off)
        on = self.api.must(self.change(record["id"], enabled=True))
        self.assertIs(on["enabled"], True)
        self.assert_time(on["next_run"])

    def test_missing_ones(self):
        for key in ("nothing", "sched_00000000000000000000000000"):
            self.refused(self.api.get(f"/api/v1/schedules/{key}"), 404, "NOT_FOUND", key)
            self.refused(self.change(key, queue="x"), 404, "NOT_FOUND")
            self.refused(self.delete(key), 404, "NOT_FOUND")
            self.refused(self.api.post(f"/api/v1/schedules/{key}/run"), 404, "NOT_FOUND")

    def test_delete(self):
        record = self.made()
        self.assertEqual(self.api.must(self.delete(record["name"])), {"status": "deleted"})
        self.refused(self.delete(record["id"]), 404, "NOT_FOUND")
        self.assertNotIn(record["id"], [s["id"] for s in
                                        self.api.must(self.api.get("/api/v1/schedules"))])


class Cron(ScheduleTest):
    def test_expressions_that_are_wrong(self):
        """24.59 bad cron → 400; also one that never matches (13.3)."""
        for cron in ("* * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *",
                     "* * * * 8", "x * * * *", "*/0 * * * *", "5-1 * * * *", "@sometimes",
                     "@every", "@every 0s", "@every 500ms", "@every -1s", "@every soon",
                     "@every 1828d", "@every 50000h", "0 0 30 2 *", "* * * FOO *", "1,, * * * *", "* * * * * * *"):
            with self.subTest(cron):
                self.refused(self.create(cron=cron), 400, "VALIDATION_ERROR", "cron")

    def test_a_period_of_more_than_five_years_is_refused(self):
        """13.3: when the request is made, naming the field."""
        record = self.made(cron="@every 1827d")
        self.refused(self.change(record["id"], cron="@every 262w"), 400, "VALIDATION_ERROR",
                     "cron: '@every 262w' does not occur in the next 5 years")
        self.assertEqual(self.record(record["id"])["cron"], "@every 1827d")

    def test_the_next_run(self):
        """13.3: fields, lists, ranges, steps, names, macros."""
        moment = now()
        tomorrow = (moment + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
        hour = (moment + timedelta(hours=1)).replace(minute=0, second=0, microsecond=0)
        month = (moment.replace(day=1) + timedelta(days=32)).replace(
            day=1, hour=0, minute=0, second=0, microsecond=0)
        year = datetime(moment.year + 1, 1, 1, tzinfo=timezone.utc)
        week = tomorrow + timedelta(days=(6 - tomorrow.weekday()) % 7)
        rows = {"@hourly": hour, "@daily": tomorrow, "@midnight": tomorrow, "@monthly": month,
                "@yearly": year, "@annually": year, "@weekly": week, "0 * * * *": hour,
                "0 0 * * *": tomorrow, "0 0 * * 0": week, "0 0 * * 7": week, "0 0 * * SUN": week,
                "0 0 1 * *": month, "0 0 1 jan *": year, "0-0 */24 1-31 1-12 *": tomorrow,
                "0 0 1 * sun": min(week, month)}
        for cron, expected in rows.items():
            with self.subTest(cron):
                record = self.made(cron=cron)
                if now().hour == moment.hour:
                    self.assertEqual(record["next_run"], stamp(expected))

    def test_wall_clock_of_the_zone(self):
        """13.3: evaluated in timezone."""
        record = self.made(cron="0 12 15 6 *", timezone="America/New_York")
        self.assertEqual(record["next_run"][4:], "-06-15T16:00:00Z")
        record = self.made(cron="0 12 15 1 *", timezone="America/New_York")
        self.assertEqual(record["next_run"][4:], "-01-15T17:00:00Z")
        record = self.made(cron="30 9 1 1 *", timezone="Asia/Kolkata")
        self.assertEqual(record["next_run"][4:], "-01-01T04:00:00Z")


class Firing(ScheduleTest):
    def test_every_second(self):
        """24.59 @every 1s creates jobs; next_run advances; DELETE stops it, jobs stay."""
        record = self.made(cron="@every 1s", payload={"p": 1}, tags={"t": "u"}, priority="high",
                           max_retries=9)
        self.assert_time(record["next_run"])
        jobs = [self.api.fetch(self.queue) for _ in range(2)]
        self.assertEqual([j["payload"] for j in jobs], [{"p": 1}] * 2)
        after = self.record(record["id"])
        self.assertGreater(after["next_run"], record["next_run"])
        self.assertGreaterEqual(after["last_run"], record["next_run"])
        document = self.api.job(jobs[0]["job_id"])
        self.assertEqual((document["tags"], document["priority"], document["max_retries"],
                          document["retry_backoff"]), ({"t": "u"}, 1, 9, "exponential"))
        self.assertEqual(document["schedule_id"], record["id"])
        self.api.must(self.delete(record["id"]))
        made = self.api.queue(self.queue)["enqueued"]
        other = self.made(queue=unique("beside"), cron="@every 1s")
        self.api.fetch(other["queue"])
        self.api.fetch(other["queue"])
        self.assertEqual(self.api.queue(self.queue)["enqueued"], made)
        self.api.must(self.delete(other["id"]))

    def test_runs_are_whole_periods_apart(self):
        """13.4: one job for each due time, including the first one after the creation."""
        record = self.made(cron="@every 1s")
        self.api.fetch(self.queue)
        after = self.record(record["id"])
        self.assertEqual(after["last_run"], record["next_run"])
        self.assertEqual(fraction(after["next_run"]), fraction(record["next_run"]))
        self.api.must(self.delete(record["id"]))

    def test_a_disabled_one_does_not_fire(self):
        self.made(cron="@every 1s", enabled=False)
        beside = self.made(cron="@every 1s", queue=unique("beside"))
        self.api.fetch(beside["queue"])
        self.api.fetch(beside["queue"])
        self.assertNotIn(self.queue, self.api.queues())
        self.api.must(self.delete(beside["id"]))

    def test_a_locked_key_skips_runs_and_still_advances(self):
        """13.4: if unique_key is locked the run is skipped (still advances)."""
        record = self.made(cron="@every 1s", unique_key="only-one")
        job = self.api.fetch(self.queue)
        first = self.record(record["id"])["next_run"]
        wait_until(lambda: self.record(record["id"])["next_run"] > first, "a skipped run")
        self.assertEqual(self.api.queue(self.queue)["enqueued"], 1)
        self.api.ack(job["job_id"])
        self.assertNotEqual(self.api.fetch(self.queue)["job_id"], job["job_id"])
        self.api.must(self.delete(record["id"]))

    def test_run_now(self):
        """13.2 ext: POST /schedules/{id}/run → 201 enqueue answer; does not move next_run."""
        record = self.made(payload="hello")
        answer = self.api.post(f"/api/v1/schedules/{record['name']}/run")
        self.assertEqual(answer.status, 201)
        self.assertEqual(answer.json, {"job_id": answer.json["job_id"], "status": "pending", "unique_existing": False,
                                       "job": {"id": answer.json["job_id"], "queue": self.queue,
                                               "status": "pending"}})
        job = self.api.fetch(self.queue)
        self.assertEqual((job["job_id"], job["payload"]), (answer.json["job_id"], "hello"))
        self.assertEqual(self.record(record["id"])["next_run"], record["next_run"])

    def test_run_now_is_repeated_with_an_idempotency_key(self):
        """26: a repeat with the same key gets the first response, and nothing is created twice."""
        record, other = self.made(), self.made()
        path, key = f"/api/v1/schedules/{record['id']}/run", {"Idempotency-Key": self.queue}
        first, second = (self.api.post(path, None, key) for _ in range(2))
        self.assertEqual((first.status, second.status), (201, 201))
        self.assertEqual(second.json, first.json)
        self.refused(self.api.post(f"/api/v1/schedules/{other['id']}/run", None, key), 422,
                     "IDEMPOTENCY_KEY_REUSED")
        self.assertEqual(self.api.fetch(self.queue)["job_id"], first.json["job_id"])
        self.not_claimable()
        # The same for a response that the unique key was in use, when it no longer is.
        locked = self.made(unique_key="one")
        path, key = f"/api/v1/schedules/{locked['id']}/run", {"Idempotency-Key": self.queue + "2"}
        job_id = self.api.must(self.api.post(path), 201)["job_id"]
        self.assertEqual(self.api.must(self.api.post(path, None, key))["job_id"], job_id)
        self.assertEqual(self.api.fetch(self.queue)["job_id"], job_id)
        self.api.must(self.api.post(f"/api/v1/ack/{job_id}"))
        answer = self.api.must(self.api.post(path, None, key))
        self.assertEqual((answer["job_id"], answer["status"]), (job_id, "duplicate"))
        self.not_claimable()

    def test_run_now_with_a_locked_key(self):
        record = self.made(unique_key="one", enabled=False)
        first, second = (self.api.post(f"/api/v1/schedules/{record['id']}/run") for _ in range(2))
        self.assertEqual((first.status, second.status), (201, 200))
        job_id = first.json["job_id"]
        self.assertEqual(second.json, {"job_id": job_id, "status": "duplicate", "unique_existing": True,
                                       "unique_job_id": job_id,
                                       "job": {"id": job_id, "queue": self.queue, "status": "duplicate"}})


if __name__ == "__main__":
    unittest.main()
