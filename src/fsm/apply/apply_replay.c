/*
 * Replay: create a new job that runs an agent job again, from one of its iterations.
 */
#include "base/check.h"
#include "fsm/apply/apply_int.h"

struct search {
    int64_t wanted;
    bool found;
    struct buf checkpoint; /* of the last row: an iteration that was held has several */
};

static void look(void *data, const struct store_iteration *it)
{
    struct search *s = data;
    if (it->iteration == s->wanted) {
        s->found = true;
        buf_clear(&s->checkpoint);
        buf_add_str(&s->checkpoint, it->checkpoint);
    }
}

/* Find the checkpoint of an iteration. Entries of earlier versions read all rows, in whatever order
 * a backup had them. */
static bool find_checkpoint(struct machine *m, const struct job *j, int64_t iteration,
                            struct str *out)
{
    struct search s = {.wanted = iteration};
    buf_init(&s.checkpoint, SIZE_MAX);
    if (m->entry_version >= COMMAND_ENTRY_STRICT) {
        struct store_iteration row;
        struct buf room;
        buf_init(&room, SIZE_MAX);
        s.found = store_rows_find_iteration(&m->store, j, iteration, &room, &row);
        buf_add_str(&s.checkpoint, s.found ? row.checkpoint : STR_EMPTY);
        buf_deinit(&room);
    } else {
        store_rows_each_iteration(&m->store, j->id, look, &s);
    }
    *out = entry__keep(m, &s.checkpoint);
    return s.found;
}

void apply_replay(struct machine *m, const struct command *c, struct result *r)
{
    struct job source;
    enum store_family family;
    struct str checkpoint;
    const struct command_once *once = &c->replay.once;
    if (replies__find(m, once->key, once->hash, r)) {
        return;
    }
    if (!job_read__need(m, c->replay.id, &source, &family, r)) {
        return;
    }
    if (!source.is_agent) {
        entry__refuse(m, r, ERR_REPLAY, "job " STR_FMT " is not an agent job",
                      STR_ARG(entry__id_text(m, source.id, ID_JOB)));
        return;
    }
    if (!find_checkpoint(m, &source, c->replay.from, &checkpoint)) {
        entry__refuse(m, r, ERR_REPLAY, "job " STR_FMT " has no iteration %lld",
                      STR_ARG(entry__id_text(m, source.id, ID_JOB)), (long long)c->replay.from);
        return;
    }
    struct job j = {.queue = source.queue,
                    .payload = source.payload,
                    .priority = source.priority,
                    .backoff = source.backoff,
                    .max_retries = source.max_retries,
                    .retry_base_ms = source.retry_base_ms,
                    .retry_max_ms = source.retry_max_ms,
                    .tags = source.tags,
                    .checkpoint = checkpoint,
                    .is_agent = true,
                    .agent = source.agent};
    j.agent.iteration = 1;
    j.agent.total_cost_nusd = 0;
    jobs__create(m, &j);
    r->id = j.id;
    replies__keep(m, once->key, once->hash, r);
}
