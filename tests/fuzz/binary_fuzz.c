/*
 * Fuzz: frames of the binary worker protocol from any bytes. Every decoder reads the payload or
 * reports an error.
 */
#include <stdint.h>

#include "base/arena.h"
#include "base/check.h"
#include "binary/binary_message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ARENA_BYTES = 16 << 20 };

static void decode(const struct svc_caller *who, struct str payload)
{
    struct binary_message_enqueue jobs;
    struct binary_message_subscribe subscription;
    struct binary_message_acks acks;
    struct binary_message_fails fails;
    struct binary_message_ids ids;
    struct svc_beats beats;
    struct str token;
    struct err err;
    enum err_code code[] = {
        binary_message_enqueue(who, payload, &jobs, &err),
        binary_message_subscribe(who, payload, &subscription, &err),
        binary_message_acks(who, payload, &acks, &err),
        binary_message_fails(who, payload, &fails, &err),
        binary_message_beats(who, payload, &beats, &err),
        binary_message_bulk(who, payload, &ids, &err),
        binary_message_auth(payload, &token, &err),
    };
    /* A count cannot exceed the size of the payload. */
    CHECK(code[0] != ERR_OK || jobs.count <= payload.len);
    CHECK(code[2] != ERR_OK || acks.count <= payload.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct binary_message_head head;
    struct str bytes = str_from(data, size);
    struct arena *arena = arena_new(ARENA_BYTES);
    struct svc_caller who = {.arena = arena};
    if (binary_message_head(bytes, &head) && head.len <= size - BINARY_MESSAGE_HEAD) {
        decode(&who, str_from(data + BINARY_MESSAGE_HEAD, head.len));
    }
    arena_free(arena);
    return 0;
}
