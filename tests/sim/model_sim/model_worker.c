/*
 * Workers of the model (http-api.md 8.1, 8.6, 14).
 */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "sim/model_sim/model_int.h"

enum { QUEUES_BYTES = 1 << 16, WRITE_MS = 5000 };

static struct model_worker *find(const struct model *m, struct str ns, struct str id)
{
    for (size_t i = 0; i < m->workers.count; i++) {
        struct model_worker *w = m->workers.at[i];
        if (str_eq(w->ns, ns) && str_eq(w->id, id)) {
            return w;
        }
    }
    return NULL;
}

/* The names as a JSON array. Generated names need no escaping. */
static struct str queue_names(struct model *m, const struct command_claim *claim)
{
    struct buf out;
    buf_init(&out, QUEUES_BYTES);
    for (size_t i = 0; i < claim->queue_count; i++) {
        buf_printf(&out, "%s\"" STR_FMT "\"", i == 0 ? "[" : ",", STR_ARG(claim->queues[i]));
    }
    buf_add_char(&out, ']');
    struct str kept = model_keep(m, buf_str(&out));
    buf_deinit(&out);
    return kept;
}

bool model_worker_is_stale(struct model *m, const struct command_claim *claim)
{
    const struct model_worker *w = find(m, claim->ns, claim->worker_id);
    return claim->worker_id.len > 0 &&
           (w == NULL || wall_add_ms(w->record.last_heartbeat, WRITE_MS).ns <= m->now.ns ||
            !str_eq(w->record.queues, queue_names(m, claim)));
}

/* Generated ids that contain "::" look like ids of another namespace. */
static struct str stored_name(struct model *m, struct str ns, struct str id)
{
    char name[256];
    bool marked = ns.len > 0 || memmem(id.ptr, id.len, "::", 2) != NULL;
    int len = snprintf(name, sizeof name, STR_FMT "%s" STR_FMT, STR_ARG(ns), marked ? "::" : "",
                       STR_ARG(id));
    return model_keep(m, str_from(name, (size_t)len));
}

void model_worker_seen(struct model *m, const struct command_claim *claim)
{
    if (!model_worker_is_stale(m, claim)) {
        return;
    }
    struct model_worker *w = find(m, claim->ns, claim->worker_id);
    if (w == NULL) {
        w = model_alloc(m, sizeof *w);
        w->ns = model_keep(m, claim->ns);
        w->id = model_keep(m, claim->worker_id);
        w->name = stored_name(m, w->ns, w->id);
        w->record.started_at = m->now;
        model_list_add(&m->workers, w);
    }
    w->record.hostname = model_keep(m, claim->hostname);
    w->record.queues = queue_names(m, claim);
    w->record.last_heartbeat = m->now;
}

void model_worker_beat(struct model *m, struct str ns, struct str id)
{
    struct model_worker *w = find(m, ns, id);
    if (w != NULL) {
        w->record.last_heartbeat = m->now;
    }
}
