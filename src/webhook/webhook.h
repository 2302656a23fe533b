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
    const struct outgoing_guard *guard; /* outlives the sender; NULL: every address passes */
    const char *user_agent;
};

struct webhook_sender *webhook_open(const struct webhook_config *config);

/* Breaks off what is under way, reports the positions a last time and ends the thread. Before the
 * engine is closed. NULL is fine. */
void webhook_close(struct webhook_sender *s);

/* Since the start, on this node; those from in_flight on are of now. */
/* clang-format off */
#define WEBHOOK_STATS_LIST(X) \
    X(attempts)   /* requests made */ \
    X(delivered)  /* events answered with 2xx */ \
    X(failed)     /* events given up after the last attempt */ \
    X(skipped)    /* events that were gone from the log before their turn came */ \
    X(in_flight)  /* requests under way */ \
    X(waiting)    /* events in the lines, those under way included */ \
    X(slow)       /* requests under way in the slow lane: see courier.h */ \
    X(hosts_hung) /* hosts that let a request's time pass and have not answered since */ \
    X(held_back)  /* webhooks that wait for a place */
/* clang-format on */

struct webhook_stats {
#define WEBHOOK_STATS_MEMBER(name) uint64_t name;
    WEBHOOK_STATS_LIST(WEBHOOK_STATS_MEMBER)
#undef WEBHOOK_STATS_MEMBER
};

/* Any thread. */
void webhook_stats(const struct webhook_sender *s, struct webhook_stats *out);
