/*
 * Proto_wire: the wire format of a message: tags, and the four wire types still in use.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/str.h"
#include "proto/proto.h"

enum proto_wire {
    PROTO_WIRE_VARINT = 0,
    PROTO_WIRE_FIXED64 = 1,
    PROTO_WIRE_BYTES = 2,
    PROTO_WIRE_GROUP = 3,
    PROTO_WIRE_GROUP_END = 4,
    PROTO_WIRE_FIXED32 = 5,
};

/* Field numbers of google.protobuf.Timestamp. */
enum { PROTO_TIME_SECONDS = 1, PROTO_TIME_NANOS = 2 };

/* The wire type of a kind. */
extern const enum proto_wire proto_wire__of[PROTO_KIND_COUNT];

/* Iterates over the fields of a message. Never reads past the end; after invalid bytes there are
 * no more fields. */
struct proto_scan {
    const uint8_t *at;
    const uint8_t *end;
    bool bad;

    /* The current field. */
    uint32_t number;
    enum proto_wire wire;
    uint64_t value;   /* varint, or the bits of a fixed number */
    struct str bytes; /* PROTO_WIRE_BYTES */
};

struct proto_scan proto_wire__scan(struct str bytes);

/* Advance to the next field, skipping groups. False at the end, and if the rest is malformed: then
 * s->bad is set. */
ATTR_NODISCARD bool proto_wire__next(struct proto_scan *s);
