#include "base/pack.h"
#include "fsm/command/command.h"
#include "fsm/command/command_take.h"

/* A webhook is encoded as its record, after its id and keep_secret. */
void command_webhook__encode_put(const struct command *c, struct buf *out)
{
    pack_text(out, c->webhook_put.id);
    pack_bool(out, c->webhook_put.keep_secret);
    store_record_encode_webhook(&c->webhook_put.webhook, out);
}

void command_webhook__decode_put(struct unpack *u, struct arena *a, struct command *c)
{
    (void)a;
    c->webhook_put.id = unpack_text(u);
    c->webhook_put.keep_secret = unpack_bool(u);
    struct str record = unpack_bytes(u, unpack_left(u));
    if (!store_record_decode_webhook(record, &c->webhook_put.webhook)) {
        u->bad = true;
    }
}

void command_webhook__encode_delete(const struct command *c, struct buf *out)
{
    pack_text(out, c->webhook_delete.id);
}

void command_webhook__decode_delete(struct unpack *u, struct arena *a, struct command *c)
{
    (void)a;
    c->webhook_delete.id = unpack_text(u);
}

void command_webhook__encode_mark(const struct command *c, struct buf *out)
{
    pack_varint(out, c->webhook_mark.count);
    for (size_t i = 0; i < c->webhook_mark.count; i++) {
        const struct command_webhook_mark_item *it = &c->webhook_mark.items[i];
        pack_text(out, it->id);
        pack_i64(out, it->created_at.ns);
        pack_u64(out, it->position);
        pack_bool(out, it->attempted);
        if (it->attempted) {
            pack_u32(out, it->status);
            pack_i64(out, it->at.ns);
            pack_text(out, it->error);
        }
    }
}

void command_webhook__decode_mark(struct unpack *u, struct arena *a, struct command *c)
{
    c->webhook_mark.count = command_take_count(u, 18);
    c->webhook_mark.items =
        command_take_array(u, a, c->webhook_mark.count, sizeof *c->webhook_mark.items);
    for (size_t i = 0; i < c->webhook_mark.count && !u->bad; i++) {
        struct command_webhook_mark_item *it = &c->webhook_mark.items[i];
        it->id = unpack_text(u);
        it->created_at.ns = unpack_i64(u);
        it->position = unpack_u64(u);
        it->attempted = unpack_bool(u);
        if (it->attempted) {
            it->status = unpack_u32(u);
            it->at.ns = unpack_i64(u);
            it->error = unpack_text(u);
        }
    }
}
