/*
 * Ids of new objects: unique by their position in the log, and different from all restored ids.
 */
#include "fsm/apply/apply_int.h"

static bool is_taken(struct machine *m, struct id id)
{
    struct job j;
    enum store_family family;
    struct str key = str_from(id.b, ID_BYTES);
    return job_read__get(m, id, &j, &family) || batches__is_known(m, id) ||
           map_find(&m->schedules, key) != NULL || policies__is_known(m, id);
}

/* Ids of one log are all different. A restored id may be from another log and ahead of this one:
 * such an id is skipped. No restored id is greater than newest_id. */
struct id ids__new(struct machine *m)
{
    struct id id = id_make(m->now, m->index, m->next_number++);
    while (id_cmp(id, m->newest_id) <= 0 && is_taken(m, id)) {
        id = id_make(m->now, m->index, m->next_number++);
    }
    return id;
}
