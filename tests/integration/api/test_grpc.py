"""The RPC service with a third-party client: Debian's grpcio."""
import queue as queues
import socket
import unittest

import grpc
from google.protobuf import descriptor_pb2

import test_cluster
from grpc_client import Reflection, Service, channel
from harness import ApiTest, Server, unique, wait_until

WORKER = "corvo.v1.WorkerService"


class Frames:
    """A lifecycle stream: sends frames and receives responses."""

    def __init__(self, worker, **options):
        self.worker, self.frames = worker, queues.Queue()
        self.answers = worker.StreamLifecycle(iter(self.frames.get, None), **options)

    def send(self, **fields):
        self.frames.put(self.worker.StreamLifecycleRequest(**fields))

    def exchange(self, **fields):
        self.send(**fields)
        return next(self.answers)

    def close(self):
        self.frames.put(None)


class GrpcTest(ApiTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.channel = channel(cls.server)
        cls.addClassCleanup(cls.channel.close)
        cls.worker = Service(cls.channel, WORKER)

    def open(self, **options):
        frames = Frames(self.worker, **options)
        self.addCleanup(frames.close)
        return frames

    def refused(self, code, call, *args, **fields):
        with self.assertRaises(grpc.RpcError) as caught:
            call(*args, **fields)
        self.assertEqual(caught.exception.code(), code, caught.exception)
        return caught.exception.details()


class Methods(GrpcTest):
    def test_every_unary_method(self):
        queue = unique("q")
        job = self.worker.Enqueue(queue=queue, payload_json='{"n":1}')
        self.assertEqual(job.status, "pending")
        got = self.worker.Fetch(queues=[queue], worker_id="w", hostname="h", lease_duration=30)
        self.assertEqual((got.found, got.job_id, got.payload_json, got.attempt), (True, job.job_id, '{"n":1}', 1))
        self.assertGreater(got.lease_token, 0)
        beats = self.worker.HeartbeatRequest()
        beats.jobs[job.job_id].progress_json = '{"at":5}'
        beats.jobs["job_none"].progress_json = ""
        beat = self.worker.Heartbeat(message=beats)
        self.assertEqual({key: value.status for key, value in beat.jobs.items()},
                         {job.job_id: "ok", "job_none": "cancel"})
        self.worker.Ack(job_id=job.job_id, result_json='{"ok":true}', lease_token=got.lease_token)
        self.assertEqual(self.api.job(job.job_id)["result"], {"ok": True})
        ids = [self.worker.Enqueue(queue=queue).job_id for _ in range(3)]
        jobs = self.worker.FetchBatch(queues=[queue], count=3).jobs
        self.assertEqual([job.job_id for job in jobs], ids)
        failed = self.worker.Fail(job_id=ids[0], error="broken")
        self.assertEqual((failed.status, failed.attempts_remaining), ("retrying", 2))
        self.assertGreater(failed.next_attempt_at.seconds, 0)
        self.assertEqual(self.worker.AckBatch(items=[{"job_id": id} for id in ids]).acked, 2)
        self.assertRegex(self.worker.GetServerInfo().server_version, r"^\d+\.\d+")

    def test_errors(self):
        self.assertEqual(self.refused(grpc.StatusCode.INVALID_ARGUMENT, self.worker.Enqueue), "queue is required")
        self.refused(grpc.StatusCode.NOT_FOUND, self.worker.Ack, job_id="job_" + "0" * 26)
        self.refused(grpc.StatusCode.RESOURCE_EXHAUSTED, self.worker.Enqueue, queue="q",
                     payload_json=" " * (64 << 20))
        # Non-ASCII characters are escaped in the message.
        self.assertIn("täglich\n%", self.refused(
            grpc.StatusCode.INVALID_ARGUMENT, self.worker.Ack, job_id="x", agent_status="täglich\n%"))

    def test_deadlines(self):
        self.assertFalse(self.worker.Fetch(queues=[unique("q")], timeout=2).found)  # before the deadline
        self.refused(grpc.StatusCode.DEADLINE_EXCEEDED, lambda: list(self.worker.Subscribe(timeout=0.3)))
        frames = self.open(timeout=0.3)
        self.refused(grpc.StatusCode.DEADLINE_EXCEEDED, lambda: next(frames.answers))

    def test_a_cancelled_fetch_takes_no_job(self):
        queue = unique("q")
        waiting = self.api.fetches_waiting()
        call = self.channel.unary_unary(f"/{WORKER}/Fetch", self.worker.FetchRequest.SerializeToString)
        future = call.future(self.worker.FetchRequest(queues=[queue]))
        wait_until(lambda: self.api.fetches_waiting() == waiting + 1, "the fetch to wait")
        future.cancel()
        wait_until(lambda: self.api.fetches_waiting() == waiting, "the fetch to end")
        job = self.worker.Enqueue(queue=queue).job_id
        self.assertEqual(self.worker.Fetch(queues=[queue]).job_id, job)


class Streams(GrpcTest):
    def test_a_thousand_jobs(self):
        queue, frames = unique("q"), self.open()
        made = frames.exchange(request_id=1, enqueues=[{"queue": queue}] * 1000)
        self.assertEqual(len(made.enqueued_job_ids), 1000)
        done, acks, number = 0, [], 2
        while done < 1000:
            answer = frames.exchange(request_id=number, queues=[queue], worker_id="w", fetch_count=100, acks=acks)
            self.assertEqual((answer.request_id, answer.error), (number, ""))
            done, number = done + answer.acked, number + 1
            acks = [{"job_id": job.job_id, "lease_token": job.lease_token} for job in answer.jobs]
        self.assertEqual(self.api.queue(queue)["completed"], 1000)

    def test_half_close_ends_it(self):
        frames = self.open()
        self.assertEqual(frames.exchange(request_id=9).request_id, 9)
        frames.close()
        self.assertEqual(list(frames.answers), [])
        self.assertEqual(frames.answers.code(), grpc.StatusCode.OK)

    def test_cancelling_ends_it(self):
        queue, frames = unique("q"), self.open()
        frames.send(queues=[queue], fetch_count=1)
        frames.answers.cancel()
        job = self.worker.Enqueue(queue=queue).job_id
        self.assertEqual(self.worker.Fetch(queues=[queue]).job_id, job)

    def test_ten_errors_end_it(self):
        frames = self.open()
        for _ in range(10):
            self.assertNotEqual(frames.exchange(fetch_count=1).error, "")
        self.assertEqual(self.refused(grpc.StatusCode.ABORTED, lambda: next(frames.answers)),
                         "too many consecutive errors")


class Events(GrpcTest):
    def take(self, call, count):
        found = []
        for event in call:
            if event.type:
                found.append(event)
            if len(found) == count:
                break
        return found

    def subscribe(self, **fields):
        call = self.worker.Subscribe(**fields)
        self.addCleanup(call.cancel)
        return call

    def test_events_are_pushed_and_filtered(self):
        queue, other = unique("q"), unique("q")
        call = self.subscribe(queues=[queue, ""], types=["job.completed", "started", ""])
        for name in (other, queue):
            job = self.worker.Enqueue(queue=name).job_id
            self.worker.Fetch(queues=[name], worker_id="w7")
            self.worker.Ack(job_id=job)
        started, completed = self.take(call, 2)
        self.assertEqual((started.type, started.queue, started.job_id), ("started", queue, job))
        self.assertEqual(started.data_json, '{"worker_id":"w7","attempt":1}')
        self.assertEqual((completed.type, completed.job_id, completed.data_json), ("completed", job, ""))
        self.assertGreater(completed.seq, started.seq)
        self.assertGreater(completed.at_ns, 0)
        of_job = self.take(self.subscribe(job_ids=[job]), 3)
        self.assertEqual([event.type for event in of_job], ["enqueued", "started", "completed"])

    def test_resume_has_no_gap_and_no_repetition(self):
        queue = unique("q")
        ids = [self.worker.Enqueue(queue=queue).job_id for _ in range(300)]
        seen, last = [], 0
        while len(seen) < 300:
            part = self.take(self.subscribe(queues=[queue], last_event_id=last), min(70, 300 - len(seen)))
            seen, last = seen + part, part[-1].seq
        self.assertEqual([event.job_id for event in seen], ids)

    def test_a_quiet_stream_is_kept_alive(self):
        """Every 15 s an empty event is sent (rpc.md 12)."""
        event = next(self.subscribe(queues=[unique("q")]))
        self.assertEqual(event, type(event)())

    def test_a_type_that_is_none(self):
        self.assertIn("types: got 'nonsense'", self.refused(
            grpc.StatusCode.INVALID_ARGUMENT, lambda: next(self.worker.Subscribe(types=["nonsense"]))))

    def test_namespaces_see_their_own(self):
        queue = unique("q")
        call = self.subscribe(types=["enqueued"], queues=[queue], metadata=[("x-corvo-namespace", "acme")])
        self.worker.Enqueue(queue=queue)
        job = self.worker.Enqueue(queue=queue, metadata=[("x-corvo-namespace", "acme")]).job_id
        self.assertEqual([(event.job_id, event.queue) for event in self.take(call, 1)], [(job, queue)])

    def test_a_reader_that_stands_still_holds_nobody_up(self):
        queue = unique("q")
        slow = self.subscribe(queues=[queue])
        fast = self.subscribe(queues=[queue])
        stream = Frames(self.worker)
        self.addCleanup(stream.close)
        for number in range(20):
            stream.exchange(request_id=number, enqueues=[{"queue": queue}] * 500)
        self.assertEqual(len(self.take(fast, 10_000)), 10_000)
        seqs = [event.seq for event in self.take(slow, 10_000)]
        self.assertEqual(seqs, sorted(set(seqs)))


class Reflected(GrpcTest):
    def test_both_versions_tell_the_same(self):
        for version in ("v1", "v1alpha"):
            with self.subTest(version):
                reflection = Reflection(self.channel, version)
                self.assertEqual(reflection.services(), [WORKER, "grpc.health.v1.Health"])
                files = reflection.files(f"{WORKER}.Enqueue")
                self.assertEqual(set(files), {"corvo/v1/worker.proto", "google/protobuf/timestamp.proto"})
                file = files["corvo/v1/worker.proto"]
                self.assertEqual(len(file.service[0].method), 10)
                kinds = {m.name: (m.client_streaming, m.server_streaming) for m in file.service[0].method}
                self.assertEqual(kinds["StreamLifecycle"], (True, True))
                self.assertEqual(kinds["Subscribe"], (False, True))
                self.assertEqual(kinds["Ack"], (False, False))

    def test_what_there_is_not(self):
        answers = Reflection(self.channel).ask({"file_containing_symbol": "corvo.v1.Nothing"},
                                               {"file_containing_symbol": "corvo.v1.EnqueueRequest.nope"},
                                               {"file_by_filename": "nothing.proto"},
                                               {"file_containing_extension": {"containing_type": "corvo.v1.Job"}},
                                               {"all_extension_numbers_of_type": "corvo.v1.Nothing"},
                                               {"list_services": ""})
        self.assertEqual([answer.error_response.error_code for answer in answers], [5, 5, 5, 5, 5, 0])

    def test_types_have_no_extensions(self):
        answer, = Reflection(self.channel).ask({"all_extension_numbers_of_type": "corvo.v1.EnqueueRequest"})
        numbers = answer.all_extension_numbers_response
        self.assertEqual((numbers.base_type_name, list(numbers.extension_number)), ("corvo.v1.EnqueueRequest", []))

    def test_the_timestamp_is_the_known_one(self):
        from google.protobuf import timestamp_pb2
        known = descriptor_pb2.FileDescriptorProto()
        timestamp_pb2.DESCRIPTOR.CopyToProto(known)
        said = Reflection(self.channel).files("google.protobuf.Timestamp")["google/protobuf/timestamp.proto"]
        self.assertEqual([(f.name, f.number, f.type) for f in said.message_type[0].field],
                         [(f.name, f.number, f.type) for f in known.message_type[0].field])

    def test_health(self):
        health = Service(self.channel, "grpc.health.v1.Health")
        self.assertEqual(health.Check().status, 1)
        self.assertEqual(health.Check(service=WORKER).status, 1)
        self.refused(grpc.StatusCode.NOT_FOUND, health.Check, service="nothing")
        unknown = health.Watch(service="nothing")
        self.addCleanup(unknown.cancel)
        self.assertEqual(next(unknown).status, 3)
        statuses = health.descriptor.methods[0].output_type.enum_types[0].values_by_name
        self.assertEqual(statuses["NOT_SERVING"].number, 2)

    def test_the_schema_is_served(self):
        answer = self.api.send("GET", "/corvo.v1.proto")
        self.assertEqual(answer.status, 200)
        self.assertIn(b"service WorkerService {", answer.body)

    def test_calls_are_counted_by_path(self):
        self.worker.GetServerInfo()
        page = self.api.send("GET", "/metrics").body.decode()
        self.assertIn(f'corvo_http_requests_total{{method="POST",route="/{WORKER}/GetServerInfo"}}', page)


class Compression(unittest.TestCase):
    def test_both_ways(self):
        with Server("--no-compression=false") as server, channel(server) as found:
            worker = Service(found, WORKER)
            queue, payload = unique("q"), '"' + "text " * 20_000 + '"'
            job = worker.Enqueue(queue=queue, payload_json=payload, compression=grpc.Compression.Gzip)
            self.assertEqual(worker.Fetch(queues=[queue]).payload_json, payload)
            frames = Frames(worker, compression=grpc.Compression.Gzip)
            frames.send(enqueues=[{"queue": queue, "payload_json": payload}] * 3, queues=[queue], fetch_count=1,
                        acks=[{"job_id": job.job_id}])
            answer = next(frames.answers)
            self.assertEqual((answer.error, answer.acked, len(answer.enqueued_job_ids)), ("", 1, 3))
            frames.close()

    def test_off_it_is_refused(self):
        with Server() as server, channel(server) as found:
            worker = Service(found, WORKER)
            with self.assertRaises(grpc.RpcError) as caught:
                worker.Enqueue(queue="q", payload_json='"' + "x" * 1000 + '"', compression=grpc.Compression.Gzip)
            self.assertEqual(caught.exception.code(), grpc.StatusCode.UNIMPLEMENTED)


class Forwarded(unittest.TestCase):
    takes_long = True

    def test_a_stream_whose_leader_dies(self):
        with test_cluster.Cluster(3) as cluster:
            leader, follower = cluster.leader(), cluster.followers()[0]
            link = channel(follower)
            self.addCleanup(link.close)
            frames = Frames(Service(link, WORKER), metadata=[("x-corvo-proxy-stream", "1")])
            self.addCleanup(frames.close)
            self.assertEqual(frames.exchange(request_id=1).request_id, 1)
            leader.kill()
            with self.assertRaises(grpc.RpcError) as caught:
                next(frames.answers)
            self.assertEqual((caught.exception.code(), caught.exception.details()),
                             (grpc.StatusCode.UNAVAILABLE, "leader proxy unavailable"))


class Restart(unittest.TestCase):
    def test_a_stop_is_told_and_the_channel_comes_back(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with Server("--bind", f"127.0.0.1:{port}") as server:
            found = channel(server, **{"grpc.initial_reconnect_backoff_ms": 100, "grpc.max_reconnect_backoff_ms": 100})
            self.addCleanup(found.close)
            worker, health = Service(found, WORKER), Service(found, "grpc.health.v1.Health")
            events, watch, frames = worker.Subscribe(), health.Watch(), Frames(worker)
            self.assertEqual(next(watch).status, 1)
            self.assertEqual(frames.exchange(request_id=1).request_id, 1)
            job = worker.Enqueue(queue="q").job_id
            last = next(events).seq
            server.terminate()
            for call, statuses in ((events, []), (watch, [2])):  # NOT_SERVING is sent before the end
                with self.assertRaises(grpc.RpcError) as caught:
                    for answer in call:
                        if hasattr(answer, "status"):
                            statuses.remove(answer.status)
                self.assertEqual(caught.exception.code(), grpc.StatusCode.UNAVAILABLE)
                self.assertEqual(statuses, [])
            self.assertEqual(list(frames.answers), [])
            self.assertEqual(frames.answers.code(), grpc.StatusCode.OK)
            server.start()
            got = worker.Fetch(queues=["q"], wait_for_ready=True)
            self.assertEqual(got.job_id, job)
            started = next(worker.Subscribe(last_event_id=last))
            self.assertEqual((started.type, started.seq), ("started", last + 1))
