/*
 * Job_read: reads jobs, by their id.
 */
#include "base/check.h"
#include "fsm/apply/apply_int.h"

bool job_read__get(struct machine *m, struct id id, struct job *out, enum store_family *out_family)
{
    *out_family = live_index_find(&m->live_index, id) != NULL ? STORE_LIVE : STORE_DONE;
    return store_docs_get(m->store.docs, *out_family, id, out);
}

bool job_read__glance(struct machine *m, struct id id, struct job *out)
{
    enum store_family family =
        live_index_find(&m->live_index, id) != NULL ? STORE_LIVE : STORE_DONE;
    return store_docs_glance(m->store.docs, family, id, out);
}

struct str job_read__doc(struct machine *m, struct id id)
{
    struct str head = store_docs_head(m->store.docs, id);
    struct str body = store_docs_body(m->store.docs, id);
    CHECK(head.len > 0); /* it was read or written in this entry */
    char *copy = entry__alloc(m, head.len + body.len);
    memcpy(copy, head.ptr, head.len);
    if (body.len > 0) {
        memcpy(copy + head.len, body.ptr, body.len);
    }
    return str_from(copy, head.len + body.len);
}

bool job_read__state(struct machine *m, struct id id, enum job_state *out)
{
    const struct live_job *l = live_index_find(&m->live_index, id);
    if (l != NULL) {
        *out = (enum job_state)l->state;
        return true;
    }
    return store_docs_state(m->store.docs, STORE_DONE, id, out);
}

bool job_read__need(struct machine *m, struct id id, struct job *out, enum store_family *out_family,
                    struct result *r)
{
    if (job_read__get(m, id, out, out_family)) {
        return true;
    }
    entry__refuse(m, r, ERR_NOT_FOUND, "job \"" STR_FMT "\" not found",
                  STR_ARG(entry__id_text(m, id, ID_JOB)));
    return false;
}
