#include "fsm/command/command_queue.h"

#include "base/pack.h"

static bool unpack_flag(struct unpack *u)
{
    uint8_t v = unpack_u8(u);
    u->bad = u->bad || v > 1;
    return v == 1;
}

void command_queue__encode(const struct command_queue *q, struct buf *out)
{
    pack_u8(out, (uint8_t)q->action);
    pack_text(out, q->name);
    pack_u32(out, q->max);
    pack_u32(out, q->rate);
    pack_i64(out, q->window_ms);
    buf_add(out, q->cursor.b, ID_BYTES);
    buf_add(out, q->until.b, ID_BYTES);
    pack_u8(out, q->in_done ? 1 : 0);
}

void command_queue__decode(struct unpack *u, struct command_queue *q)
{
    uint8_t action = unpack_u8(u);
    q->action = (enum command_queue_action)action;
    q->name = unpack_text(u);
    q->max = unpack_u32(u);
    q->rate = unpack_u32(u);
    q->window_ms = unpack_i64(u);
    q->cursor = id_unpack(u);
    q->until = id_unpack(u);
    q->in_done = unpack_flag(u);
    u->bad = u->bad || action < COMMAND_QUEUE_PAUSE || action > COMMAND_QUEUE_ACTION_LAST;
}

void command_queue__encode_bulk(const struct command_bulk_queue *b, struct buf *out)
{
    pack_u8(out, (uint8_t)b->action);
    pack_text(out, b->name);
    pack_text(out, b->ns);
    buf_add(out, b->cursor.b, ID_BYTES);
    buf_add(out, b->until.b, ID_BYTES);
    pack_u8(out, b->in_done ? 1 : 0);
}

void command_queue__decode_bulk(struct unpack *u, struct command_bulk_queue *b)
{
    uint8_t action = unpack_u8(u);
    b->action = (enum command_queue_action)action;
    b->name = unpack_text(u);
    b->ns = unpack_text(u);
    b->cursor = id_unpack(u);
    b->until = id_unpack(u);
    b->in_done = unpack_flag(u);
    u->bad = u->bad || (action != COMMAND_QUEUE_CLEAR && action != COMMAND_QUEUE_DELETE) ||
             b->name.len == 0;
}
