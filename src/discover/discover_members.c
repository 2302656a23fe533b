#include "discover/discover_members.h"

#include <string.h>

static struct discover_member *find(struct discover_members *m, const char *node_id)
{
    for (size_t i = 0; i < m->count; i++) {
        if (strcmp(m->rows[i].node_id, node_id) == 0) {
            return &m->rows[i];
        }
    }
    return NULL;
}

static bool is_newer(const struct discover_member *report, const struct discover_member *known)
{
    return report->started_ms != known->started_ms ? report->started_ms > known->started_ms
                                                   : report->beats > known->beats;
}

bool discover_members_merge(struct discover_members *m, const struct discover_member *report,
                            int64_t now_ms)
{
    struct discover_member *row = find(m, report->node_id);
    if (row == NULL) {
        if (report->left || m->count == DISCOVER_MEMBERS_MAX) {
            return false;
        }
        row = &m->rows[m->count++];
    } else if (!is_newer(report, row)) {
        return false;
    }
    *row = *report;
    row->heard_ms = now_ms;
    return true;
}

bool discover_members_is_alive(const struct discover_member *row, int64_t now_ms)
{
    return !row->left && now_ms - row->heard_ms <= DISCOVER_MEMBERS_SILENT_MS;
}

void discover_members_forget(struct discover_members *m, int64_t now_ms)
{
    for (size_t i = 0; i < m->count;) {
        if (now_ms - m->rows[i].heard_ms > DISCOVER_MEMBERS_FORGET_MS) {
            m->rows[i] = m->rows[--m->count];
        } else {
            i++;
        }
    }
}
