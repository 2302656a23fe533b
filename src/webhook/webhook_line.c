/*
 * One webhook: the line of events to deliver, and the requests that deliver them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "core/queue_name.h"
#include "event/event_json.h"
#include "log/log.h"
#include "os/os_clock.h"
#include "webhook/webhook_int.h"

enum {
    DELIVERIES_MAX = 128,      /* deliveries in a line… */
    EVENT_BYTES_MAX = 1 << 20, /* …and bytes of their events, unless one is larger */
    SENT_MAX = 8,              /* requests of one webhook at once */
    READ_MAX = 2048,           /* events examined per step */
    ATTEMPT_MS = 10000,        /* contract */
    PAUSE_MS = 200,            /* contract: multiplied by the square of the attempt */
    ANSWER_BYTES = 4096,       /* the response is ignored */
};

#define COUNT(s, name, n) ((void)atomic_fetch_add(&(s)->counters.name, (uint64_t)(n)))

/* ---- the line ---- */

static void delivery_free(struct webhook_delivery *d)
{
    struct webhook_line *l = d->line;
    l->count--;
    l->bytes -= d->event.len;
    COUNT(l->sender, waiting, -1);
    buf_deinit(&d->event);
    buf_deinit(&d->body);
    free(d);
}

static void append(struct webhook_line *l, const struct store_event *e)
{
    struct webhook_delivery *d = calloc(1, sizeof *d);
    CHECK(d != NULL);
    d->line = l;
    d->seq = e->seq;
    d->type = e->type;
    d->job = e->job;
    buf_init(&d->event, SIZE_MAX);
    buf_init(&d->body, SIZE_MAX);
    struct json_write w = json_write_to(&d->event);
    event_json_write(&w, e, l->match.ns, EVENT_JSON_NAMED);
    json_write_finish(&w);
    *l->last = d;
    l->last = &d->next;
    l->count++;
    l->bytes += d->event.len;
    COUNT(l->sender, waiting, 1);
}

uint64_t webhook_line__position(const struct webhook_line *l)
{
    return (l->first != NULL ? l->first->seq : l->read) - 1;
}

bool webhook_line__is_dirty(const struct webhook_line *l)
{
    return webhook_line__position(l) > l->marked || l->results != l->results_marked;
}

/* Remove the settled deliveries at the front, which advances the position. */
static void drop_settled(struct webhook_line *l)
{
    while (l->first != NULL && l->first->state == WEBHOOK_SETTLED) {
        struct webhook_delivery *d = l->first;
        l->first = d->next;
        if (l->first == NULL) {
            l->last = &l->first;
        }
        delivery_free(d);
    }
}

/* ---- reading the log ---- */

/* The next event is no longer in the log: skip to the oldest one. */
static void skip(struct webhook_line *l, uint64_t end)
{
    uint64_t oldest = store_event_first(engine_store(l->sender->config.engine), l->read, end);
    oldest = oldest < end ? oldest : end;
    COUNT(l->sender, skipped, oldest - l->read);
    log_warn("webhook skipped", LOG_STR("webhook_id", l->id), LOG_U64("from", l->read),
             LOG_U64("to", oldest));
    l->read = oldest;
}

static bool has_room(const struct webhook_line *l)
{
    return l->count < DELIVERIES_MAX && (l->count == 0 || l->bytes < EVENT_BYTES_MAX);
}

/* True if there is more to read now. */
static bool read_on(struct webhook_line *l)
{
    struct webhook_sender *s = l->sender;
    struct store *store = engine_store(s->config.engine);
    uint64_t end = engine_notifier_next(s->notifier);
    unsigned budget = READ_MAX;
    while (l->read < end && has_room(l) && budget > 0) {
        const struct event_page *page = event_pages_get(s->pages, store, l->read, end);
        if (page == NULL) {
            skip(l, end);
            continue;
        }
        uint32_t i = (uint32_t)(l->read - page->first);
        for (; i < page->count && has_room(l) && budget > 0; i++, budget--) {
            if (event_match_fits(&l->match, &page->events[i])) {
                append(l, &page->events[i]);
            }
            l->read++;
        }
    }
    return l->read < end && has_room(l);
}

/* ---- sending ---- */

static void remember(struct webhook_line *l, int status, const char *error)
{
    l->results++;
    l->last_status = (uint32_t)status;
    l->last_at = os_clock_wall();
    (void)snprintf(l->last_error, sizeof l->last_error, "%s", error);
}

/* An event was delivered or given up. Log it if the state changes. */
static void settle(struct webhook_delivery *d, bool ok)
{
    struct webhook_line *l = d->line;
    d->state = WEBHOOK_SETTLED;
    if (ok) {
        COUNT(l->sender, delivered, 1);
    } else {
        COUNT(l->sender, failed, 1);
    }
    if (!ok && !l->failing) {
        log_warn("webhook failing", LOG_STR("webhook_id", l->id), LOG_U64("seq", d->seq),
                 LOG_Z("error", l->last_error));
    } else if (ok && l->failing) {
        log_info("webhook recovered", LOG_STR("webhook_id", l->id), LOG_U64("seq", d->seq));
    }
    l->failing = !ok;
}

static void request_done(struct outgoing_request *r)
{
    struct webhook_delivery *d = r->data;
    struct webhook_line *l = d->line;
    struct webhook_sender *s = l->sender;
    bool ok = r->answered && r->status >= 200 && r->status < 300; /* the body does not matter */
    char error[sizeof r->err.msg] = "";
    if (r->answered && !ok) {
        (void)snprintf(error, sizeof error, "http %d", r->status);
    } else if (!r->answered) {
        memcpy(error, r->err.msg, sizeof error);
    }
    int status = r->status;
    bool hung = r->timed_out && !r->answered;
    outgoing_request_deinit(r);
    l->sent--;
    COUNT(s, in_flight, -1);
    remember(l, status, error);
    if (ok || d->attempt >= l->retry_limit) {
        settle(d, ok);
    } else {
        d->state = WEBHOOK_PAUSED;
        d->due_ms = uv_now(&s->loop) + (uint64_t)d->attempt * d->attempt * PAUSE_MS;
    }
    courier_end(&d->call, hung ? COURIER_HUNG : COURIER_ANSWERED);
    webhook__moved(l);
}

static void add_header(struct outgoing_request *r, const char *name, struct str value)
{
    r->headers[r->header_count++] = (struct outgoing_header){.name = name, .value = value};
}

static void send_one(struct webhook_delivery *d)
{
    struct webhook_line *l = d->line;
    struct outgoing_request *r = &d->request;
    d->state = WEBHOOK_SENT;
    d->attempt++;
    buf_clear(&d->body);
    webhook_body_write(&d->body, buf_str(&d->event), os_clock_wall(), l->shown);
    *r = (struct outgoing_request){.method = "POST",
                                   .url = l->url,
                                   .guest = queue_name_namespace(l->id).len > 0,
                                   .body = buf_str(&d->body),
                                   .timeout_ms = ATTEMPT_MS,
                                   .answer_limit = ANSWER_BYTES,
                                   .done = request_done,
                                   .data = d};
    add_header(r, "Content-Type", STR("application/json"));
    add_header(r, "X-Corvo-Webhook-ID", l->shown);
    add_header(r, "X-Corvo-Webhook-Event", str_from_z(store_event_word(d->type)));
    if (l->secret.len > 0) {
        webhook_body_sign(l->secret, r->body, d->signature);
        add_header(r, "X-Corvo-Signature", str_from_z(d->signature));
    }
    l->sent++;
    COUNT(l->sender, in_flight, 1);
    COUNT(l->sender, attempts, 1);
    outgoing_start(l->sender->outgoing, r);
}

/* Is an earlier event of the same job unsettled? */
static bool has_to_wait(const struct webhook_line *l, const struct webhook_delivery *d)
{
    for (const struct webhook_delivery *e = l->first; e != d; e = e->next) {
        if (e->state != WEBHOOK_SETTLED && id_eq(e->job, d->job)) {
            return true;
        }
    }
    return false;
}

static void send_all(struct webhook_line *l)
{
    uint64_t now_ms = uv_now(&l->sender->loop);
    bool place = true;
    l->due_ms = UINT64_MAX;
    for (struct webhook_delivery *d = l->first; d != NULL; d = d->next) {
        bool ready =
            d->state == WEBHOOK_WAITING || (d->state == WEBHOOK_PAUSED && d->due_ms <= now_ms);
        if (ready && place && l->sent < SENT_MAX && !has_to_wait(l, d)) {
            place = courier_begin(&l->place, &d->call, now_ms);
            if (place) {
                send_one(d);
            }
        } else if (d->state == WEBHOOK_PAUSED && d->due_ms > now_ms && d->due_ms < l->due_ms) {
            l->due_ms = d->due_ms;
        }
    }
}

bool webhook_line__step(struct webhook_line *l)
{
    drop_settled(l);
    bool more = read_on(l);
    send_all(l);
    return more;
}

/* ---- creation and removal ---- */

/* The types that match the patterns, one per line. */
static uint32_t types_of(struct str patterns)
{
    uint32_t types = 0;
    while (patterns.len > 0) {
        types |= event_match_types(str_cut(&patterns, '\n'));
    }
    return types;
}

void webhook_line__update(struct webhook_line *l, struct str id, const struct store_webhook *rec)
{
    struct arena *old = l->arena;
    l->arena = arena_new(SIZE_MAX); /* a record has bounded texts */
    l->id = arena_str(l->arena, id);
    l->url = arena_strz(l->arena, rec->url);
    l->secret = arena_str(l->arena, rec->secret);
    l->match = (struct event_match){.ns = arena_str(l->arena, rec->ns),
                                    .scope = arena_str(l->arena, rec->scope),
                                    .types = types_of(rec->events)};
    l->shown = queue_name_visible(l->match.ns, l->id);
    l->retry_limit = rec->retry_limit;
    if (old == NULL) {
        courier_line_init(&l->place, l->sender->courier, rec->url, webhook__has_place);
    } else {
        courier_line_move(&l->place, rec->url);
    }
    arena_free(old);
}

struct webhook_line *webhook_line__new(struct webhook_sender *s, struct str id,
                                       const struct store_webhook *rec)
{
    struct webhook_line *l = calloc(1, sizeof *l);
    CHECK(l != NULL);
    l->sender = s;
    l->last = &l->first;
    l->created_at = rec->created_at;
    l->read = rec->position + 1;
    l->marked = l->mark_sent = rec->position;
    l->due_ms = UINT64_MAX;
    webhook_line__update(l, id, rec);
    return l;
}

void webhook_line__break_off(struct webhook_line *l)
{
    for (struct webhook_delivery *d = l->first; d != NULL; d = d->next) {
        if (d->state == WEBHOOK_SENT) {
            outgoing_cancel(&d->request);
            outgoing_request_deinit(&d->request);
            d->state = WEBHOOK_WAITING;
            l->sent--;
            COUNT(l->sender, in_flight, -1);
            courier_end(&d->call, COURIER_BROKEN);
        }
    }
}

void webhook_line__free(struct webhook_line *l)
{
    l->dropped = true;
    webhook_line__break_off(l);
    courier_line_deinit(&l->place);
    while (l->first != NULL) {
        struct webhook_delivery *d = l->first;
        l->first = d->next;
        delivery_free(d);
    }
    arena_free(l->arena);
    free(l);
}
