/*
 * Api_sdb_meter: what the Scheduled-DB face counts of its requests (scheduler.md 12). Any thread.
 */
#pragma once

#include "base/meter.h"

struct api_call;
struct api_numbers;

enum { API_SDB_ROUTES = 12, API_SDB_CODES = 13 };

struct api_sdb_meter {
    atomic_uint_fast64_t created[2], deleted[2], cancelled[2]; /* once, recurring */
    atomic_uint_fast64_t refused[2];                           /* memory, count */
    struct {
        atomic_uint_fast64_t by_code[API_SDB_CODES];
        atomic_uint_fast64_t forwarded; /* to the leader */
        struct meter took;
    } routes[API_SDB_ROUTES];
};

/* A request of the face is answered. */
void api_sdb_meter__answered(struct api_call *c, int status, int64_t took_ns);

/* A request of the face goes to the leader. */
void api_sdb_meter__forwarded(struct api_call *c);

/* The families of the face, behind what is in out. */
void api_sdb_meter__write(struct api_call *c, const struct api_numbers *v, struct buf *out);
