/*
 * Webhook_int: shared by the files of the sender. Everything belongs to its thread, except the
 * counters.
 */
#pragma once

#include <stdatomic.h>

#include <uv.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/limits.h"
#include "courier/courier.h"
#include "event/event_match.h"
#include "event/event_pages.h"
#include "outgoing/outgoing.h"
#include "webhook/webhook.h"
#include "webhook/webhook_body.h"

struct webhook_counters {
#define WEBHOOK_COUNTERS_MEMBER(name) atomic_uint_fast64_t name;
    WEBHOOK_STATS_LIST(WEBHOOK_COUNTERS_MEMBER)
#undef WEBHOOK_COUNTERS_MEMBER
};

enum webhook_delivery_state {
    WEBHOOK_WAITING, /* not sent yet */
    WEBHOOK_SENT,    /* a request is in progress */
    WEBHOOK_PAUSED,  /* after a failed attempt, until due_ms */
    WEBHOOK_SETTLED, /* answered or given up; removed once all before it are settled */
};

/* An event to deliver to one webhook. */
struct webhook_delivery {
    struct webhook_delivery *next; /* in log order */
    struct webhook_line *line;
    enum webhook_delivery_state state;
    uint64_t seq;
    enum store_event_type type;
    struct id job;
    struct buf event; /* JSON */
    uint32_t attempt; /* attempts so far */
    uint64_t due_ms;
    struct outgoing_request request;
    struct courier_call call;
    struct buf body;
    char signature[WEBHOOK_BODY_SIGNATURE_MAX];
};

/* One webhook. */
struct webhook_line {
    struct webhook_line *next;
    struct webhook_sender *sender;
    bool listed;  /* while the list is reloaded: found again */
    bool dropped; /* being removed; sends nothing more */

    /* its record; the texts are in arena */
    struct arena *arena;
    struct str id;    /* internal name */
    struct str shown; /* the id as visible in its namespace */
    const char *url;
    struct str secret;
    struct event_match match;
    uint32_t retry_limit;
    struct wall created_at;

    uint64_t read; /* the first event not examined yet */
    struct webhook_delivery *first, **last;
    size_t count;
    size_t bytes;
    struct courier_line place;
    unsigned sent;   /* deliveries in state WEBHOOK_SENT */
    uint64_t due_ms; /* end of the earliest pause; UINT64_MAX: none */
    bool failing;    /* the last event was given up; logged only once */

    /* reported to the machine */
    uint64_t marked;                       /* position stored in the machine */
    uint64_t mark_sent;                    /* position of the report in progress */
    uint64_t results;                      /* finished attempts */
    uint64_t results_marked, results_sent; /* the same for `results` */
    uint32_t last_status;
    char last_error[LIMIT_WEBHOOK_ERROR_BYTES];
    struct wall last_at;
};

struct webhook_sender {
    struct webhook_config config;
    uv_thread_t thread;
    uv_sem_t opened;
    uv_loop_t loop;
    struct mailbox box;
    struct engine_notifier *notifier;
    struct outgoing *outgoing;
    struct courier *courier;
    struct event_pages *pages;
    uv_timer_t timer; /* for pauses and reports */
    uv_idle_t more;   /* active while a line has events to read */
    struct webhook_line *lines;
    bool leads;
    uint64_t changes; /* value when the list was loaded */
    struct engine_op mark_op;
    bool mark_busy;
    uint64_t mark_due_ms; /* earliest time of the next report */
    bool stopping, last_report, closing;
    struct msg stop_msg;
    struct webhook_counters counters;
};

/* webhook.c: an attempt of the line has ended */
void webhook__moved(struct webhook_line *l);
/* webhook.c: there may be a slot for a request of the line */
void webhook__has_place(struct courier_line *place);

/* webhook_line.c */

/* A new line that continues at the position of the record. */
struct webhook_line *webhook_line__new(struct webhook_sender *s, struct str id,
                                       const struct store_webhook *rec);
/* The record may have changed. */
void webhook_line__update(struct webhook_line *l, struct str id, const struct store_webhook *rec);
/* Cancels pending requests. */
void webhook_line__free(struct webhook_line *l);
/* Cancel pending requests, but keep the line and its events. */
void webhook_line__break_off(struct webhook_line *l);
/* Read the log and send what may be sent. True if there is more to read at once. */
bool webhook_line__step(struct webhook_line *l);
/* All events up to this number are settled. */
uint64_t webhook_line__position(const struct webhook_line *l);
/* Is there anything to report to the machine? */
bool webhook_line__is_dirty(const struct webhook_line *l);
