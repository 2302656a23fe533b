#include "base/pack.h"
#include "fsm/command/command.h"
#include "fsm/command/command_take.h"

/* A schedule is encoded as its record, after the id and the expected updated_at. */
void command_schedule__encode_put(const struct command *c, struct buf *out)
{
    buf_add(out, c->schedule_put.id.b, ID_BYTES);
    pack_i64(out, c->schedule_put.expected_updated_at.ns);
    store_record_encode_schedule(&c->schedule_put.schedule, out);
}

void command_schedule__decode_put(struct unpack *u, struct arena *a, struct command *c)
{
    (void)a;
    c->schedule_put.id = id_unpack(u);
    c->schedule_put.expected_updated_at.ns = unpack_i64(u);
    struct str record = unpack_bytes(u, unpack_left(u));
    if (!store_record_decode_schedule(record, &c->schedule_put.schedule)) {
        u->bad = true;
    }
}

void command_schedule__encode_delete(const struct command *c, struct buf *out)
{
    buf_add(out, c->schedule_delete.id.b, ID_BYTES);
}

void command_schedule__decode_delete(struct unpack *u, struct arena *a, struct command *c)
{
    (void)a;
    c->schedule_delete.id = id_unpack(u);
}

void command_schedule__encode_fire(const struct command *c, struct buf *out)
{
    buf_add(out, c->schedule_fire.id.b, ID_BYTES);
    pack_bool(out, c->schedule_fire.manual);
    pack_i64(out, c->schedule_fire.expected_next.ns);
    pack_i64(out, c->schedule_fire.next.ns);
    if (c->schedule_fire.once.key.len > 0) { /* version 2 */
        pack_text(out, c->schedule_fire.once.key);
        pack_u64(out, c->schedule_fire.once.hash);
    }
}

void command_schedule__decode_fire(struct unpack *u, struct arena *a, struct command *c)
{
    (void)a;
    c->schedule_fire.id = id_unpack(u);
    c->schedule_fire.manual = unpack_bool(u);
    c->schedule_fire.expected_next.ns = unpack_i64(u);
    c->schedule_fire.next.ns = unpack_i64(u);
    if (c->version >= 2) {
        c->schedule_fire.once.key = unpack_text(u);
        c->schedule_fire.once.hash = unpack_u64(u);
        u->bad |= c->schedule_fire.once.key.len == 0 || !c->schedule_fire.manual;
    }
}
