/*
 * The ledger: what clients know of each job, and the checks that the state agrees.
 *
 * Stories delete nothing, so a job that a client knows exists forever, and a finished job does not
 * change.
 */
#include <stdlib.h>

#include "base/check.h"
#include "sim/whole_sim/whole.h"
#include "store/store_docs.h"
#include "store/store_job.h"

struct whole_note *whole_ledger_note(struct whole *w, struct id job)
{
    struct map_node *found = map_find(&w->notes, str_from(job.b, ID_BYTES));
    return found == NULL ? NULL : CONTAINER_OF(found, struct whole_note, node);
}

void whole_ledger_add(struct whole *w, struct id job, uint64_t marker)
{
    if (whole_ledger_note(w, job) != NULL) {
        return;
    }
    struct whole_note *note = calloc(1, sizeof *note);
    CHECK(note != NULL);
    note->id = job;
    note->marker = marker;
    note->node.key = str_from(note->id.b, ID_BYTES);
    map_add(&w->notes, &note->node);
    note->next = w->note_list;
    w->note_list = note;
    w->note_count++;
}

static void check_job(struct whole *w, const struct whole_note *note, const struct job *j)
{
    char text[ID_TEXT_MAX];
    size_t len = id_format(note->id, ID_JOB, text);
    if (note->completed && j->state != JOB_COMPLETED) {
        sim_violation(w->sim, "%.*s was acknowledged as completed and is in state %d", (int)len,
                      text, (int)j->state);
    }
    if (note->cancelled && j->state != JOB_CANCELLED) {
        sim_violation(w->sim, "%.*s was acknowledged as cancelled and is in state %d", (int)len,
                      text, (int)j->state);
    }
    if (j->error_count < note->fails || j->error_count > note->fails + note->fails_maybe) {
        sim_violation(w->sim, "%.*s has failed %u times; acknowledged were %u, and %u are unknown",
                      (int)len, text, j->error_count, note->fails, note->fails_maybe);
    }
}

static void check_notes(struct whole *w, struct whole_node *n)
{
    struct buf doc;
    buf_init(&doc, SIZE_MAX);
    for (const struct whole_note *note = w->note_list; note != NULL; note = note->next) {
        struct job j;
        struct err err;
        char text[ID_TEXT_MAX];
        size_t len = id_format(note->id, ID_JOB, text);
        buf_clear(&doc);
        if (!store_docs_read(machine_store(n->machine), note->id, &doc)) {
            sim_violation(w->sim, "%.*s was acknowledged and is not there", (int)len, text);
            continue;
        }
        CHECK(store_job_decode(note->id, buf_str(&doc), &j, &err) == ERR_OK);
        check_job(w, note, &j);
    }
    buf_deinit(&doc);
}

/* Check that every job is in exactly one family, the one of its state, and that no two unfinished
 * jobs have the same unique key. */
static void check_family(struct whole *w, struct whole_node *n, enum store_family family,
                         struct map *ids, struct map *keys)
{
    struct kv_iter *it = store_iter(machine_store(n->machine), family, STR_EMPTY);
    for (; kv_iter_valid(it); kv_iter_next(it)) {
        struct job j;
        struct err err;
        struct id id = id_from_bytes(kv_iter_key(it).ptr);
        bool is_new = true;
        CHECK(store_job_decode(id, kv_iter_value(it), &j, &err) == ERR_OK);
        if (job_state_is_terminal(j.state) != (family == STORE_DONE)) {
            sim_violation(w->sim, "a job in state %d is in the wrong family", (int)j.state);
        }
        (void)whole_truth_mark(ids, id.b, ID_BYTES, &is_new);
        if (!is_new) {
            sim_violation(w->sim, "a job is among the live ones and among those that are over");
        }
        if (family == STORE_LIVE && j.unique_key.len > 0) {
            (void)whole_truth_mark(keys, j.unique_key.ptr, j.unique_key.len, &is_new);
        }
        if (!is_new) {
            sim_violation(w->sim, "two jobs have the unique key " STR_FMT, STR_ARG(j.unique_key));
        }
    }
    store_end_walk(it);
}

static void check_families(struct whole *w, struct whole_node *n)
{
    struct map ids;
    struct map keys;
    map_init(&ids);
    map_init(&keys);
    check_family(w, n, STORE_LIVE, &ids, &keys);
    check_family(w, n, STORE_DONE, &ids, &keys);
    whole_truth_forget(&ids);
    whole_truth_forget(&keys);
}

void whole_ledger_check(struct whole *w, struct whole_node *n)
{
    check_notes(w, n);
    check_families(w, n);
}

void whole_ledger_free(struct whole *w)
{
    map_deinit(&w->notes);
    while (w->note_list != NULL) {
        struct whole_note *note = w->note_list;
        w->note_list = note->next;
        free(note);
    }
}
