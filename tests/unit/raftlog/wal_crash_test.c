/*
 * Crashes and random histories, compared with a model of the log.
 *
 * The seed determines everything and is printed with a failure. WAL_SEED=<seed> in the environment
 * replays it. WAL_SEEDS=<count> runs more seeds than a unit test has time for.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "lib/rng.h"
#include "lib/test.h"
#include "log/log.h"
#include "raftlog/wal_int.h"
#include "unit/raftlog/wal_rig.h"

enum { INDEX_MAX = 20000, SECTOR_BYTES = 512 };

/* The expected log: the term and size of each entry. */
struct model {
    uint64_t first, next; /* entries first to next - 1 */
    uint64_t term[INDEX_MAX];
    size_t bytes[INDEX_MAX];
};

static void model_append(struct model *m, uint64_t term, size_t bytes)
{
    CHECK(m->next < INDEX_MAX);
    m->term[m->next] = term;
    m->bytes[m->next] = bytes;
    m->next++;
}

/* Does the content equal the model's entries up to next - 1? Entries before the model's first may
 * be present or not. */
static bool matches(const struct wal_content *c, const struct model *m, uint64_t next)
{
    if (c->first_index + c->count != next || c->first_index > m->first) {
        return false;
    }
    for (size_t i = 0; i < c->count; i++) {
        uint64_t index = c->first_index + i;
        const struct raft_entry *e = &c->entry[i];
        struct raft_entry expected = wal_rig_entry(index, m->term[index], m->bytes[index]);
        bool same = e->term == expected.term && e->type == expected.type &&
                    e->buf.len == expected.buf.len &&
                    memcmp(e->buf.base, expected.buf.base, e->buf.len) == 0;
        raft_free(expected.buf.base);
        if (!same) {
            return false;
        }
    }
    return true;
}

static size_t random_bytes(struct rng *rng)
{
    switch (rng_below(rng, 8)) {
    case 0:
        return (size_t)rng_below(rng, 9);
    case 1:
        return 2000 + (size_t)rng_below(rng, 6000); /* some are larger than a segment */
    default:
        return (size_t)rng_below(rng, 50) * 8;
    }
}

/* --- the newest file --- */

static bool has_begun(const char *path, struct segment_id id)
{
    struct segment_scan scan;
    struct buf image;
    tmpdir_read(path, &image);
    bool begun = segment_scan_begin(&scan, buf_str(&image), id);
    buf_deinit(&image);
    return begun;
}

/* Remove the newest segment of a copy of the log. True if a start then reports damage, or if it was
 * the only segment. */
static bool loss_is_noticed(const struct wal_rig *r)
{
    struct tmpdir other = tmpdir_new();
    struct os_file_path dir = tmpdir_path(&other, "log");
    tmpdir_copy(r->dir.path, dir.z);
    struct wal_config config = r->config;
    config.dir = dir.z;
    config.durable = true;
    struct segment_id id = {0};
    struct err err;
    CHECK(wal_key__load(dir.z, &id.key, &err) == ERR_OK);
    unsigned begun = 0;
    for (size_t i = tmpdir_count(dir.z, WAL_FILES_LOG); i > 0; i--) {
        struct os_file_path path = tmpdir_find(dir.z, WAL_FILES_LOG, i - 1);
        id.generation = strtoull(strrchr(path.z, '-') + 1, NULL, 16);
        if (has_begun(path.z, id) && begun++ == 0) {
            CHECK(unlink(path.z) == 0);
        }
    }
    struct wal *w = NULL;
    struct wal_content content = {0};
    enum err_code code = wal_open(&config, r->covered_index, &w, &content, &err);
    wal_content_clear(&content);
    wal_free(w);
    tmpdir_remove(&other);
    return begun <= 1 || code == ERR_CORRUPT;
}

/* --- random histories, without crashes, with the thread --- */

static void history_step(struct wal_rig *r, struct model *m, struct rng *rng)
{
    uint64_t kind = rng_below(rng, 20);
    if (kind < 14 || m->next == m->first) {
        size_t bytes = random_bytes(rng);
        unsigned count = 1 + (unsigned)rng_below(rng, 5);
        wal_rig_append(r, count, bytes);
        for (unsigned i = 0; i < count; i++) {
            model_append(m, r->term, bytes);
        }
    } else if (kind < 17) {
        uint64_t back = 1 + rng_below(rng, 12);
        uint64_t index = m->next - m->first > back ? m->next - back : m->first;
        wal_rig_truncate(r, index);
        m->next = index;
        r->term++;
    } else if (kind < 19) {
        uint64_t index = m->first + rng_below(rng, m->next - m->first);
        wal_rig_drop(r, index);
        m->first = index + 1;
    } else {
        m->first = m->next = m->next + rng_below(rng, 50);
        wal_rig_reset(r, m->next, NULL);
        r->term++;
    }
}

static void random_history(uint64_t seed)
{
    static struct model m;
    struct rng rng = rng_from(seed);
    struct wal_rig r;
    wal_rig_init(&r);
    r.config.durable = rng_below(&rng, 4) != 0;
    m.first = m.next = 1;
    for (unsigned life = 0; life < 12; life++) {
        r.covered_index = m.first - 1;
        wal_rig_open(&r);
        if (!matches(&r.content, &m, m.next)) {
            fail_msg("seed %llu, life %u", (unsigned long long)seed, life);
        }
        uint64_t steps = rng_below(&rng, 60);
        for (uint64_t i = 0; i < steps; i++) {
            history_step(&r, &m, &rng);
            if (rng_below(&rng, 4) == 0) {
                wal_rig_wait(&r);
            }
        }
        wal_rig_wait(&r);
        wal_rig_close(&r);
        r.covered_index = m.first - 1;
        if (!loss_is_noticed(&r)) {
            fail_msg("seed %llu, life %u: a loss", (unsigned long long)seed, life);
        }
    }
    wal_rig_deinit(&r);
}

/* --- crashes in the middle of an operation, without the thread --- */

/* Change image to what a disk may contain if the power fails while old is overwritten with image:
 * each of its sectors may be old or new. */
static void mix(const struct buf *old, struct buf *image, struct rng *rng)
{
    uint64_t share = 1 + rng_below(rng, 9);
    for (size_t at = 0; at < image->len; at += SECTOR_BYTES) {
        size_t n = image->len - at < SECTOR_BYTES ? image->len - at : SECTOR_BYTES;
        if (rng_below(rng, 10) < share) {
            continue;
        }
        for (size_t i = at; i < at + n; i++) {
            image->ptr[i] = i < old->len ? old->ptr[i] : 0;
        }
    }
}

static bool same_file(const struct buf *a, const struct buf *b)
{
    return str_eq(buf_str(a), buf_str(b));
}

/* Turn the folder after an operation into one where a crash interrupted it. The segments that it
 * wrote reach the disk in order, since each is flushed before the next begins. One of them is torn,
 * and those after it are still zero. */
static void crash(const char *before, const char *after, struct rng *rng)
{
    struct os_file_names names;
    struct err err;
    CHECK(os_file_list(after, &names, &err) == ERR_OK);
    bool torn = false;
    for (size_t i = 0; i < names.count; i++) {
        struct os_file_path old_path = os_file_join(before, names.name[i]);
        struct os_file_path path = os_file_join(after, names.name[i]);
        struct buf old;
        struct buf image;
        buf_init(&old, 1 << 20);
        tmpdir_read(path.z, &image);
        if (os_file_read(old_path.z, &old, &err) != ERR_OK || !same_file(&old, &image)) {
            if (torn) {
                memset(image.ptr, 0, image.len);
            } else if (rng_below(rng, 2) == 0) {
                torn = true;
                mix(&old, &image, rng);
            }
            tmpdir_write(path.z, buf_str(&image));
        }
        buf_deinit(&old);
        buf_deinit(&image);
    }
    os_file_names_clear(&names);
}

/* One operation: the state of the model before it. The model itself is changed as if all of the
 * operation had reached the disk. */
struct change {
    uint64_t first_before, next_before;
    bool is_append;
};

static struct change change_log(struct wal_rig *r, struct model *m, struct rng *rng)
{
    struct change c = {.first_before = m->first, .next_before = m->next};
    struct err err;
    struct wal_op op = {.kind = WAL_APPEND, .index = m->next};
    struct raft_entry entry[8];
    uint64_t kind = rng_below(rng, 10);
    if (kind < 8 || m->next == m->first) {
        op.count = 1 + (unsigned)rng_below(rng, COUNT_OF(entry));
        op.entry = entry;
        c.is_append = true;
        for (unsigned i = 0; i < op.count; i++) {
            size_t bytes = random_bytes(rng);
            entry[i] = wal_rig_entry(m->next, r->term, bytes);
            model_append(m, r->term, bytes);
        }
    } else {
        op.kind = WAL_TRUNCATE;
        op.index = m->first + rng_below(rng, m->next - m->first);
        m->next = op.index;
    }
    CHECK(wal__do_now(r->wal, &op, &err) == ERR_OK);
    for (unsigned i = 0; i < op.count; i++) {
        raft_free(entry[i].buf.base);
    }
    return c;
}

/* After a crash, the log contains everything from before the operation and a part of the operation.
 * Adapt the model to the content found. False if that is not possible. */
static bool settle(const struct wal_content *found, struct model *m, const struct change *c)
{
    uint64_t next = found->first_index + found->count;
    if (c->is_append) {
        if (next < c->next_before || next > m->next || !matches(found, m, next)) {
            return false;
        }
        m->next = next;
        return true;
    }
    if (matches(found, m, m->next)) {
        return true; /* the truncation is on disk */
    }
    m->next = c->next_before; /* or it is not */
    return matches(found, m, m->next);
}

static void random_crashes(uint64_t seed)
{
    static struct model m;
    struct rng rng = rng_from(seed);
    struct wal_rig r;
    struct err err = {0};
    wal_rig_init(&r);
    m.first = m.next = 1;
    for (unsigned life = 0; life < 30; life++) {
        r.term = life + 1;
        if (wal_rig_try(&r, &err) != ERR_OK || !matches(&r.content, &m, m.next)) {
            fail_msg("seed %llu, life %u: %s", (unsigned long long)seed, life, err.msg);
        }
        for (uint64_t i = rng_below(&rng, 5); i > 0; i--) {
            (void)change_log(&r, &m, &rng);
        }
        struct tmpdir before = tmpdir_new();
        struct os_file_path copy = tmpdir_path(&before, "log");
        tmpdir_copy(r.dir.path, copy.z);
        struct change c = change_log(&r, &m, &rng);
        wal_rig_close(&r);
        crash(copy.z, r.dir.path, &rng);
        tmpdir_remove(&before);
        if (wal_rig_try(&r, &err) != ERR_OK || !settle(&r.content, &m, &c)) {
            fail_msg("seed %llu, crash %u: %s", (unsigned long long)seed, life, err.msg);
        }
        wal_rig_close(&r);
        if (!loss_is_noticed(&r)) {
            fail_msg("seed %llu, crash %u: a loss", (unsigned long long)seed, life);
        }
    }
    wal_rig_deinit(&r);
}

/* --- running the seeds --- */

static void for_seeds(void (*run)(uint64_t seed), uint64_t count)
{
    int64_t first = 1;
    int64_t last = (int64_t)count;
    log_configure(LOG_ERROR, LOG_TEXT);
    if (str_to_i64(str_from_z(getenv("WAL_SEED")), &first)) {
        last = first;
    } else if (!str_to_i64(str_from_z(getenv("WAL_SEEDS")), &last)) {
        last = (int64_t)count;
    }
    print_message("    seeds %lld to %lld\n", (long long)first, (long long)last);
    for (int64_t i = first; i <= last; i++) {
        run((uint64_t)i);
    }
    log_configure(LOG_INFO, LOG_AUTO);
}

static void log__is_what_a_random_history_made_of_it(void **state)
{
    (void)state;
    for_seeds(random_history, 5);
}

static void log__keeps_what_was_promised_through_random_crashes(void **state)
{
    (void)state;
    for_seeds(random_crashes, 5);
}

TEST_GROUP(wal_crash, cmocka_unit_test(log__is_what_a_random_history_made_of_it),
           cmocka_unit_test(log__keeps_what_was_promised_through_random_crashes));
