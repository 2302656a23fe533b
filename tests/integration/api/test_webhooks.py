"""Outgoing webhooks (contract 16): their records, and deliveries that are neither lost nor reordered."""
import collections
import contextlib
import socket
import tempfile
import threading
import unittest

from harness import ApiTest, Server, metric, run_command, unique, wait_until
from receiver import Receiver


class WebhookTest(ApiTest):
    def receiver(self, answer=lambda delivery: 200):
        receiver = Receiver(answer)
        self.addCleanup(receiver.close)
        return receiver

    def put(self, url, api=None, **fields):
        """Create a webhook, which is deleted after the test. Return its id."""
        api = api or self.api
        answer = api.must(api.post("/api/v1/webhooks", {"url": url, **fields}))
        self.assertEqual(answer["status"], "ok")
        self.addCleanup(api.delete, "/api/v1/webhooks/" + answer["id"])
        return answer["id"]

    def webhook(self, webhook_id, api=None):
        api = api or self.api
        found = [h for h in api.must(api.get("/api/v1/webhooks")) if h["id"] == webhook_id]
        self.assertEqual(len(found), 1)
        return found[0]

    def last(self):
        return metric(self.api, "corvo_events_last_seq")


class Records(WebhookTest):
    settings = (*WebhookTest.settings, "--outgoing-allow", "127.0.0.0/8")  # for the webhooks of a namespace

    def test_upsert_list_delete(self):
        """24.50 upsert without id returns a non-empty id; 16.1 defaults."""
        webhook_id = self.put("http://127.0.0.1:1/", enabled=False)
        self.assert_id(webhook_id, "wh_")
        record = self.webhook(webhook_id)
        self.assert_time(record.pop("created_at"))
        record.pop("position")
        self.assertEqual(record, {"id": webhook_id, "url": "http://127.0.0.1:1/", "events": ["*"],
                                  "enabled": False, "retry_limit": 3})
        chosen = self.put("https://example.com/x", id=unique("mine"), enabled=False,
                          events=[" job.dead ", "Completed"], retry_limit=-1)
        again = self.put("https://example.com/y", id=chosen, enabled=False, retry_limit=7)
        self.assertEqual(again, chosen)
        record = self.webhook(chosen)
        self.assertEqual((record["url"], record["events"], record["retry_limit"]),
                         ("https://example.com/y", ["*"], 7))
        ids = [h["id"] for h in self.api.must(self.api.get("/api/v1/webhooks"))]
        self.assertLess(ids.index(webhook_id), ids.index(chosen))
        answer = self.api.must(self.api.delete("/api/v1/webhooks/" + chosen))
        self.assertEqual(answer, {"status": "deleted", "id": chosen})
        self.refused(self.api.delete("/api/v1/webhooks/" + chosen), 404, "NOT_FOUND", chosen)

    def test_secrets_are_masked_and_kept(self):
        receiver = self.receiver()
        webhook_id = self.put(receiver.url("/first"), secret="s3cret", events=["enqueued"])
        self.assertEqual(self.webhook(webhook_id)["secret"], "***")
        self.put(receiver.url("/second"), id=webhook_id, secret="***", events=["enqueued"])
        self.api.enqueue(self.queue)
        delivery = receiver.wait_for(1)[0]
        self.assertEqual(delivery.path, "/second")
        self.assertTrue(delivery.is_signed_with("s3cret"))
        self.put(receiver.url("/third"), id=webhook_id, events=["enqueued"])
        self.assertNotIn("secret", self.webhook(webhook_id))
        self.refused(self.api.post("/api/v1/webhooks", {"url": receiver.url(), "secret": "***"}),
                     400, "WEBHOOK_ERROR", "secret")

    def test_credentials_in_the_url_are_masked_and_kept(self):
        """16.1: whoever may list webhooks must not learn them. The masked URL, sent back, means the current one."""
        def shown():
            return next(w["url"] for w in self.api.must(self.api.get("/api/v1/webhooks")) if w["id"] == hook)

        def stored():
            backup = self.api.must(self.api.get("/api/v1/admin/backup?include_secrets=true"))
            return next(w["url"] for w in backup["webhooks"] if w["id"] == hook)

        hook, url, masked = unique("hook"), "https://u:pa@ss@h.example:8/p?a=b@c", "https://***@h.example:8/p?a=b@c"
        self.put(url, id=hook, enabled=False)
        self.assertEqual((shown(), stored()), (masked, url))
        self.put(masked, id=hook, enabled=False, retry_limit=7)
        self.assertEqual((shown(), stored()), (masked, url))
        for other, identity in (("https://***@other.example/", hook), (masked, unique("hook"))):
            self.refused(self.api.post("/api/v1/webhooks", {"id": identity, "url": other}), 400, "WEBHOOK_ERROR", "url has masked")
        self.assertEqual(stored(), url)
        self.put("https://h.example/p?a=b@c", id=hook, enabled=False)
        self.assertEqual(shown(), "https://h.example/p?a=b@c")

    def test_what_is_refused(self):
        for body, code, message in (
                ({}, "WEBHOOK_ERROR", "url"), ({"url": "ftp://x/"}, "WEBHOOK_ERROR", "url"),
                ({"url": "file:///etc/passwd"}, "WEBHOOK_ERROR", "url"),
                ({"url": "http://a b/"}, "WEBHOOK_ERROR", "url"),
                ({"url": "http://a/\r\nX: y"}, "WEBHOOK_ERROR", "url"),
                ({"url": "http://"}, "WEBHOOK_ERROR", "url must name a host"),
                ({"url": "http://:80/"}, "WEBHOOK_ERROR", "url must name a host"),
                ({"url": "http://[::1/"}, "WEBHOOK_ERROR", "url must name a host"),
                ({"url": "http://a:70000/"}, "WEBHOOK_ERROR", "url has an invalid port"),
                ({"url": "http://a/", "events": [""]}, "WEBHOOK_ERROR", "events"),
                ({"url": "http://a/", "events": ["a\nb"]}, "WEBHOOK_ERROR", "events"),
                ({"url": "http://a/", "events": ["dead", "died"]}, "WEBHOOK_ERROR",
                 "events: got 'died', expected enqueued, started, completed,"),
                ({"url": "http://a/", "events": ["job.queue.paused"]}, "WEBHOOK_ERROR", "events"),
                ({"url": "http://a/", "retry_limit": 26}, "WEBHOOK_ERROR", "retry_limit"),
                ({"url": "http://a/", "id": "x::y"}, "WEBHOOK_ERROR", "id"),
                ({"url": "http://a/" + "x" * 2050}, "VALIDATION_ERROR", "url"),
                ({"url": 5}, "PARSE_ERROR", "url"), ({"url": "http://a/", "events": "x"},
                                                     "PARSE_ERROR", "events")):
            with self.subTest(body=str(body)[:60]):
                self.refused(self.api.post("/api/v1/webhooks", body), 400, code, message)

    def test_the_server_itself_is_refused(self):
        """Otherwise each event would create a job, and each job an event."""
        port = self.api.server.port
        for host in ("127.0.0.1", "localhost", "LOCALHOST.", "2130706433", "0x7f.1", "127.1",
                     "[::ffff:127.0.0.1]", "user@127.0.0.1", "0.0.0.0"):
            with self.subTest(host=host):
                url = f"http://{host}:{port}/api/v1/webhooks/{self.queue}"
                self.refused(self.api.post("/api/v1/webhooks", {"url": url}), 400, "WEBHOOK_ERROR",
                             "url must not be an address of this server")

    def test_ingestion_is_another_route(self):
        answer = self.api.post(f"/api/v1/webhooks/{self.queue}", {"a": 1})
        self.assertEqual(self.api.job(self.api.must(answer, 201)["job_id"])["payload"], {"a": 1})

    def test_namespaces(self):
        """3.4: a namespace has separate webhooks, for its own events, with its own names."""
        receiver = self.receiver()
        tenant = self.api.with_headers(X_Corvo_Namespace="acme")
        name = unique("same")
        theirs = self.put(receiver.url("/theirs"), api=tenant, id=name, events=["enqueued"])
        made = self.put(receiver.url("/made"), api=tenant, events=["enqueued"])
        self.assert_id(made, "wh_")
        self.put(receiver.url("/ours"), id=name, events=["enqueued"])
        self.assertEqual({h["id"] for h in tenant.must(tenant.get("/api/v1/webhooks"))},
                         {theirs, made})
        self.assertIn("acme::" + name,
                      {h["id"] for h in self.api.must(self.api.get("/api/v1/webhooks"))})
        # After a change by a caller that can see everything, it still gets only the events of its own namespace.
        self.put(receiver.url("/theirs"), id="acme::" + name, events=["enqueued"], retry_limit=2)
        self.refused(tenant.delete("/api/v1/webhooks/other::x"), 404, "NOT_FOUND")
        self.api.enqueue(self.queue)
        tenant.enqueue(self.queue)
        # Events of two jobs arrive in any order.
        ours = sorted(receiver.wait_for(2, "/ours"), key=lambda d: d.event["seq"])
        self.assertEqual([d.event["queue"] for d in ours], [self.queue, "acme::" + self.queue])
        for path in ("/theirs", "/made"):
            delivery = receiver.wait_for(1, path)[0]
            self.assertEqual(delivery.event["queue"], self.queue)
            self.assertEqual(delivery.event["seq"], ours[1].event["seq"])
        self.assertEqual(receiver.taken("/theirs")[0].json["webhook_id"], name)
        self.assertEqual(len(receiver.taken("/theirs")), 1)


class Guests(WebhookTest):
    """A namespace other than the default one calls no private address, not even over an open connection."""

    def test_loopback_is_refused(self):
        receiver, tenant = self.receiver(), self.api.with_headers(X_Corvo_Namespace="acme")
        self.put(receiver.url("/ours"), events=["enqueued"])
        theirs = [self.put(receiver.url("/theirs"), api=tenant, events=["enqueued"], retry_limit=1),
                  self.put(f"http://localhost:{receiver.port}/theirs", api=tenant, events=["enqueued"], retry_limit=1)]
        tenant.enqueue(self.queue)
        receiver.wait_for(1, "/ours")
        for webhook_id in theirs:
            record = wait_until(lambda: (lambda h: h if "last_error" in h else None)(self.webhook(webhook_id, tenant)),
                                "an attempt")
            self.assertRegex(record["last_error"], "address (127.0.0.1|::1) is not allowed for this namespace")
        self.assertEqual(receiver.taken("/theirs"), [])


class Delivery(WebhookTest):
    def test_what_a_delivery_says(self):
        """24.58 the receiver gets a body whose HMAC matches X-Corvo-Signature."""
        receiver = self.receiver()
        webhook_id = self.put(receiver.url("/a?b=c"), secret="k", events=["job.COMPLETED"])
        job_id = self.active()
        self.api.ack(job_id)
        delivery = receiver.wait_for(1)[0]
        self.assertEqual(delivery.path, "/a?b=c")
        self.assertTrue(delivery.is_signed_with("k"))
        self.assertFalse(delivery.is_signed_with("other"))
        self.assertEqual(delivery.headers["content-type"], "application/json")
        self.assertEqual(delivery.headers["x-corvo-webhook-id"], webhook_id)
        self.assertEqual(delivery.headers["x-corvo-webhook-event"], "completed")
        self.assertEqual(set(delivery.json), {"event", "sent_at", "webhook_id"})
        self.assert_time(delivery.json["sent_at"])
        self.assertEqual(delivery.json["webhook_id"], webhook_id)
        self.assertEqual((delivery.event["type"], delivery.event["job_id"],
                          delivery.event["queue"]), ("completed", job_id, self.queue))
        listed = self.api.must(self.api.get(
            f"/api/v1/cluster/events?after_seq={delivery.event['seq'] - 1}&limit=1"))["events"]
        self.assertEqual(delivery.event, listed[0])
        wait_until(lambda: "last_status_code" in self.webhook(webhook_id), "the result")
        record = self.webhook(webhook_id)
        self.assertEqual(record["last_status_code"], 200)
        self.assertNotIn("last_error", record)
        self.assert_time(record["last_delivery_at"])
        self.assertGreaterEqual(record["position"], delivery.event["seq"])

    def test_types(self):
        """16.2 an entry equals the type in any case, or is *, or has the prefix job., or is a glob."""
        receiver = self.receiver()
        rows = {"/exact": ["started"], "/prefix": ["job.Started"], "/all": ["*"],
                "/glob": ["st*"], "/two": ["nothing*", "enqueued", "STARTED"],
                "/jobs": ["job.*"], "/queues": ["queue.*"]}
        for path, events in rows.items():
            self.put(receiver.url(path), events=events)
        self.active()
        self.api.must(self.api.post(f"/api/v1/queues/{self.queue}/pause"))
        wanted = {"/exact": ["started"], "/prefix": ["started"], "/glob": ["started"],
                  "/all": ["enqueued", "started", "queue.paused"],
                  "/two": ["enqueued", "started"], "/jobs": ["enqueued", "started"],
                  "/queues": ["queue.paused"]}
        for path, types in wanted.items():
            with self.subTest(path=path):
                got = [d.event["type"] for d in receiver.wait_for(len(types), path)]
                self.assertEqual(sorted(got), sorted(types))

    def test_attempts(self):
        """24.58 a receiver that returns 500 is tried retry_limit times; then the next event follows."""
        receiver = self.receiver(lambda d: 500 if d.path == "/broken" else 200)
        webhook_id = self.put(receiver.url("/broken"), events=["enqueued"], retry_limit=3)
        before = metric(self.api, "corvo_webhook_failed_total")
        job_id = self.api.enqueue(self.queue)
        wait_until(lambda: metric(self.api, "corvo_webhook_failed_total") > before, "giving up")
        tries = receiver.taken("/broken")
        self.assertEqual([d.event["job_id"] for d in tries], [job_id] * 3)
        wait_until(lambda: self.webhook(webhook_id).get("last_error") == "http 500", "the result")
        record = self.webhook(webhook_id)
        self.assertEqual(record["last_status_code"], 500)
        wait_until(lambda: self.webhook(webhook_id)["position"] >= tries[0].event["seq"],
                   "the position")

    def test_a_retry_that_works(self):
        tries = collections.Counter()

        def answer(delivery):
            tries[delivery.event["seq"]] += 1
            return 503 if tries[delivery.event["seq"]] == 1 else 204

        receiver = self.receiver(answer)
        webhook_id = self.put(receiver.url(), events=["enqueued"])
        self.api.enqueue(self.queue)
        first, second = receiver.wait_for(2)
        self.assertEqual(first.event, second.event)
        wait_until(lambda: self.webhook(webhook_id).get("last_status_code") == 204, "the result")
        self.assertNotIn("last_error", self.webhook(webhook_id))

    def test_a_response_counts_by_its_head(self):
        """16.2: success = 2xx. What becomes of the body does not matter."""
        calls = []

        def answer(listener):
            for text in (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", b"HTTP/1.1 200 OK\r\nContent-Le"):
                connection, _ = listener.accept()
                with connection:
                    calls.append(connection.recv(65536))
                    connection.sendall(text)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            thread = threading.Thread(target=answer, args=(listener,))
            thread.start()
            webhook_id = self.put(f"http://127.0.0.1:{listener.getsockname()[1]}/", events=["enqueued"], retry_limit=1)
            self.api.enqueue(self.queue)
            record = wait_until(lambda: next((h for h in [self.webhook(webhook_id)] if "last_status_code" in h), None))
            self.assertEqual((record["last_status_code"], record.get("last_error")), (200, None))
            self.api.enqueue(self.queue)
            record = wait_until(lambda: next((h for h in [self.webhook(webhook_id)] if h["last_status_code"] == 0), None))
            self.assertIn("closed", record["last_error"])
            thread.join()
        self.assertEqual(len(calls), 2)

    def test_nobody_listens(self):
        receiver = Receiver()
        url = receiver.url()
        receiver.close()
        webhook_id = self.put(url, events=["enqueued"], retry_limit=1)
        self.api.enqueue(self.queue)
        wait_until(lambda: self.webhook(webhook_id).get("last_error"), "the result")
        self.assertEqual(self.webhook(webhook_id)["last_status_code"], 0)

    def results(self, ids):
        """Wait until each of these webhooks has a result, and return their records."""
        wait_until(lambda: all("last_delivery_at" in self.webhook(i) for i in ids), "the results")
        return [self.webhook(i) for i in ids]

    def test_redirects_are_not_followed(self):
        """16.2 no redirects to other hosts."""
        other = self.receiver()
        receiver = self.receiver(lambda d: (int(d.path[1:]), {"Location": other.url("/stolen")}))
        statuses = (301, 302, 303, 307, 308)
        ids = [self.put(receiver.url(f"/{status}"), events=["enqueued"], retry_limit=1)
               for status in statuses]
        self.api.enqueue(self.queue)
        self.assertEqual([(r["last_status_code"], r["last_error"]) for r in self.results(ids)],
                         [(status, f"http {status}") for status in statuses])
        self.assertEqual(other.taken(), [])

    def test_addresses_that_are_refused(self):
        """Metadata services and the like are never called, however the address is written."""
        urls = ("http://169.254.169.254/latest/meta-data/", "http://[fe80::1]/",
                "http://[::ffff:169.254.169.254]/", "http://0.0.0.0/", "http://224.0.0.1/",
                "http://[fd00:ec2::254]/", "http://0/", "http://2852039166/")
        ids = [self.put(url, events=["enqueued"], retry_limit=1) for url in urls]
        self.api.enqueue(self.queue)
        for url, record in zip(urls, self.results(ids)):
            with self.subTest(url=url):
                self.assertEqual(record["last_status_code"], 0)
                self.assertRegex(record["last_error"], r"address .* is not allowed")

    def test_the_server_itself_is_not_called(self):
        """A restored record may contain any URL."""
        webhook_id = unique("own")
        url = f"http://127.0.0.1:{self.api.server.port}/api/v1/webhooks/{self.queue}"
        self.api.must(self.api.post("/api/v1/admin/restore", {"jobs": [], "meta": {"format": 2}, "webhooks": [
            {"id": webhook_id, "url": url, "events": ["enqueued"], "retry_limit": 1, "enabled": True,
             "created_at": "2026-01-01T00:00:00Z"}]}))
        self.addCleanup(self.api.delete, "/api/v1/webhooks/" + webhook_id)
        self.api.enqueue(self.queue)
        record = self.results([webhook_id])[0]
        self.assertEqual(record["last_status_code"], 0)
        self.assertEqual(record["last_error"],
                         "address 127.0.0.1 is not allowed: it is this server itself")

    def test_order_within_each_job(self):
        """16.2 order preserved per job, with retries in between."""
        tries, lock = collections.Counter(), threading.Lock()

        def answer(delivery):
            with lock:
                tries[delivery.event["seq"]] += 1
                return 500 if delivery.event["seq"] % 7 == 0 and tries[
                    delivery.event["seq"]] == 1 else 200

        receiver = self.receiver(answer)
        self.put(receiver.url())
        jobs = self.api.enqueue_batch([{"queue": self.queue}] * 20)["job_ids"]
        for job_id in jobs:
            self.api.fetch(self.queue)
        for job_id in jobs:
            self.api.heartbeat({job_id: {"progress": 1}})
            self.api.ack(job_id)
        log = [e for e in self.api.must(self.api.get("/api/v1/cluster/events?limit=1000"))["events"]
               if e.get("job_id") in jobs]
        receiver.wait_for_events(e["seq"] for e in log)
        for job_id in jobs:
            seqs = [d.event["seq"] for d in receiver.taken() if d.event.get("job_id") == job_id]
            self.assertEqual(seqs, sorted(seqs))
            self.assertEqual(sorted(set(seqs)), [e["seq"] for e in log if e["job_id"] == job_id])

    def test_some_at_once_but_not_all(self):
        """At least one delivery at a time, and a limit on deliveries in flight. A slow webhook does not delay
        others."""
        go_on, now, most, lock = threading.Event(), collections.Counter(), [0], threading.Lock()

        def answer(delivery):
            if delivery.path == "/slow":
                with lock:
                    now["slow"] += 1
                    most[0] = max(most[0], now["slow"])
                go_on.wait(30)
                with lock:
                    now["slow"] -= 1
            return 200

        receiver = self.receiver(answer)
        self.addCleanup(go_on.set)
        self.put(receiver.url("/slow"), events=["enqueued"])
        self.put(receiver.url("/quick"), events=["enqueued"])
        self.api.enqueue_batch([{"queue": self.queue}] * 200)
        receiver.wait_for(200, "/quick")
        self.assertGreaterEqual(len(receiver.wait_for(2, "/slow")), 2)
        go_on.set()
        receiver.wait_for(200, "/slow")
        self.assertLessEqual(most[0], 8)

    def test_hosts_that_hang_starve_no_other(self):
        """Forty of them could occupy all connections for the duration of an attempt."""
        with contextlib.ExitStack() as open_ones:
            hosts = [open_ones.enter_context(socket.create_server(("127.0.0.1", 0), backlog=64))
                     for _ in range(40)]  # the system accepts the connections, and nobody reads
            for host in hosts:
                self.put(f"http://127.0.0.1:{host.getsockname()[1]}/", events=["enqueued"])
            self.api.enqueue_batch([{"queue": self.queue}] * 50)
            wait_until(lambda: metric(self.api, "corvo_webhook_slow_in_flight") >= 80, "the first tries")
            receiver = self.receiver()
            self.put(receiver.url(), events=["enqueued"], retry_limit=1)
            first = self.last()
            self.api.enqueue_batch([{"queue": self.queue}] * 300)
            receiver.wait_for_events(range(first + 1, first + 301))
            self.assertLessEqual(metric(self.api, "corvo_webhook_slow_in_flight"), 128)

    def test_delete_while_delivering(self):
        go_on = threading.Event()
        receiver = self.receiver(lambda d: go_on.wait(30) and 200)
        self.addCleanup(go_on.set)
        webhook_id = self.put(receiver.url(), events=["enqueued"])
        self.api.enqueue_batch([{"queue": self.queue}] * 50)
        receiver.wait_for(1)
        self.api.must(self.api.delete("/api/v1/webhooks/" + webhook_id))
        wait_until(lambda: metric(self.api, "corvo_webhook_in_flight") == 0, "breaking off")
        self.assertLessEqual(len(receiver.taken()), 8)
        go_on.set()
        again = self.put(receiver.url("/again"), id=webhook_id, events=["enqueued"])
        job_id = self.api.enqueue(self.queue)
        self.assertEqual(receiver.wait_for(1, "/again")[0].event["job_id"], job_id)
        self.assertEqual(again, webhook_id)

    def test_off_and_on(self):
        receiver = self.receiver()
        webhook_id = self.put(receiver.url(), events=["enqueued"], enabled=False)
        self.api.enqueue(self.queue)
        self.put(receiver.url(), id=webhook_id, events=["enqueued"], enabled=True)
        job_id = self.api.enqueue(self.queue)
        self.assertEqual(receiver.wait_for(1)[0].event["job_id"], job_id)

    def test_ingestion_still_works_while_events_flow(self):
        receiver = self.receiver()
        self.put(receiver.url(), events=["enqueued"])
        first = self.last()
        self.api.must(self.api.post(f"/api/v1/webhooks/{self.queue}", {"a": 1}), 201)
        self.assertGreater(receiver.wait_for(1)[0].event["seq"], first)


class Restart(unittest.TestCase):
    def test_a_kill_loses_nothing_and_replays_little(self):
        """D1: positions survive, deliveries happen at least once."""
        with Receiver() as receiver, Server("--rate-limit-enabled=false") as server:
            api = server.client()
            api.enqueue_batch([{"queue": "before"}] * 20)
            api.must(api.post("/api/v1/webhooks", {"id": "w", "url": receiver.url(),
                                                   "events": ["enqueued"]}))
            for number in range(3):
                api.enqueue_batch([{"queue": f"q{number}"}] * 100)
                receiver.wait_for(20 + 100 * number)
                server.kill()
                server.start()
            receiver.wait_for_events(range(21, 321))
            seqs = [d.event["seq"] for d in receiver.taken()]
            self.assertEqual(set(seqs), set(range(21, 321)), "events from before were replayed")

    def test_an_orderly_stop_repeats_nothing(self):
        with Receiver() as receiver, Server("--rate-limit-enabled=false") as server:
            api = server.client()
            api.must(api.post("/api/v1/webhooks", {"id": "w", "url": receiver.url()}))
            for number in range(3):
                api.enqueue_batch([{"queue": "a"}] * 50)
                receiver.wait_for(50 * (number + 1))
                wait_until(lambda: metric(api, "corvo_webhook_in_flight") == 0, "the answers")
                server.terminate()
                server.start()
            api.enqueue("a")
            seqs = [d.event["seq"] for d in receiver.wait_for(151)]
            self.assertEqual(sorted(seqs), list(range(1, 152)))

    def test_networks_that_are_none(self):
        with tempfile.TemporaryDirectory(prefix="corvo-api-") as folder:
            for name in ("--webhook-deny", "--webhook-allow"):
                ended = run_command("server", "--data-dir", folder, "--bind", "127.0.0.1:0",
                                    name, "10.0.0.0/8,nonsense")
                self.assertNotEqual(ended.returncode, 0)
                self.assertIn(f"setting {name[2:]}: expected", ended.stderr)
                self.assertIn("got 'nonsense'", ended.stderr)

    def test_networks_of_the_settings(self):
        with Receiver() as receiver:
            with Server("--webhook-deny", "127.0.0.0/8, ::1") as server:
                api = server.client()
                api.must(api.post("/api/v1/webhooks", {"id": "w", "url": receiver.url(),
                                                       "retry_limit": 1}))
                api.enqueue("a")
                wait_until(lambda: api.must(api.get("/api/v1/webhooks"))[0].get("last_error"),
                           "the result")
                self.assertEqual(api.must(api.get("/api/v1/webhooks"))[0]["last_error"],
                                 "address 127.0.0.1 is not allowed")
                self.assertEqual(receiver.taken(), [])
            with Server("--webhook-deny", "0.0.0.0/0 ::/0", "--webhook-allow", "127.0.0.1") as server:
                api = server.client()
                api.must(api.post("/api/v1/webhooks", {"url": receiver.url()}))
                api.enqueue("a")
                receiver.wait_for(1)


class Behind(unittest.TestCase):
    takes_long = True

    def test_what_the_log_no_longer_has_is_skipped_and_said(self):
        """A receiver that is stuck while the log advances continues at the oldest event."""
        go_on = threading.Event()
        with Receiver(lambda d: go_on.wait(60) and 200) as receiver, \
                Server("--rate-limit-enabled=false", "--durable=false") as server:
            api = server.client()
            api.must(api.post("/api/v1/webhooks", {"id": "w", "url": receiver.url(),
                                                   "events": ["queue.*"], "retry_limit": 25}))
            for number in range(100):  # more events than are read ahead
                api.must(api.post(f"/api/v1/queues/q{number}/pause"))
                api.must(api.post(f"/api/v1/queues/q{number}/resume"))
            receiver.wait_for(1)
            for _ in range(22):
                api.enqueue_batch([{"queue": "flood"}] * 5000)
            api.must(api.post("/api/v1/queues/last/pause"))
            last = metric(api, "corvo_events_last_seq")
            go_on.set()
            receiver.wait_for_events([last])
            wait_until(lambda: api.must(api.get("/api/v1/webhooks"))[0]["position"] == last,
                       "the position")
            seqs = {d.event["seq"] for d in receiver.taken()}
            self.assertLess(max(seqs - {last}), 200)
            self.assertTrue(seqs >= set(range(1, 101)), "what was read ahead was lost")
            skipped = server.events("webhook skipped")
            self.assertEqual(len(skipped), 1)
            self.assertEqual(metric(api, "corvo_webhook_skipped_total"),
                             skipped[0]["to"] - skipped[0]["from"])


if __name__ == "__main__":
    unittest.main()
