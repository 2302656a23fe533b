/*
 * Returns jobs to their queue at once if their worker disconnected before it received them.
 * Otherwise no other worker would get them until their leases expire.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "engine/engine_int.h"
#include "store/store_job.h"

static void return_done(struct engine_op *op)
{
    engine_op_deinit(op);
    free(op);
}

static void submit(struct engine *e, const struct command *c)
{
    struct engine_op *op = calloc(1, sizeof *op);
    struct err err;
    CHECK(op != NULL);
    engine_op_init(op);
    op->done = return_done;
    if (engine_op_prepare(e, op, c, &err) != ERR_OK) {
        return_done(op);
        return;
    }
    engine_submit(e, op);
}

bool engine_give_back(struct engine *e, const struct engine_op *op)
{
    struct arena *a = arena_new(SIZE_MAX);
    struct command c = {.type = COMMAND_RETURN};
    struct result r;
    if ((op->type == COMMAND_CLAIM || op->type == COMMAND_ACK) && op->err.code == ERR_OK &&
        result_decode(buf_str(&op->result), a, &r) && r.code == ERR_OK && r.count > 0) {
        c.give_back.items = ARENA_ARRAY(a, struct command_return_item, r.count);
        CHECK(c.give_back.items != NULL);
        for (uint32_t i = 0; i < r.count; i++) {
            struct job j;
            struct err err;
            if (store_job_decode_head(r.items[i].id, r.items[i].doc, &j, &err) == ERR_OK) {
                c.give_back.items[c.give_back.count++] = (struct command_return_item){
                    .id = j.id, .lease_token = j.lease_token, .order = r.items[i].order};
            }
        }
        submit(e, &c);
    }
    arena_free(a);
    return c.give_back.count > 0;
}
