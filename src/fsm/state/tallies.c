/*
 * Tallies: sums of the usage that workers report, for reports (http-api.md 17.1, 17.2). No decision
 * depends on them.
 *
 * A report is counted where its job is at that time: in the cell of the queue, model and provider,
 * and in that of each tag of the job. Later changes of the job do not move it. New cells of the
 * current hour are limited in bytes. Beyond the limit, a report is counted for its namespace alone,
 * and not for its tags. So that callers of one namespace, such as the default one, cannot use up
 * the room of the others, a namespace gets at most half of it, and one tag key of a namespace a
 * quarter.
 *
 * Counting begins with the first report, the first removal of a job with reports or the first
 * restored report or sum in an entry of version 13. From then on, entries of all versions are
 * counted, because a new leader may write older ones for a while. Earlier reports stay rows of
 * their jobs (the view adds those up) and are counted when their job is removed.
 *
 * Cells in memory are a cache of their records; what is written does not depend on which cells are
 * cached. An entry writes each cell once.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "core/queue_name.h"
#include "fsm/apply/apply_int.h"
#include "json/json_scan.h"

enum {
    CELLS_MAX = 8192,     /* in memory; if there are more, all are dropped at the end of an entry */
    CELL_BYTES = 64,      /* maximum size of its value */
    ROW_READ_BYTES = 128, /* cost of reading a report's row */
    NAMESPACE_BYTES_MAX = LIMIT_TALLY_HOUR_BYTES / 2, /* per hour */
    TAG_BYTES_MAX = LIMIT_TALLY_HOUR_BYTES / 4
};

struct tally {
    struct map_node node; /* by key */
    bool dirty;
    struct tally *dirty_next;
    enum store_tally_series series;
    uint32_t number;
    struct store_tally sums;
    char key[];
};

/* A report that is being counted, and its time. */
struct counting {
    struct wall at;
    bool limited;
    struct store_tally sums;
};

static int64_t number_now(const struct machine *m, enum store_tally_series series)
{
    return store_tally_number(series, m->now);
}

/* --- cells --- */

static void forget(struct map_node *n, void *data)
{
    struct machine *m = data;
    struct tally *c = CONTAINER_OF(n, struct tally, node);
    CHECK(!c->dirty);
    map_remove(&m->tallies.cells, n);
    free(c);
}

static struct tally *keep_cell(struct machine *m, enum store_tally_series series, uint32_t number,
                               struct str key, const struct store_tally *sums)
{
    struct tally *c = calloc(1, sizeof *c + key.len);
    CHECK(c != NULL);
    memcpy(c->key, key.ptr, key.len);
    c->node.key = str_from(c->key, key.len);
    c->series = series;
    c->number = number;
    c->sums = *sums;
    map_add(&m->tallies.cells, &c->node);
    return c;
}

/* Find the cell in memory or in the store. NULL if it does not exist. */
static struct tally *find_cell(struct machine *m, enum store_tally_series series, uint32_t number,
                               struct str key)
{
    struct map_node *n = map_find(&m->tallies.cells, key);
    struct store_tally sums;
    if (n != NULL) {
        return CONTAINER_OF(n, struct tally, node);
    }
    return store_tally_get(&m->store, key, &sums) ? keep_cell(m, series, number, key, &sums) : NULL;
}

static struct tally *new_cell(struct machine *m, enum store_tally_series series, uint32_t number,
                              struct str key)
{
    struct tallies *t = &m->tallies;
    t->made[series]++;
    t->oldest[series] = number < t->oldest[series] ? number : t->oldest[series];
    return keep_cell(m, series, number, key, &(struct store_tally){0});
}

static void mark_dirty(struct machine *m, struct tally *c)
{
    if (!c->dirty) {
        c->dirty = true;
        c->dirty_next = m->tallies.dirty;
        m->tallies.dirty = c;
        m->extra_bytes += c->node.key.len + CELL_BYTES;
    }
}

/* --- room in an hour --- */

/* The share for which the cell's bytes are counted: its namespace, or a tag's key in the
 * namespace. */
static struct str share_of(const struct store_tally_name *name, bool is_tag, struct buf *room)
{
    struct str ns = queue_name_namespace(name->queue);
    if (!is_tag) {
        return ns;
    }
    buf_add_str(room, ns);
    buf_add_char(room, '\0');
    buf_add_str(room, name->first);
    return buf_str(room);
}

/* Count the bytes of a new cell of the current hour. False if it is limited and there is no room
 * for it. */
static bool take_room(struct machine *m, const struct store_tally_name *name, bool is_tag,
                      uint64_t bytes, bool limited)
{
    struct shares *shares = is_tag ? &m->tallies.tag_shares : &m->tallies.shares;
    struct buf text;
    char room[256];
    buf_init_room(&text, SIZE_MAX, room, sizeof room);
    struct str share = share_of(name, is_tag, &text);
    uint64_t own_max = is_tag ? TAG_BYTES_MAX : NAMESPACE_BYTES_MAX;
    bool fits = !limited || shares__fit(shares, share, bytes, own_max, LIMIT_TALLY_HOUR_BYTES);
    if (fits) {
        shares__take(shares, share, bytes);
    }
    buf_deinit(&text);
    return fits;
}

/* --- counting --- */

static bool is_kept(const struct machine *m, enum store_tally_series series, int64_t number)
{
    int64_t now = number_now(m, series);
    return number >= 0 && number <= now && number + store_tally_kept(series) >= now;
}

/* Find or create the cell. NULL if it belongs to the current hour, which has no room for it. */
static struct tally *need_cell(struct machine *m, enum store_tally_series series, uint32_t number,
                               const struct store_tally_name *name, struct str key, bool limited)
{
    bool is_tag = series >= STORE_TALLY_TAG_PARTS;
    bool in_hour = store_tally_seconds(series) == 3600 && number == number_now(m, series);
    struct tally *c = find_cell(m, series, number, key);
    if (c == NULL && (!in_hour || take_room(m, name, is_tag, key.len + CELL_BYTES, limited))) {
        c = new_cell(m, series, number, key);
    }
    return c;
}

/* Add to the cell of the series. False when there is no room for it. */
static bool add_in(struct machine *m, enum store_tally_series series,
                   const struct store_tally_name *name, const struct counting *counting)
{
    int64_t at = store_tally_number(series, counting->at);
    if (!is_kept(m, series, at)) {
        return true;
    }
    struct buf key;
    ATTR_UNINITIALIZED char room[512];
    buf_init_room(&key, STORE_TALLY_KEY_BYTES_MAX, room, sizeof room);
    store_tally_key(series, (uint32_t)at, name, &key);
    CHECK(!key.overflow);
    struct tally *c = need_cell(m, series, (uint32_t)at, name, buf_str(&key), counting->limited);
    if (c != NULL) {
        store_tally_add(&c->sums, &counting->sums);
        mark_dirty(m, c);
    }
    buf_deinit(&key);
    return c != NULL;
}

static void add_named(struct machine *m, const struct store_tally_name *name,
                      const struct counting *counting)
{
    if (add_in(m, STORE_TALLY_HOURS, name, counting)) {
        (void)add_in(m, STORE_TALLY_PARTS, name, counting);
        return;
    }
    /* The name is "<namespace>::", or empty for the default namespace. */
    struct str ns = queue_name_namespace(name->queue);
    struct store_tally_name rest = {
        .queue = ns.len == 0 ? STR_EMPTY : str_from(ns.ptr, ns.len + QUEUE_NAME_MARK.len)};
    struct counting unlimited = *counting;
    unlimited.limited = false;
    (void)add_in(m, STORE_TALLY_HOURS, &rest, &unlimited);
    (void)add_in(m, STORE_TALLY_PARTS, &rest, &unlimited);
}

static struct str text_of(struct machine *m, struct json_value value)
{
    struct buf text;
    ATTR_UNINITIALIZED char room[256];
    buf_init_room(&text, SIZE_MAX, room, sizeof room);
    if (value.type == JSON_TYPE_STRING) {
        json_value_text_buf(value, &text);
    } else {
        buf_add_str(&text, value.text);
    }
    return entry__keep(m, &text);
}

struct tag {
    struct str key, value;
};

/* If a key occurs twice, the last tag counts. */
static size_t read_tags(struct machine *m, struct str tags, struct tag out[LIMIT_TAGS])
{
    struct json_scan s = json_scan_from(tags);
    struct json_value key;
    struct json_value value;
    size_t count = 0;
    if (tags.len == 0 || !json_scan_enter_object(&s)) {
        return 0;
    }
    while (json_scan_next_key(&s, &key) && json_scan_value(&s, &value)) {
        size_t at = 0;
        while (at < count && !json_value_text_eq(key, out[at].key)) {
            at++;
        }
        if (at < LIMIT_TAGS) {
            out[at] = (struct tag){text_of(m, key), text_of(m, value)};
            count += at == count ? 1 : 0;
        }
    }
    return count;
}

static void add_tags(struct machine *m, struct str queue, struct str tags,
                     const struct counting *counting)
{
    ATTR_UNINITIALIZED struct tag list[LIMIT_TAGS];
    size_t count = read_tags(m, tags, list);
    for (size_t i = 0; i < count; i++) {
        struct store_tally_name name = {queue, list[i].key, list[i].value};
        if (name.first.len <= LIMIT_TAG_KEY_BYTES && name.second.len <= LIMIT_TAG_VALUE_BYTES &&
            add_in(m, STORE_TALLY_TAG_HOURS, &name, counting)) {
            (void)add_in(m, STORE_TALLY_TAG_PARTS, &name, counting);
        }
    }
}

static void add(struct machine *m, const struct job *j, const struct store_tokens *tokens,
                struct wall at, bool limited)
{
    struct counting counting = {.at = at,
                                .limited = limited,
                                .sums = {.input = tokens->input,
                                         .output = tokens->output,
                                         .cache_creation = tokens->cache_creation,
                                         .cache_read = tokens->cache_read,
                                         .cost_nusd = tokens->cost_nusd,
                                         .reports = 1}};
    add_named(m, &(struct store_tally_name){j->queue, tokens->model, tokens->provider}, &counting);
    add_tags(m, j->queue, j->tags, &counting);
}

bool tallies__begin(struct machine *m)
{
    struct tallies *t = &m->tallies;
    if (!t->start.known) {
        if (m->entry_version < COMMAND_ENTRY_EXACT) {
            return false;
        }
        t->start = (struct store_tally_start){true, m->now, m->store.meta.next_row};
        store_tally_start_put(&m->store, &t->start);
    }
    int64_t part = number_now(m, STORE_TALLY_PARTS);
    int64_t hour = number_now(m, STORE_TALLY_HOURS);
    if (part != t->part) {
        map_each(&t->cells, forget, m);
        t->part = part;
    }
    if (hour != t->hour) {
        shares__forget(&t->shares);
        shares__forget(&t->tag_shares);
        t->hour = hour;
    }
    return true;
}

/* --- interface --- */

void tallies__report(struct machine *m, const struct job *j, const struct store_tokens *tokens)
{
    if (tallies__begin(m)) {
        add(m, j, tokens, m->now, true);
    }
}

struct settling {
    struct machine *machine;
    struct job job;
};

static void settle_row(void *data, const struct store_usage *u)
{
    struct settling *s = data;
    s->machine->extra_bytes += ROW_READ_BYTES;
    if (u->row < s->machine->tallies.start.row) {
        add(s->machine, &s->job, &u->tokens, u->created_at, false);
    }
}

void tallies__settle(struct machine *m, const struct job *j, enum store_family family)
{
    struct settling s = {.machine = m};
    /* Reports from before counting began are all committed: only such rows are read. */
    if (j->usage_count > 0 && tallies__begin(m) && j->created_at.ns <= m->tallies.start.at.ns &&
        store_docs_get(m->store.docs, family, j->id, &s.job)) {
        store_rows_each_usage(&m->store, j->id, settle_row, &s);
    }
}

void tallies__restored(struct machine *m, const struct job *j, const struct store_usage *u)
{
    add(m, j, &u->tokens, u->created_at, false);
}

void tallies__restore(struct machine *m, struct str key, const struct store_tally *sums)
{
    enum store_tally_series series;
    uint32_t number;
    struct store_tally_name name;
    bool good = store_tally_decode_key(key, &series, &number, &name);
    CHECK(good); /* the decoder of the command has checked it */
    if (!tallies__begin(m) || !is_kept(m, series, number)) {
        return;
    }
    struct tally *c = need_cell(m, series, number, &name, key, true);
    if (c != NULL) {
        store_tally_raise(&c->sums, sums);
        mark_dirty(m, c);
    }
}

/* Delete old cells at the end of an entry, at most two for each new one: enough to catch up. */
static void trim(struct machine *m, enum store_tally_series series)
{
    struct tallies *t = &m->tallies;
    int64_t now = number_now(m, series);
    int64_t kept = store_tally_kept(series);
    if (t->made[series] > 0) {
        store_tally_trim(&m->store, series, &t->from[series],
                         now > kept ? (uint32_t)(now - kept) : 0, 2 * t->made[series]);
        /* The cells written by this entry are not committed, so the trim did not see them. */
        if (t->oldest[series] < t->from[series]) {
            t->from[series] = t->oldest[series];
        }
    }
    t->made[series] = 0;
    t->oldest[series] = UINT32_MAX;
}

void tallies__write(struct machine *m)
{
    struct tallies *t = &m->tallies;
    if (t->dirty == NULL) {
        return;
    }
    while (t->dirty != NULL) {
        struct tally *c = t->dirty;
        t->dirty = c->dirty_next;
        c->dirty = false;
        store_tally_put(&m->store, c->node.key, &c->sums);
    }
    for (unsigned i = 0; i < STORE_TALLY_SERIES; i++) {
        trim(m, (enum store_tally_series)i);
    }
    if (t->cells.count > CELLS_MAX) {
        map_each(&t->cells, forget, m);
    }
}

/* --- opening and closing --- */

static bool load_share(void *data, struct str key, struct str value)
{
    struct machine *m = data;
    enum store_tally_series series;
    uint32_t number;
    struct store_tally_name name;
    (void)value;
    if (!store_tally_decode_key(key, &series, &number, &name)) {
        check_fatal("the key of a sum of usage cannot be read");
    }
    (void)take_room(m, &name, series >= STORE_TALLY_TAG_PARTS, key.len + CELL_BYTES, false);
    return true;
}

void tallies__load(struct machine *m)
{
    static const enum store_tally_series limited[] = {STORE_TALLY_HOURS, STORE_TALLY_TAG_HOURS};
    struct tallies *t = &m->tallies;
    char prefix[STORE_TALLY_PREFIX_BYTES];
    map_init(&t->cells);
    t->start = store_tally_start_get(&m->store);
    t->part = -1;
    t->hour = store_tally_number(STORE_TALLY_HOURS, m->store.meta.now);
    for (unsigned i = 0; i < STORE_TALLY_SERIES; i++) {
        t->oldest[i] = UINT32_MAX;
    }
    for (unsigned i = 0; i < COUNT_OF(limited); i++) {
        store_tally_prefix(limited[i], (uint32_t)t->hour, prefix);
        struct str bucket = str_from(prefix, sizeof prefix);
        store_each_from(&m->store, STORE_KIND_TALLY, bucket, bucket, load_share, m);
    }
}

void tallies__close(struct machine *m)
{
    map_each(&m->tallies.cells, forget, m);
    map_deinit(&m->tallies.cells);
    shares__forget(&m->tallies.shares);
    shares__forget(&m->tallies.tag_shares);
}
