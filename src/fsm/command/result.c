#include "fsm/command/result.h"

#include "base/check.h"
#include "base/pack.h"

/* These bytes are stored in the records of named commands (docs/formats/documents.md). */
void result_pack_numbers(const struct result *r, struct buf *out)
{
    buf_add(out, r->id.b, ID_BYTES);
    pack_varint(out, r->affected);
    pack_varint(out, r->missing);
    pack_u8(out, (uint8_t)r->state);
    pack_varint(out, r->attempt);
    pack_varint(out, r->remaining);
    pack_i64(out, r->at.ns);
    pack_u8(out, r->more ? 1 : 0);
    if (r->more) {
        buf_add(out, r->cursor.b, ID_BYTES);
        buf_add(out, r->until.b, ID_BYTES);
        pack_u8(out, r->in_done ? 1 : 0);
        pack_varint(out, r->done);
    }
}

bool result_unpack_numbers(struct unpack *u, struct result *out)
{
    out->id = id_unpack(u);
    out->affected = (uint32_t)unpack_varint(u);
    out->missing = (uint32_t)unpack_varint(u);
    uint8_t state = unpack_u8(u);
    out->state = (enum job_state)state;
    out->attempt = (uint32_t)unpack_varint(u);
    out->remaining = (uint32_t)unpack_varint(u);
    out->at.ns = unpack_i64(u);
    out->more = unpack_u8(u) == 1;
    if (out->more) {
        out->cursor = id_unpack(u);
        out->until = id_unpack(u);
        out->in_done = unpack_u8(u) == 1;
        out->done = (uint32_t)unpack_varint(u);
    }
    return !u->bad && state < JOB_STATE_COUNT;
}

void result_encode(const struct result *r, struct buf *out)
{
    pack_u8(out, (uint8_t)r->code);
    if (r->code != ERR_OK) {
        pack_text(out, r->message);
        return;
    }
    pack_u8(out, (uint8_t)r->next_code);
    if (r->next_code != ERR_OK) {
        pack_text(out, r->message);
    }
    result_pack_numbers(r, out);
    pack_varint(out, r->count);
    for (uint32_t i = 0; i < r->count; i++) {
        buf_add(out, r->items[i].id.b, ID_BYTES);
        pack_u8(out, (uint8_t)r->items[i].status);
        pack_text(out, r->items[i].doc);
        pack_varint(out, r->items[i].order);
        pack_u8(out, r->items[i].budget_exceeded ? 1 : 0);
    }
}

void result_join(struct result *sum, const struct result *step, struct arena *a)
{
    struct result both = *step;
    both.affected += sum->affected;
    both.missing += sum->missing;
    both.count += sum->count;
    both.items = ARENA_ARRAY(a, struct result_item, both.count + 1);
    CHECK(both.items != NULL);
    for (uint32_t i = 0; i < both.count; i++) {
        both.items[i] = i < sum->count ? sum->items[i] : step->items[i - sum->count];
    }
    *sum = both;
}

static bool take_items(struct unpack *u, struct arena *a, struct result *out)
{
    uint64_t count = unpack_varint(u);
    if (count > unpack_left(u) / (ID_BYTES + 4)) {
        return false;
    }
    out->count = (uint32_t)count;
    out->items = count == 0 ? NULL : ARENA_ARRAY(a, struct result_item, count);
    if (count > 0 && out->items == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < out->count; i++) {
        out->items[i].id = id_unpack(u);
        uint8_t status = unpack_u8(u);
        out->items[i].status = (enum result_status)status;
        out->items[i].doc = unpack_text(u);
        out->items[i].order = unpack_varint(u);
        out->items[i].budget_exceeded = unpack_u8(u) != 0;
        if (status >= RESULT_STATUS_COUNT) {
            return false;
        }
    }
    return true;
}

bool result_decode(struct str bytes, struct arena *a, struct result *out)
{
    struct unpack u = unpack_from(bytes);
    uint8_t code = unpack_u8(&u);
    *out = (struct result){.code = (enum err_code)code};
    if (code >= ERR_CODE_COUNT) {
        return false;
    }
    if (code != ERR_OK) {
        out->message = unpack_text(&u);
        return unpack_done(&u);
    }
    uint8_t next_code = unpack_u8(&u);
    out->next_code = (enum err_code)next_code;
    if (next_code != ERR_OK) {
        out->message = unpack_text(&u);
    }
    return next_code < ERR_CODE_COUNT && result_unpack_numbers(&u, out) && take_items(&u, a, out) &&
           unpack_done(&u);
}
