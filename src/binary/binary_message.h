/*
 * Binary_message: encodes and decodes frames and their contents (rpc.md A.1, A.2). Numbers are
 * little-endian. A text is preceded by its length, in one byte unless noted otherwise. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "svc/svc_beat.h"
#include "svc/svc_caller.h"
#include "svc/svc_enqueue.h"
#include "svc/svc_work.h"

enum {
    BINARY_MESSAGE_HEAD = 9,
    BINARY_MESSAGE_BYTES_MAX = 16 << 20, /* of a frame's payload */
    BINARY_MESSAGE_AUTH_BYTES = 1 + 255, /* of an auth frame's payload: one text */
};

enum binary_message_type {
    BINARY_ENQUEUE = 0x01,
    BINARY_SUBSCRIBE = 0x02,
    BINARY_ACK = 0x03,
    BINARY_PING = 0x04,
    BINARY_AUTH = 0x05,
    BINARY_HEARTBEAT = 0x06,
    BINARY_FAIL = 0x07,
    BINARY_CANCELLED = 0x08,  /* pushed */
    BINARY_NOT_LEADER = 0x09, /* pushed */
    BINARY_BULK = 0x14,
    BINARY_ANSWER = 0x80, /* added to the type of the request */
    BINARY_JOBS = 0x82,   /* pushed */
    BINARY_ERROR = 0xff,
};

struct binary_message_head {
    uint8_t type;
    uint32_t number; /* chosen by the client, echoed in the response */
    uint32_t len;
};

/* False if there are fewer bytes than a head has. */
ATTR_NODISCARD bool binary_message_head(struct str bytes, struct binary_message_head *out);

/* Write a frame: begin writes the head, finish fills in the length of what follows it. */
size_t binary_message_begin(struct buf *out, uint8_t type, uint32_t number);
void binary_message_finish(struct buf *out, size_t begin);
/* Append a text, truncated to 255 bytes. */
void binary_message_text(struct buf *out, struct str text);

/* Requests. Lists are in the caller's arena, texts are views of the payload. ERR_PARSE if the bytes
 * are malformed; ERR_VALIDATION names the field. */

struct binary_message_enqueue {
    struct svc_enqueue_job *jobs;
    size_t count;
};
ATTR_NODISCARD enum err_code binary_message_enqueue(const struct svc_caller *who,
                                                    struct str payload,
                                                    struct binary_message_enqueue *out,
                                                    struct err *err);

struct binary_message_subscribe {
    uint16_t credits;
    uint32_t lease_ms;
    struct str worker_id;
    struct str *queues;
    size_t queue_count;
};
ATTR_NODISCARD enum err_code binary_message_subscribe(const struct svc_caller *who,
                                                      struct str payload,
                                                      struct binary_message_subscribe *out,
                                                      struct err *err);

struct binary_message_acks {
    struct svc_work_ack *acks;
    size_t count;
};
ATTR_NODISCARD enum err_code binary_message_acks(const struct svc_caller *who, struct str payload,
                                                 struct binary_message_acks *out, struct err *err);

struct binary_message_fails {
    struct svc_work_fail *fails;
    size_t count;
};
ATTR_NODISCARD enum err_code binary_message_fails(const struct svc_caller *who, struct str payload,
                                                  struct binary_message_fails *out,
                                                  struct err *err);

ATTR_NODISCARD enum err_code binary_message_beats(const struct svc_caller *who, struct str payload,
                                                  struct svc_beats *out, struct err *err);

/* Ids to cancel, which is the only action. */
struct binary_message_ids {
    struct str *ids;
    size_t count;
};
ATTR_NODISCARD enum err_code binary_message_bulk(const struct svc_caller *who, struct str payload,
                                                 struct binary_message_ids *out, struct err *err);

ATTR_NODISCARD enum err_code binary_message_auth(struct str payload, struct str *out_token,
                                                 struct err *err);

/* Append a pushed job. */
void binary_message_job(struct buf *out, const struct svc_work_fetched *job);
