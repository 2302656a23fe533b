#include "fsm/command/command_return.h"

#include "base/pack.h"
#include "fsm/command/command.h"

enum { ITEM_BYTES_MIN = ID_BYTES + 2 };

void command_return__encode(const struct command *c, struct buf *out)
{
    pack_varint(out, c->give_back.count);
    for (size_t i = 0; i < c->give_back.count; i++) {
        const struct command_return_item *it = &c->give_back.items[i];
        buf_add(out, it->id.b, ID_BYTES);
        pack_varint(out, it->lease_token);
        pack_varint(out, it->order);
    }
}

void command_return__decode(struct unpack *u, struct arena *a, struct command *c)
{
    uint64_t count = unpack_varint(u);
    if (count > unpack_left(u) / ITEM_BYTES_MIN) {
        u->bad = true;
        return;
    }
    struct command_return_item *items =
        ARENA_ARRAY(a, struct command_return_item, count == 0 ? 1 : count);
    if (items == NULL) {
        u->bad = true;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        items[i].id = id_unpack(u);
        items[i].lease_token = unpack_varint(u);
        items[i].order = unpack_varint(u);
    }
    c->give_back.items = items;
    c->give_back.count = (size_t)count;
}
