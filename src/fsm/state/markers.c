/*
 * Markers: record the first time that a version of the server or of a worker is seen, for charts
 * (store_access.h). No decision depends on them, so the access hook is not called.
 *
 * A version that is seen twice in one entry is written twice, with the same bytes. A search for
 * markers sees only those of earlier entries, so an entry may create only MADE_MAX, and counts
 * them. Once a source has LIMIT_MARKERS, an entry creates at most one marker of it, in place of the
 * oldest. New versions that come after it in that entry get no marker.
 */
#include "base/limits.h"
#include "fsm/apply/apply_int.h"
#include "fsm/command/command_entry.h"
#include "store/store_access.h"

enum { MADE_MAX = 16 }; /* per entry */

struct oldest {
    uint32_t count;
    struct wall at;
    struct buf key;
};

static bool look_at_marker(void *data, struct str rest, struct str value)
{
    struct oldest *o = data;
    struct store_access_frame frame;
    if (store_access_decode_frame(value, &frame) &&
        (o->count == 0 || frame.created_at.ns < o->at.ns)) {
        o->at = frame.created_at;
        buf_clear(&o->key);
        buf_add_str(&o->key, rest);
    }
    o->count++;
    return true;
}

/* May the entry create another marker of the source? Deletes the oldest one if there are too
 * many. */
static bool make_room(struct machine *m, char source)
{
    const char bytes[] = {STORE_ACCESS_MARKER, source};
    struct str prefix = str_from(bytes, sizeof bytes);
    struct oldest oldest = {0};
    if (m->markers_index != m->index) {
        m->markers_index = m->index;
        m->markers_made = 0;
    }
    if (m->markers_made == MADE_MAX) {
        return false;
    }
    buf_init(&oldest.key, SIZE_MAX);
    store_each_from(&m->store, STORE_KIND_ACCESS, prefix, prefix, look_at_marker, &oldest);
    bool room = oldest.count + m->markers_made < LIMIT_MARKERS;
    if (!room && m->markers_made == 0) {
        store_delete(&m->store, STORE_KIND_ACCESS, buf_str(&oldest.key));
        m->markers_made = MADE_MAX - 1; /* the last one of this entry */
        room = true;
    }
    m->markers_made += room ? 1 : 0;
    buf_deinit(&oldest.key);
    return room;
}

static void put(struct machine *m, struct str key, const struct store_marker *marker)
{
    struct buf body;
    struct buf value;
    buf_init(&body, SIZE_MAX);
    buf_init(&value, SIZE_MAX);
    store_access_encode_marker(marker, &body);
    store_access_encode_frame(
        &(struct store_access_frame){.created_at = m->now, .body = buf_str(&body)}, &value);
    store_put(&m->store, STORE_KIND_ACCESS, key, buf_str(&value));
    buf_deinit(&body);
    buf_deinit(&value);
}

void markers__first_seen(struct machine *m, enum store_marker_source source, struct str ns,
                         struct str version)
{
    struct buf key;
    struct buf was;
    if (m->entry_version < COMMAND_ENTRY_AGED || version.len == 0) {
        return;
    }
    buf_init(&key, SIZE_MAX);
    buf_init(&was, SIZE_MAX);
    buf_add_char(&key, STORE_ACCESS_MARKER);
    buf_add_char(&key, (char)source);
    if (source == STORE_MARKER_WORKER) {
        buf_add_str(&key, ns);
        buf_add_str(&key, STR("::"));
    }
    buf_add_str(&key, version);
    if (!store_get(&m->store, STORE_KIND_ACCESS, buf_str(&key), &was) &&
        make_room(m, (char)source)) {
        put(m, buf_str(&key), &(struct store_marker){.ns = ns, .text = version});
    }
    buf_deinit(&key);
    buf_deinit(&was);
}
