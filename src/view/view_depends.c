/*
 * The jobs that a job depends on, for the table that answers the reverse question: which jobs
 * depend on this one. The list is the depends_on of its chain_config, which never changes.
 */
#include <stdlib.h>
#include <string.h>

#include "json/json_scan.h"
#include "view/view_int.h"

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, ID_BYTES);
}

static size_t without_repeats(struct id *ids, size_t n)
{
    size_t kept = 0;
    qsort(ids, n, sizeof *ids, compare);
    for (size_t i = 0; i < n; i++) {
        if (kept == 0 || !id_eq(ids[kept - 1], ids[i])) {
            ids[kept++] = ids[i];
        }
    }
    return kept;
}

size_t view_depends__of(const struct job *j, struct id out[VIEW_DEPENDS_MAX])
{
    struct json_value list;
    struct json_value item;
    size_t n = 0;
    if (j->chain_config.len == 0 || !json_scan_member(j->chain_config, STR("depends_on"), &list) ||
        list.type != JSON_TYPE_ARRAY) {
        return 0;
    }
    struct json_scan scan = json_scan_from(list.text);
    if (!json_scan_enter_array(&scan)) {
        return 0;
    }
    while (n < VIEW_DEPENDS_MAX && json_scan_next_element(&scan) && json_scan_value(&scan, &item)) {
        /* A client may store other values in this member. The quotes are part of the text. */
        struct str text = item.text;
        n += item.type == JSON_TYPE_STRING && text.len > 2 &&
             id_parse(str_from(text.ptr + 1, text.len - 2), ID_JOB, &out[n]);
    }
    return without_repeats(out, n);
}
