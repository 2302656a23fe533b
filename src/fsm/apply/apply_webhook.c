/*
 * Webhooks: the receivers of events, and the position up to which events were delivered to them.
 *
 * The machine makes no calls. The leader delivers the events and reports the position, so that the
 * next leader continues there. A webhook starts after the events that existed before it.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "core/queue_name.h"
#include "fsm/apply/apply_int.h"

static struct webhook *find(const struct machine *m, struct str id)
{
    struct map_node *n = map_find(&m->webhooks, id);
    return n == NULL ? NULL : CONTAINER_OF(n, struct webhook, node);
}

static char *own_texts(struct store_webhook *rec)
{
    struct str *texts[] = {&rec->ns,     &rec->scope,  &rec->url,
                           &rec->events, &rec->secret, &rec->last_error};
    return entry__own_texts(texts, COUNT_OF(texts));
}

/* Set the record of h. Its texts are copied. */
static void set_record(struct webhook *h, const struct store_webhook *rec)
{
    char *old = h->texts; /* rec may point into it */
    h->rec = *rec;
    h->texts = own_texts(&h->rec);
    free(old);
}

static struct webhook *webhook_new(struct machine *m, struct str id)
{
    struct webhook *h = calloc(1, sizeof *h + id.len);
    CHECK(h != NULL);
    if (id.len > 0) {
        memcpy(h->id, id.ptr, id.len);
    }
    h->node.key = str_from(h->id, id.len);
    map_add(&m->webhooks, &h->node);
    return h;
}

static void webhook_free(struct machine *m, struct webhook *h)
{
    map_remove(&m->webhooks, &h->node);
    free(h->texts);
    free(h);
}

static void write_record(struct machine *m, const struct webhook *h)
{
    buf_clear(&m->store.scratch);
    store_record_encode_webhook(&h->rec, &m->store.scratch);
    store_put(&m->store, STORE_KIND_WEBHOOK, h->node.key, buf_str(&m->store.scratch));
}

/* The internal name "wh_…" for an id. */
static struct str new_name(struct machine *m, struct str ns, struct id id)
{
    struct buf name;
    char text[ID_TEXT_MAX];
    buf_init(&name, (size_t)2 * LIMIT_NAME_BYTES);
    queue_name_add_internal(&name, ns, str_from(text, id_format(id, ID_WEBHOOK, text)));
    return entry__keep(m, &name);
}

/* The number of the newest event, including those of this entry. */
static uint64_t last_event(const struct machine *m)
{
    return m->store.meta.next_event + m->events.count - 1;
}

void apply_webhook_put(struct machine *m, const struct command *command, struct result *r)
{
    const struct command_webhook_put *c = &command->webhook_put;
    struct webhook *h = c->id.len == 0 ? NULL : find(m, c->id);
    struct store_webhook rec = c->webhook;
    if (h != NULL && rec.scope.len > 0 && !str_eq(rec.scope, h->rec.scope)) {
        entry__refuse(m, r, ERR_FORBIDDEN,
                      "webhook \"" STR_FMT "\" belongs to a key that may use other queues",
                      STR_ARG(queue_name_visible(rec.ns, c->id)));
        return;
    }
    if (h == NULL && c->keep_secret) {
        entry__refuse(m, r, ERR_WEBHOOK, "secret: the webhook has no secret to keep");
        return;
    }
    if (h == NULL && m->webhooks.count >= LIMIT_WEBHOOKS) {
        entry__refuse(m, r, ERR_WEBHOOK, "the server already has %d webhooks, the maximum",
                      LIMIT_WEBHOOKS);
        return;
    }
    if (h == NULL) {
        struct str name = c->id;
        if (name.len == 0) {
            r->id = ids__new(m);
            name = new_name(m, rec.ns, r->id);
        }
        h = webhook_new(m, name);
        h->rec = (struct store_webhook){.created_at = m->now, .position = last_event(m)};
    } else if (rec.enabled && !h->rec.enabled) {
        h->rec.position = last_event(m); /* events while disabled are not delivered */
    }
    rec.scope = rec.scope.len > 0 ? rec.scope : h->rec.scope; /* kept if the request has none */
    rec.created_at = h->rec.created_at;
    rec.position = h->rec.position;
    rec.last_status = h->rec.last_status;
    rec.last_error = h->rec.last_error;
    rec.last_delivery_at = h->rec.last_delivery_at;
    if (c->keep_secret) {
        rec.secret = h->rec.secret;
    }
    set_record(h, &rec);
    write_record(m, h);
    m->webhook_changes++;
}

void apply_webhook_delete(struct machine *m, const struct command *command, struct result *r)
{
    struct str id = command->webhook_delete.id;
    struct webhook *h = find(m, id);
    if (h == NULL) {
        entry__refuse(m, r, ERR_NOT_FOUND, "webhook \"" STR_FMT "\" not found", STR_ARG(id));
        return;
    }
    store_delete(&m->store, STORE_KIND_WEBHOOK, h->node.key);
    webhook_free(m, h);
    m->webhook_changes++;
}

static void mark(struct machine *m, const struct command_webhook_mark_item *it)
{
    struct webhook *h = find(m, it->id);
    if (h == NULL || h->rec.created_at.ns != it->created_at.ns) {
        return; /* deleted during the delivery */
    }
    struct store_webhook rec = h->rec;
    if (it->position > rec.position) {
        rec.position = it->position;
    }
    if (it->attempted) {
        rec.last_status = it->status;
        rec.last_error = it->error;
        rec.last_delivery_at = it->at;
    }
    set_record(h, &rec);
    write_record(m, h);
}

void apply_webhook_mark(struct machine *m, const struct command *command, struct result *r)
{
    const struct command_webhook_mark *c = &command->webhook_mark;
    (void)r;
    for (size_t i = 0; i < c->count; i++) {
        mark(m, &c->items[i]);
    }
}

bool apply_webhook__restore(struct machine *m, struct str id, const struct store_webhook *rec)
{
    if (find(m, id) != NULL) {
        return true;
    }
    if (m->webhooks.count >= LIMIT_WEBHOOKS) {
        return false;
    }
    struct store_webhook fresh = *rec;
    fresh.position = last_event(m); /* event numbers of another server have no meaning here */
    fresh.last_status = 0;
    fresh.last_error = STR_EMPTY;
    fresh.last_delivery_at = WALL_NONE;
    struct webhook *h = webhook_new(m, id);
    set_record(h, &fresh);
    write_record(m, h);
    m->webhook_changes++;
    return true;
}

static void load_webhook(void *data, struct str rest, struct str value)
{
    struct machine *m = data;
    struct store_webhook rec;
    if (!store_record_decode_webhook(value, &rec)) {
        check_fatal("the record of a webhook cannot be read");
    }
    set_record(webhook_new(m, rest), &rec);
}

void apply_webhook__load(struct machine *m)
{
    store_each(&m->store, STORE_KIND_WEBHOOK, load_webhook, m);
}

static void free_each(struct map_node *n, void *data)
{
    webhook_free(data, CONTAINER_OF(n, struct webhook, node));
}

void apply_webhook__close(struct machine *m)
{
    map_each(&m->webhooks, free_each, m);
    map_deinit(&m->webhooks);
}
