/*
 * Webhook: events on their way to the URLs that asked for them (http-api.md 16.2).
 *
 * One thread with a loop of its own delivers, and only while this node leads. Each webhook reads
 * the event log from its position, picks what it wants and posts it, some at a time, but never two
 * events of one job at once, so that a receiver sees each job's events in order. How far it has
 * come is reported to the state machine about once a second: whoever leads next goes on from there.
 * What was under way then is sent again, so delivery is at least once.
 *
 *   event log --> [line of deliveries] --> outgoing request --> settled --> position --> mark
 *                        ^                      | failed
 *                        +------ pause k² ------+
 *
 * Promises: a receiver that is slow or gone costs its own webhook time and a bounded amount of
 * memory, and nobody else anything: a host that hangs gets few of the requests that may be under
 * way (courier.h). One that falls behind what the log keeps skips to the oldest event; that is
 * counted and logged.
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
