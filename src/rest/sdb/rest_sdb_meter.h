/*
 * Rest_sdb_meter: request counters of the Scheduled-DB API (scheduler.md 12). Any thread.
 */
#pragma once

#include "base/meter.h"

struct rest_call;
struct rest_numbers;

enum { REST_SDB_ROUTES = 12, REST_SDB_CODES = 13 };

struct rest_sdb_meter {
    atomic_uint_fast64_t created[2], deleted[2], cancelled[2]; /* once, recurring */
    atomic_uint_fast64_t refused[2];                           /* memory, count */
    struct {
        atomic_uint_fast64_t by_code[REST_SDB_CODES];
        atomic_uint_fast64_t forwarded; /* forwarded to the leader */
        struct meter took;
    } routes[REST_SDB_ROUTES];
};

/* Count the response to a request of the API. */
void rest_sdb_meter__answered(struct rest_call *c, int status, int64_t took_ns);

/* Count a request of the API that is forwarded to the leader. */
void rest_sdb_meter__forwarded(struct rest_call *c);

/* Append the metrics of the API to out. */
void rest_sdb_meter__write(struct rest_call *c, const struct rest_numbers *v, struct buf *out);
