"""Lists (contract 26): pages by limit and cursor, search by prefix, at most 1,000 rows."""
import unittest

from harness import ApiTest, Server, unique

CURSOR = "x-corvo-next-cursor"


class ListTest(ApiTest):
    def pages(self, path, limit, client=None, **query):
        """Return all rows, read page by page, and the number of pages."""
        client = client or self.api
        rows, pages, cursor = [], 0, None
        while pages == 0 or cursor:
            parts = {"limit": limit, **query, **({"cursor": cursor} if cursor else {})}
            answer = client.get(path + "?" + "&".join(f"{k}={v}" for k, v in parts.items()))
            page = client.must(answer)
            self.assertLessEqual(len(page), limit)
            rows, pages, cursor = rows + page, pages + 1, answer.headers.get(CURSOR)
        return rows, pages

    def check(self, path, key, prefix, client=None):
        """Pages of every size contain the whole list. A prefix finds the names that begin with it."""
        client = client or self.api
        answer = client.get(path)
        whole = client.must(answer)
        self.assertGreaterEqual(len(whole), 5)
        self.assertNotIn(CURSOR, answer.headers)
        names = [row[key] for row in whole]
        for limit in (1, 2, len(whole) - 1, len(whole), 1000, 99999):
            rows, pages = self.pages(path, limit, client)
            self.assertEqual([row[key] for row in rows], names)
            self.assertEqual(pages, max(1, -(-len(whole) // limit)))
        wanted = [name for name in names if name.startswith(prefix)]
        self.assertTrue(0 < len(wanted) < len(names), names)
        self.assertEqual([row[key] for row in self.pages(path, 2, client, prefix=prefix)[0]], wanted)
        self.assertEqual(client.must(client.get(path + "?prefix=nothing.begins.so")), [])
        for bad in ("limit=0", "limit=-1", "limit=x", "cursor=xyz", "cursor=abc"):
            with self.subTest(bad=bad):
                self.refused(client.get(f"{path}?{bad}"), 400, "VALIDATION_ERROR", bad.split("=")[0])


class Pages(ListTest):
    def test_queues(self):
        with Server(*self.settings) as server:
            api = server.client()
            acme = api.with_headers(X_Corvo_Namespace="acme")
            for client in (api, acme):
                for name in ("b.2", "a.1", "b.1", "c", "a.2", "Z", "a"):
                    client.enqueue(name)
            self.check("/api/v1/queues", "name", "a.", acme)
            self.assertEqual([q["name"] for q in acme.must(acme.get("/api/v1/queues"))],
                             ["Z", "a", "a.1", "a.2", "b.1", "b.2", "c"])
            self.check("/api/v1/queues", "name", "acme::", api)

    def test_more_than_a_thousand_queues_are_several_pages(self):
        with Server(*self.settings) as server:
            api = server.client()
            names = sorted(f"q.{i}" for i in range(2345))
            api.enqueue_batch([{"queue": name} for name in names])
            answer = api.get("/api/v1/queues")
            self.assertEqual([q["name"] for q in api.must(answer)], names[:1000])
            rows, pages = self.pages("/api/v1/queues", 1000, api)
            self.assertEqual(([q["name"] for q in rows], pages), (names, 3))
            self.assertEqual({q["pending"] for q in rows}, {1})
            # Changes meanwhile neither repeat nor hide other queues.
            cursor = answer.headers[CURSOR]
            api.must(api.delete(f"/api/v1/queues/{names[999]}"))
            api.enqueue("a.new.one")
            rest = api.must(api.get(f"/api/v1/queues?cursor={cursor}"))
            self.assertEqual([q["name"] for q in rest], names[1000:2000])

    def test_workers(self):
        with Server(*self.settings) as server:
            api = server.client()
            for i in range(7):
                api.enqueue("w.q")
                api.fetch("w.q", worker_id=f"{'even' if i % 2 == 0 else 'odd'}-{i}")
            self.check("/api/v1/workers", "id", "even", api)

    def test_schedules(self):
        for i in range(6):
            self.api.must(self.api.post("/api/v1/schedules", {
                "name": f"{'x' if i % 2 else 'y'}.{i}", "queue": "s", "cron": "0 3 * * *"}), 201)
        self.check("/api/v1/schedules", "name", "y.")

    def test_webhooks(self):
        for i in range(6):
            self.api.must(self.api.post("/api/v1/webhooks", {
                "id": f"{'x' if i % 2 else 'y'}-{i}", "url": "http://127.0.0.1:9/x",
                "events": ["dead"], "enabled": False}), 200, 201)
        self.check("/api/v1/webhooks", "id", "x-")

    def test_budgets(self):
        acme = self.api.with_headers(X_Corvo_Namespace=unique("acme").replace(".", "-"))
        for client in (acme, self.api):
            for i in range(6):
                client.must(client.post("/api/v1/budgets", {
                    "scope": "queue" if i < 4 else "tag", "target": f"{'x' if i % 2 else 'y'}{i}:1", "daily_usd": 1}))
        self.check("/api/v1/budgets", "target", "x", acme)
        self.check("/api/v1/budgets", "target", "x")

    def test_policies(self):
        for i in range(6):
            self.api.must(self.api.post("/api/v1/approval-policies", {
                "name": f"{'x' if i % 2 else 'y'}-{i}", "queue": unique("p")}), 200, 201)
        self.check("/api/v1/approval-policies", "name", "x-")


if __name__ == "__main__":
    unittest.main()
