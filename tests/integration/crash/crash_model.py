"""The expected content of the store after a crash, derived from the lines that the clients wrote.

Each client works on a separate queue, one operation at a time. So the state of its jobs follows from the
operations that were answered, and from at most one that was in progress. That operation took effect as a
whole or not at all, and the store shows which.
"""


class Mismatch(Exception):
    """The store differs from the expected content."""


class Job:
    def __init__(self, queue, payload, states, retries, key, batch):
        self.queue, self.payload, self.states = queue, payload, states
        self.retries, self.key, self.batch = retries, key, batch
        self.attempt = self.token = self.errors = 0
        self.counted = self.beaten = False
        self.progress = "-"
        self.lease = self.due = None  # end of the lease, and time of the next attempt, as reported to the client


class Dump:
    """The state as crash_dump.h prints it."""

    def __init__(self, lines):
        self.lines = lines
        self.head = None
        self.jobs, self.batches, self.locks, self.queues = {}, {}, {}, {}
        for line in lines:
            kind, *f = line.split(" ")
            if kind == "H":
                self.head, self.now = tuple(f), int(f[3])
            elif kind == "J":
                if f[0] in self.jobs:
                    raise Mismatch(f"{f[0]} is there twice")
                self.jobs[f[0]] = dict(queue=f[1], state=f[2], attempt=int(f[3]), token=int(f[4]),
                                       key=f[5], batch=f[6], counted=f[7] == "1", errors=int(f[8]),
                                       progress=f[9], lease=int(f[10]), due=int(f[11]),
                                       started=int(f[12]), payload=f[13])
            elif kind == "B":
                self.batches[f[0]] = dict(total=int(f[1]), pending=int(f[2]), succeeded=int(f[3]),
                                          failed=int(f[4]), finished=f[5] == "1")
            elif kind == "L":
                self.locks[f[0], f[1]] = f[2]
            elif kind == "Q":
                self.queues[f[0]] = [int(n) for n in f[1:]]
        self.by_payload = {}
        for job_id, job in self.jobs.items():
            if job["payload"] in self.by_payload:
                raise Mismatch(f"payload {job['payload']} is there twice: {job_id}")
            self.by_payload[job["payload"]] = job_id


STATES = ["scheduled", "pending", "active", "retrying", "held", "completed", "dead", "cancelled"]
OVER = {"completed", "dead", "cancelled"}


def require(condition, what):
    if not condition:
        raise Mismatch(what)


class Model:
    def __init__(self):
        self.jobs, self.batches, self.locks = {}, {}, {}
        self.deleted, self.tokens = set(), set()
        self.throttles, self.claims = {}, {}  # by queue: rate and window; start times of claims
        self.open = {}  # client: the operation that was begun and not answered
        self.answered = 0

    # Read the clients' lines.

    def hear(self, line, soon):
        mark, client, number, *rest = line.split(" ")
        if mark == ">":
            self.open[client] = (number, rest[0], rest[1:], soon)
            return
        begun, verb, args, soon = self.open.pop(client)
        require(begun == number, f"client {client}: answer {number} to operation {begun}")
        getattr(self, "do_" + verb)(client, args, rest[0], rest[1:], soon)
        self.answered += 1

    # Operations with their results.

    def specs(self, client, args):
        """Return what an enqueue creates: one (spec, holder of its key or None) per job."""
        queue, taken, out = "q" + client, {}, []
        for arg in args:
            payload, when, retries, key = arg.rsplit(":", 3)
            holder = self.locks.get((queue, key), taken.get(key)) if key != "-" else None
            if key != "-" and holder is None:
                taken[key] = payload
            out.append(((payload, when, int(retries), key), holder))
        return out

    def create(self, client, job_id, spec, batch, soon):
        payload, when, retries, key = spec
        states = {"n": {"pending"}, "f": {"scheduled"}, "s": {"scheduled", "pending"}}[when]
        require(job_id not in self.jobs and job_id not in self.deleted, f"{job_id} was given twice")
        self.jobs[job_id] = Job("q" + client, payload, set(states), retries, key, batch)
        self.jobs[job_id].soon = soon
        if key != "-":
            self.locks["q" + client, key] = job_id
        if batch != "-":
            self.batches[batch]["total"] += 1
            self.batches[batch]["pending"] += 1

    def enqueue(self, client, args, batch, results, soon):
        made = {}
        for (spec, holder), (job_id, word) in zip(self.specs(client, args), results, strict=True):
            if holder is not None:
                require(word == "duplicate", f"{spec}: {word}, but {holder} has the key")
                require(job_id == made.get(holder, holder), f"{spec}: {job_id} is not {holder}")
                continue
            require(word == ("pending" if spec[1] == "n" else "scheduled"), f"{spec}: {word}")
            self.create(client, job_id, spec, batch, soon)
            made[spec[0]] = job_id

    def do_enqueue(self, client, args, code, results, soon):
        require(code == "OK", f"enqueue: {code}")
        self.enqueue(client, args, "-", [r.split(":") for r in results], soon)

    def do_batch(self, client, args, code, results, soon):
        require(code == "OK", f"batch: {code}")
        batch, *results = results
        self.open_batch(client, batch)
        self.enqueue(client, args, batch, [r.split(":") for r in results], soon)

    def open_batch(self, client, batch):
        require(batch not in self.batches, f"{batch} was given twice")
        self.batches[batch] = dict(total=0, pending=0, succeeded=0, failed=0, queue="cb" + client)

    def claim(self, client, job_id, token, attempt, lease, started, leaves):
        job = self.jobs.get(job_id)
        require(job is not None and job.queue == "q" + client, f"{job_id} was claimed from nowhere")
        require("pending" in job.states, f"{job_id} was claimed in {job.states}")
        require(attempt == job.attempt + 1, f"{job_id}: attempt {attempt} after {job.attempt}")
        require(token not in self.tokens, f"{job_id}: token {token} was given before")
        if "active" in job.states and job.lease is not None:
            require(started > job.lease, f"{job_id}: claimed at {started}, leased to {job.lease}")
        if job.due is not None:
            require(started >= job.due, f"{job_id}: claimed at {started}, due at {job.due}")
        self.tokens.add(token)
        self.claims.setdefault(job.queue, []).append(started)
        job.states, job.token, job.attempt, job.beaten = {"active"}, token, attempt, False
        job.lease, job.due = lease, None
        if leaves:  # no worker processes it, so its lease will expire
            job.states = {"active", "pending"}

    def do_claim(self, client, args, code, results, soon):
        require(code == "OK", f"claim: {code}")
        for result in results:
            job_id, *numbers = result.split(":")
            self.claim(client, job_id, *map(int, numbers), args[1] == "leaves")
        if len(results) < int(args[0]) and "q" + client not in self.throttles:
            left = [i for i, j in self.jobs.items()
                    if j.queue == "q" + client and j.states == {"pending"}]
            require(not left, f"{len(results)} of {args[0]} claimed, but {left[:3]} wait")

    def end(self, job_id, state, succeeded):
        job = self.jobs[job_id]
        if job.batch != "-" and not job.counted:
            batch = self.batches[job.batch]
            batch["pending"] -= 1
            batch["succeeded" if succeeded else "failed"] += 1
            job.counted = True
        if state != "dead" and self.locks.get((job.queue, job.key)) == job_id:
            del self.locks[job.queue, job.key]
        job.states = {state}

    def state_for(self, job_id, states, code, refusal):
        """Return the job if its state allows the operation, else None. Requires the matching result code."""
        job = self.jobs.get(job_id)
        wanted = "NOT_FOUND" if job is None else "OK" if job.states <= states else refusal
        require(code == wanted, f"{job_id}: answered {code}, {wanted} was due")
        return job if wanted == "OK" else None

    def do_ack(self, client, args, code, results, soon):
        if self.state_for(args[0], {"active"}, code, "ACK_ERROR"):
            self.end(args[0], "completed", True)

    def failed(self, job_id, soon, due):
        job = self.jobs[job_id]
        job.errors += 1
        job.lease, job.due = None, due
        if job.attempt >= job.retries:
            self.end(job_id, "dead", False)
        else:
            job.states = {"retrying", "pending"} if job.soon else {"retrying"}

    def do_fail(self, client, args, code, results, soon):
        if self.state_for(args[0], {"active"}, code, "FAIL_ERROR"):
            self.failed(args[0], soon, int(results[1]) or None)
            require(results[0] in self.jobs[args[0]].states, f"{args[0]} failed to {results[0]}")

    def do_heartbeat(self, client, args, code, results, soon):
        job = self.jobs.get(args[0])
        active = job is not None and job.states == {"active"}
        require(code == "OK", f"heartbeat: {code}")
        require(results[0] == ("renewed" if active else "stop"), f"{args[0]}: {results[0]}")
        if active:
            job.progress, job.beaten, job.lease = args[1], True, None

    def do_throttle(self, client, args, code, results, soon):
        require(code == "OK", f"throttle: {code}")
        self.throttles["q" + client] = int(args[0]), int(args[1]) * 1000000

    def do_cancel(self, client, args, code, results, soon):
        waits = {"scheduled", "pending", "active", "retrying"}
        if self.state_for(args[0], waits, code, "CANCEL_ERROR"):
            self.end(args[0], "cancelled", False)

    def do_delete(self, client, args, code, results, soon):
        job = self.jobs.get(args[0])
        require(code == ("NOT_FOUND" if job is None else "OK"), f"{args[0]}: {code}")
        if job is not None:
            self.remove(args[0])

    def remove(self, job_id):
        self.end(job_id, "gone", False)
        del self.jobs[job_id]
        self.deleted.add(job_id)

    # The operation that was in progress: find out whether it took effect.

    def resolve(self, dump):
        for client, (_, verb, args, soon) in list(self.open.items()):
            getattr(self, "maybe_" + verb)(client, args, soon, dump)
            del self.open[client]
        for job in self.jobs.values():
            if job.beaten and job.states == {"active"}:  # its worker is gone and the lease is short
                job.states = {"active", "pending"}

    def maybe_enqueue(self, client, args, soon, dump, batch="-"):
        new = [spec for spec, holder in self.specs(client, args) if holder is None]
        there = [spec for spec in new if spec[0] in dump.by_payload]
        require(len(there) in (0, len(new)), f"half of an enqueue is there: {there} of {new}")
        for spec in there:
            job_id = dump.by_payload[spec[0]]
            if batch == "-" and dump.jobs[job_id]["batch"] != "-":
                batch = dump.jobs[job_id]["batch"]
                self.open_batch(client, batch)
            self.create(client, job_id, spec, batch, soon)
        return bool(there)

    def maybe_batch(self, client, args, soon, dump):
        if not self.maybe_enqueue(client, args, soon, dump):
            for job in dump.jobs.values():  # a batch without jobs: its callback shows that it was opened
                batch = batch_of_callback(job)
                if job["queue"] == "cb" + client and batch not in self.batches:
                    self.open_batch(client, batch)

    def maybe_claim(self, client, args, soon, dump):
        claimed = [(i, dump.jobs[i]) for i, j in self.jobs.items()
                   if j.queue == "q" + client and "pending" in j.states and i in dump.jobs
                   and dump.jobs[i]["state"] in ("active", "pending")
                   and dump.jobs[i]["token"] != j.token]
        require(len(claimed) <= int(args[0]), f"{len(claimed)} claimed by a claim of {args[0]}")
        for job_id, job in claimed:
            self.claim(client, job_id, job["token"], job["attempt"], job["lease"] or None,
                       job["started"], args[1] == "leaves")

    def maybe_throttle(self, client, args, soon, dump):
        self.do_throttle(client, args, "OK", [], soon)  # if it had no effect, nothing was claimed since

    def maybe(self, job_id, dump, states, changed):
        job = self.jobs.get(job_id)
        return job is not None and job.states <= states and job_id in dump.jobs and \
            changed(dump.jobs[job_id])

    def maybe_ack(self, client, args, soon, dump):
        if self.maybe(args[0], dump, {"active"}, lambda j: j["state"] == "completed"):
            self.end(args[0], "completed", True)

    def maybe_fail(self, client, args, soon, dump):
        if self.maybe(args[0], dump, {"active"}, lambda j: j["state"] != "active"):
            self.failed(args[0], soon, dump.jobs[args[0]]["due"] or None)

    def maybe_heartbeat(self, client, args, soon, dump):
        if self.maybe(args[0], dump, {"active"}, lambda j: j["progress"] == args[1]):
            job = self.jobs[args[0]]
            job.progress, job.beaten, job.lease = args[1], True, None

    def maybe_cancel(self, client, args, soon, dump):
        waits = {"scheduled", "pending", "active", "retrying"}
        if self.maybe(args[0], dump, waits, lambda j: j["state"] == "cancelled"):
            self.end(args[0], "cancelled", False)

    def maybe_delete(self, client, args, soon, dump):
        if args[0] in self.jobs and args[0] not in dump.jobs:
            self.remove(args[0])

    # Compare the whole store with the whole model.

    def check(self, dump):
        for job_id, job in self.jobs.items():
            got = dump.jobs.get(job_id)
            require(got is not None, f"{job_id} is lost: {vars(job)}")
            require(got["state"] in job.states, f"{job_id} is {got['state']}, not {job.states}")
            for name in ("queue", "payload", "attempt", "token", "key", "batch", "counted",
                         "errors", "progress"):
                require(got[name] == getattr(job, name),
                        f"{job_id}: {name} is {got[name]}, not {getattr(job, name)}")
            self.check_times(job_id, job, got, dump.now)
        self.check_throttles()
        self.check_batches(dump)
        require(dump.locks == self.locks, f"locks: {set(dump.locks.items()) ^ set(self.locks.items())}")
        self.check_queues(dump)

    def check_times(self, job_id, job, got, now):
        """Require that leases and delays are as reported, and that no lease or delay ended early."""
        if got["state"] == "active" and job.lease is not None:
            require(got["lease"] == job.lease, f"{job_id}: leased to {got['lease']}, not {job.lease}")
        if got["state"] == "retrying" and job.due is not None:
            require(got["due"] == job.due, f"{job_id}: due at {got['due']}, not {job.due}")
        if got["state"] == "pending" and "active" in job.states and job.lease is not None:
            require(now > job.lease, f"{job_id}: its lease runs to {job.lease}, and it is {now}")
        if got["state"] == "pending" and "retrying" in job.states and job.due is not None:
            require(now >= job.due, f"{job_id}: its retry is due at {job.due}, and it is {now}")

    def check_throttles(self):
        """Require that no window has more claims than the rate, even if it contains crashes."""
        for queue, (rate, window) in self.throttles.items():
            times = sorted(self.claims.get(queue, []))
            for first, behind in zip(times, times[rate:]):
                require(behind - first >= window,
                        f"{queue}: {rate + 1} claims in {(behind - first) / 1e6} ms")
            self.claims[queue] = times[-rate:]

    def check_batches(self, dump):
        callbacks = {}
        for job_id, job in dump.jobs.items():
            if job_id in self.jobs:
                continue
            require(job["queue"].startswith("cb"), f"{job_id} is there, and nobody made it: {job}")
            batch = batch_of_callback(job)
            require(batch not in callbacks, f"{batch} was called back twice")
            callbacks[batch] = job["queue"]
        require(dump.batches.keys() == self.batches.keys(),
                f"batches: {dump.batches.keys() ^ self.batches.keys()}")
        for batch_id, batch in self.batches.items():
            got = dump.batches[batch_id]
            for name in ("total", "pending", "succeeded", "failed"):
                require(got[name] == batch[name],
                        f"{batch_id}: {name} is {got[name]}, not {batch[name]}")
            require(got["finished"] == (batch["pending"] == 0), f"{batch_id}: finished too early")
            require(callbacks.get(batch_id) == (batch["queue"] if batch["pending"] == 0 else None),
                    f"{batch_id}: its callback is {callbacks.get(batch_id)}")

    def check_queues(self, dump):
        count = {name: [0] * len(STATES) for name in dump.queues}
        for job in dump.jobs.values():
            count[job["queue"]][STATES.index(job["state"])] += 1
        require(count == dump.queues, f"the queues' numbers are {dump.queues}, counted {count}")


def batch_of_callback(job):
    """Return the batch of a callback job, read from its payload, or None."""
    at = job["payload"].find('"batch_id":"')
    return None if at < 0 else job["payload"][at + 12:].split('"')[0]
