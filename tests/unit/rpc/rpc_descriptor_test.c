#include "rpc/rpc_descriptor.h"

#include "lib/expect.h"

#define WORKER "corvo/v1/worker.proto"
#define HEALTH "grpc/health/v1/health.proto"

/* The names that protoregistry.Files.FindDescriptorByName of the reference implementation finds. */
static const struct {
    const char *symbol, *file; /* file "": there is no such symbol */
} symbols[] = {
    {"corvo.v1.WorkerService", WORKER},
    {"corvo.v1.WorkerService.Enqueue", WORKER},
    {"corvo.v1.WorkerService.Nope", ""},
    {"corvo.v1.WorkerService.Enqueue.queue", ""},
    {"corvo.v1.EnqueueRequest", WORKER},
    {"corvo.v1.EnqueueRequest.queue", WORKER},
    {"corvo.v1.EnqueueRequest.agent", WORKER},
    {"corvo.v1.EnqueueRequest.nope", ""},
    {"corvo.v1.EnqueueRequest.payloadJson", ""},
    {"corvo.v1.EnqueueRequest.agent.max_iterations", ""},
    {"corvo.v1.HeartbeatRequest.JobsEntry", WORKER},
    {"corvo.v1.HeartbeatRequest.JobsEntry.key", WORKER},
    {"corvo.v1.HeartbeatRequest.JobsEntry.nope", ""},
    {"corvo.v1.HeartbeatRequest.JobsEntry.key.x", ""},
    {"corvo.v1.JobsEntry", ""},
    {"corvo.v1", ""},
    {"corvo.v1.", ""},
    {"corvo.v1.EnqueueRequest.", ""},
    {"corvo.v1.EnqueueRequest..queue", ""},
    {"corvo.v1.EnqueueReques", ""},
    {"corvo.v1.Nothing", ""},
    {".corvo.v1.EnqueueRequest", ""},
    {"corvo.v2.EnqueueRequest", ""},
    {"EnqueueRequest", ""},
    {"grpc.health.v1.Health.Watch", HEALTH},
    {"grpc.health.v1.HealthCheckResponse.status", HEALTH},
    {"grpc.health.v1.HealthCheckResponse.ServingStatus", HEALTH},
    {"grpc.health.v1.HealthCheckResponse.NOT_SERVING", HEALTH}, /* a sibling of its enum */
    {"grpc.health.v1.HealthCheckResponse.ServingStatus.NOT_SERVING", ""},
    {"grpc.health.v1.HealthCheckResponse.NOPE", ""},
    {"google.protobuf.Timestamp.nanos", "google/protobuf/timestamp.proto"},
    {"google.protobuf.Duration", ""},
    {"", ""},
};

static void test_symbols(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(symbols); i++) {
        ROW(symbols[i].symbol);
        expect_str(rpc_descriptor_file_of(str_from_z(symbols[i].symbol)),
                   str_from_z(symbols[i].file));
    }
}

TEST_GROUP(rpc_descriptor, cmocka_unit_test(test_symbols));
