/*
 * Webhook: delivers events to registered URLs (http-api.md 16.2).
 *
 * One thread with its own loop delivers, only while this node leads. Each webhook reads the event
 * log from its position, selects the events it wants and posts them, several at a time. Two events
 * of the same job are never sent at once, so that a receiver sees the events of a job in order. The
 * position is reported to the state machine about once a second, and the next leader continues from
 * there. Requests that were in progress are then sent again, so delivery is at least once.
 *
 *   event log --> [line of deliveries] --> outgoing request --> settled --> position --> mark
 *                        ^                      | failed
 *                        +------ pause k² ------+
 *
 * Guarantees: a slow or unavailable receiver delays only its own webhook and uses a bounded amount
 * of memory. A host that hangs gets few of the concurrent requests (courier.h). A webhook that
 * falls behind what the log keeps skips to the oldest event; that is counted and logged.
 */
#pragma once

#include <stdint.h>

#include "engine/engine.h"
#include "outgoing/outgoing_guard.h"

struct webhook_sender;

struct webhook_config {
    struct engine *engine;
    const struct outgoing_guard *guard; /* must outlive the sender; NULL: no restriction */
    const char *user_agent;
};

struct webhook_sender *webhook_open(const struct webhook_config *config);

/* Cancel pending requests, report the positions a last time and end the thread. Call before the
 * engine is closed. NULL is allowed. */
void webhook_close(struct webhook_sender *s);

/* Totals since the start, on this node; from in_flight on, current values. */
/* clang-format off */
#define WEBHOOK_STATS_LIST(X) \
    X(attempts)   /* requests made */ \
    X(delivered)  /* events answered with 2xx */ \
    X(failed)     /* events given up after the last attempt */ \
    X(skipped)    /* events removed from the log before their turn */ \
    X(in_flight)  /* requests in progress */ \
    X(waiting)    /* events in the lines, including those in progress */ \
    X(slow)       /* requests in the slow lane: see courier.h */ \
    X(hosts_hung) /* hosts that timed out and have not answered since */ \
    X(held_back)  /* webhooks waiting for a slot */
/* clang-format on */

struct webhook_stats {
#define WEBHOOK_STATS_MEMBER(name) uint64_t name;
    WEBHOOK_STATS_LIST(WEBHOOK_STATS_MEMBER)
#undef WEBHOOK_STATS_MEMBER
};

/* Any thread. */
void webhook_stats(const struct webhook_sender *s, struct webhook_stats *out);
