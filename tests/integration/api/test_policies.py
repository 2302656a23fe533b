"""Approval policies (contract 17.4)."""
import unittest

from harness import ApiTest, Server, unique

PATH = "/api/v1/approval-policies"


class PolicyTest(ApiTest):
    def create(self, api=None, **fields):
        api = api or self.api
        return api.must(api.post(PATH, {"name": unique("look"), **fields}))

    def drop(self, policy):
        self.api.must(self.api.delete(f"{PATH}/{policy['id']}"))

    def goes_on(self, api=None, queue=None, **fields):
        """Create an agent job and ack it with continue. Return its document."""
        api, queue = api or self.api, queue or self.queue
        job_id = api.enqueue(queue, agent={}, **fields)
        self.assertEqual(api.fetch(queue)["job_id"], job_id)
        api.ack(job_id, agent_status="continue")
        job = api.job(job_id)
        api.must(api.delete(f"/api/v1/jobs/{job_id}"))
        return job


class Records(PolicyTest):
    def test_defaults(self):
        policy = self.create(name="  look first ")
        self.assert_id(policy.pop("id"), "apol_")
        self.assert_time(policy.pop("created_at"))
        self.assertEqual(policy, {"name": "look first", "mode": "any", "enabled": True,
                                  "all_namespaces": False})

    def test_every_field_is_kept(self):
        fields = {"name": "n", "mode": "all", "enabled": False, "queue": self.queue,
                  "tag_key": "env", "tag_value": "prod"}
        policy = self.create(**fields)
        self.assertEqual({k: policy[k] for k in fields}, fields)
        self.assertIn(policy, self.api.must(self.api.get(PATH)))

    def test_the_newest_is_first_and_each_is_a_new_one(self):
        made = [self.create(name="same") for _ in range(3)]
        listed = [p for p in self.api.must(self.api.get(PATH)) if p["name"] == "same"]
        self.assertEqual(listed, made[::-1])
        for policy in made:
            self.assertEqual(self.api.must(self.api.delete(f"{PATH}/{policy['id']}")),
                             {"status": "deleted"})
            self.refused(self.api.delete(f"{PATH}/{policy['id']}"), 404, "NOT_FOUND")
        self.refused(self.api.delete(f"{PATH}/nothing"), 404, "NOT_FOUND")

    def test_what_is_refused(self):
        for body, code in (({}, "POLICY_ERROR"), ({"name": ""}, "POLICY_ERROR"),
                           ({"name": " "}, "POLICY_ERROR"), ({"name": None}, "POLICY_ERROR"),
                           ({"name": "n", "mode": "some"}, "POLICY_ERROR"),
                           ({"name": 5}, "PARSE_ERROR"), (b"", "PARSE_ERROR"),
                           ({"name": "n", "enabled": "x"}, "PARSE_ERROR"),
                           ({"name": "n" * 256}, "VALIDATION_ERROR"),
                           ({"name": "n", "queue": "acme::q"}, "VALIDATION_ERROR"),
                           ({"name": "n", "queue": "a\nb"}, "VALIDATION_ERROR")):
            with self.subTest(body):
                self.refused(self.api.post(PATH, body), 400, code)


class Holding(PolicyTest):
    def test_an_agent_of_the_queue_is_held(self):
        """24.32 {"mode":"all","queue":q}: ack continue on q → held with a reason."""
        policy = self.create(name="people look", mode="all", queue=self.queue)
        job_id = self.api.enqueue(self.queue, agent={})
        self.api.fetch(self.queue)
        self.api.ack(job_id, agent_status="continue", usage={"cost_usd": 0.5})
        job = self.api.job(job_id)
        self.assertEqual((job["state"], job["hold_reason"], job["agent"]),
                         ("held", "approval policy matched: people look",
                          {"iteration": 1, "total_cost_usd": 0.5}))
        rows = self.api.must(self.api.get(f"/api/v1/jobs/{job_id}/iterations"))["iterations"]
        self.assertEqual([(r["status"], r["hold_reason"]) for r in rows],
                         [("hold", "approval policy matched: people look")])
        # After approval it runs again. A finished job is not held, whatever the policy.
        self.api.act(job_id, "approve")
        self.api.fetch(self.queue)
        self.api.ack(job_id, agent_status="done")
        self.assertEqual(self.api.state(job_id), "completed")
        self.assertEqual(self.goes_on(queue=self.queue + ".other")["state"], "pending")
        self.drop(policy)
        self.assertEqual(self.goes_on()["state"], "pending")

    def test_checks_and_modes(self):
        tags = {"tag_key": self.queue, "tag_value": "prod"}
        both = {"queue": self.queue, **tags}
        for policy, job_tags, state in (
                ({"mode": "any", **both}, {self.queue: "test"}, "held"),
                ({"mode": "all", **both}, {self.queue: "test"}, "pending"),
                ({"mode": "all", **both}, {self.queue: "prod"}, "held"),
                ({"mode": "ANY", **tags}, {self.queue: "prod"}, "held"),
                (tags, {}, "pending"), ({}, {self.queue: "prod"}, "pending"),
                ({"queue": self.queue, "enabled": False}, {}, "pending")):
            with self.subTest(policy=policy, tags=job_tags):
                made = self.create(**policy)
                self.assertEqual(self.goes_on(tags=job_tags)["state"], state)
                self.drop(made)

    def test_the_worker_may_give_the_reason(self):
        policy = self.create(queue=self.queue)
        job_id = self.api.enqueue(self.queue, agent={})
        self.api.fetch(self.queue)
        self.api.ack(job_id, agent_status="continue", hold_reason="see my notes")
        self.assertEqual(self.api.job(job_id)["hold_reason"], "see my notes")
        self.drop(policy)

    def test_the_newest_decides(self):
        old = self.create(name="old", queue=self.queue)
        new = self.create(name="new", queue=self.queue)
        self.assertEqual(self.goes_on()["hold_reason"], "approval policy matched: new")
        self.drop(new)
        self.assertEqual(self.goes_on()["hold_reason"], "approval policy matched: old")
        self.drop(old)

    def test_namespaces(self):
        """3.4: a namespace can see its own policies, and they hold only its jobs."""
        acme = self.api.with_headers(X_Corvo_Namespace="acme")
        other = self.api.with_headers(X_Corvo_Namespace="other")
        policy = self.create(acme, queue=self.queue)
        self.assertEqual(policy["queue"], self.queue)
        self.assertIn(policy, acme.must(acme.get(PATH)))
        self.assertNotIn(policy["id"], [p["id"] for p in other.must(other.get(PATH))])
        self.assertEqual([p["queue"] for p in self.api.must(self.api.get(PATH))
                          if p["id"] == policy["id"]], ["acme::" + self.queue])
        self.assertEqual(self.goes_on(acme)["state"], "held")
        self.assertEqual(self.goes_on(other)["state"], "pending")
        self.assertEqual(self.goes_on()["state"], "pending")
        self.refused(other.delete(f"{PATH}/{policy['id']}"), 404, "NOT_FOUND")
        acme.must(acme.delete(f"{PATH}/{policy['id']}"))

    def test_the_default_namespace_holds_its_own_unless_all_are_meant(self):
        """26: a policy of the default namespace applies to its own jobs, and with all_namespaces to those of all."""
        acme = self.api.with_headers(X_Corvo_Namespace="acme")
        check = {"tag_key": self.queue, "tag_value": "prod"}
        tags = {self.queue: "prod"}
        own = self.create(**check)
        self.assertEqual(self.goes_on(tags=tags)["state"], "held")
        self.assertEqual(self.goes_on(acme, tags=tags)["state"], "pending")
        self.drop(own)
        every = self.create(all_namespaces=True, **check)
        self.assertTrue(every["all_namespaces"])
        self.assertEqual(self.goes_on(acme, tags=tags)["state"], "held")
        self.drop(every)
        self.refused(acme.post(PATH, {"name": "n", "all_namespaces": True}), 403, "FORBIDDEN",
                     "all_namespaces requires an admin of the default namespace")

    def test_all_namespaces_are_for_admins(self):
        with Server("--rate-limit-enabled=false", "--admin-password", "secret") as server:
            admin = server.client(**{"X-API-Key": "secret"})
            key = admin.must(admin.post("/api/v1/auth/keys", {"name": "o", "role": "operator"}))["api_key"]
            operator = server.client(**{"X-API-Key": key})
            body = {"name": "n", "tag_key": "x", "all_namespaces": True}
            self.refused(operator.post(PATH, body), 403, "FORBIDDEN",
                         "all_namespaces requires an admin of the default namespace")
            operator.must(operator.post(PATH, {**body, "all_namespaces": False}))
            admin.must(admin.post(PATH, body))


class Kept(unittest.TestCase):
    def test_through_a_kill_and_a_backup(self):
        with Server("--rate-limit-enabled=false") as first:
            api = first.client()
            made = [api.must(api.post(PATH, {"name": name, "queue": "q", "mode": "all",
                                             "tag_key": "k", "tag_value": "v"}))
                    for name in ("one", "two")]
            first.kill()
            first.start()
            self.assertEqual(api.must(api.get(PATH)), made[::-1])
            copy = api.get("/api/v1/admin/backup").body
        with Server("--rate-limit-enabled=false") as second:
            api = second.client()
            for _ in range(2):  # existing policies are not changed
                api.must(api.post("/api/v1/admin/restore", copy))
                self.assertEqual(api.must(api.get(PATH)), made[::-1])


if __name__ == "__main__":
    unittest.main()
