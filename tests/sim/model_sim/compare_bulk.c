/*
 * Comparison of bulk operations: their records, and that exactly the lists of the remaining steps
 * are stored.
 */
#include <stdio.h>

#include "base/unpack.h"
#include "sim/model_sim/compare_int.h"

/* clang-format off */
static const struct compare_field fields[] = {
#define FIELD(kind, member) {#member, COMPARE_##kind, offsetof(struct store_bulk, member)}
    FIELD(U32, lists), FIELD(U32, steps), FIELD(U32, parts), FIELD(U64, total), FIELD(U64, processed),
    FIELD(U64, affected), FIELD(U64, errors), FIELD(STR, queue), FIELD(STR, filter),
    FIELD(STR, error), FIELD(U32, fit.states), FIELD(U32, fit.priorities), FIELD(STR, fit.queue), FIELD(ID, cursor), FIELD(WALL, created_at), FIELD(WALL, updated_at),
    FIELD(WALL, finished_at),
#undef FIELD
};
/* clang-format on */

struct walk {
    struct compare *c;
    size_t records, lists;
};

static void compare_part(void *data, struct str rest, struct str value)
{
    struct walk *walk = data;
    const struct model_list *all = &walk->c->model->bulks;
    struct unpack u = unpack_from(rest);
    struct str id = unpack_bytes(&u, ID_BYTES);
    if (unpack_u32_be(&u) != 0) {
        walk->lists++;
        return;
    }
    walk->records++;
    for (size_t i = 0; i < all->count; i++) {
        const struct model_bulk *want = all->at[i];
        struct store_bulk got;
        char name[COMPARE_NAME_MAX];
        if (!str_eq(str_from(want->id.b, ID_BYTES), id)) {
            continue;
        }
        (void)compare_name(name, "bulk operation", want->id);
        if (!store_record_decode_bulk(value, &got) || got.status != want->record.status) {
            compare_miss(walk->c, "%s: unreadable, or of another status", name);
        } else {
            compare_fields(walk->c, name, fields, COUNT_OF(fields), &want->record, &got);
        }
        return;
    }
    compare_miss(walk->c, "a bulk operation: the model has none");
}

void compare_bulk_records(struct compare *c)
{
    struct walk walk = {.c = c};
    size_t lists = 0;
    for (size_t i = 0; i < c->model->bulks.count; i++) {
        const struct store_bulk *r = &((const struct model_bulk *)c->model->bulks.at[i])->record;
        lists += r->finished_at.ns == 0 && r->lists > 0 ? r->lists - (r->steps - r->parts) : 0;
    }
    store_each(machine_store(c->machine), STORE_KIND_BULK, compare_part, &walk);
    if (walk.records != c->model->bulks.count || walk.lists != lists) {
        compare_miss(c, "bulk operations: model %zu with %zu lists, machine %zu with %zu",
                     c->model->bulks.count, lists, walk.records, walk.lists);
    }
}
