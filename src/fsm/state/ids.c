/*
 * Ids of new things: unique by their place in the log, and different from what was restored.
 */
#include "fsm/apply/apply_int.h"

static bool is_taken(struct machine *m, struct id id)
{
    struct job j;
    enum store_family family;
    struct str key = str_from(id.b, ID_BYTES);
    return jobs__get(m, id, &j, &family) || batches__is_known(m, id) ||
           map_find(&m->schedules, key) != NULL || apply_policy__is_known(m, id);
}

/* Ids of this log are all different. One that was restored may have come from another, and lie
 * ahead: it is passed over. Whether there can be such a one, newest_id says. */
struct id ids__new(struct machine *m)
{
    struct id id = id_make(m->now, m->index, m->next_number++);
    while (id_cmp(id, m->newest_id) <= 0 && is_taken(m, id)) {
        id = id_make(m->now, m->index, m->next_number++);
    }
    return id;
}
