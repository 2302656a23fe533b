/*
 * Documents in two parts: readers do not see the parts, and a body exists exactly as long as the
 * head that refers to it.
 */
#include "store/store_body.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/check.h"
#include "lib/rng.h"
#include "store/store_job.h"
#include "store/store_snapshot.h"
#include "store/store_walk.h"
#include "unit/store/store_fixture.h"

enum { LONG = 5000 };

/* Return a text of len times c. */
static struct str text_of(char c, size_t len)
{
    static char texts[128][LONG];
    char *text = texts[(unsigned char)c];
    assert_true(len <= LONG && (unsigned char)c < 128);
    memset(text, c, LONG);
    return str_from(text, len);
}

static struct job job_of(unsigned number, enum job_state s, struct str payload)
{
    struct job j = samples_job_minimal();
    j.id = samples_id(number);
    j.state = s;
    j.payload = payload;
    return j;
}

static size_t count_bodies(struct store_fixture *f)
{
    size_t count = 0;
    struct kv_iter *it = store_iter(&f->store, STORE_ROWS, STR_EMPTY);
    for (; kv_iter_valid(it); kv_iter_next(it)) {
        count++;
    }
    store_end_walk(it);
    return count;
}

/* Read the committed document like any other thread, and compare it. */
static void expect_read(struct store_fixture *f, const struct job *want)
{
    struct buf doc;
    struct job got;
    struct err err;
    buf_init(&doc, 1 << 20);
    buf_add_str(&doc, STR("before")); /* the document is appended */
    assert_true(store_docs_read(&f->store, want->id, &doc));
    assert_int_equal(store_job_decode(want->id, str_from_offset(buf_str(&doc), 6), &got, &err),
                     ERR_OK);
    samples_same_job(&got, want);
    buf_deinit(&doc);
}

static void expect_parts(const char *what, struct str stored, bool two)
{
    struct store_job_body body;
    ROW(what);
    assert_int_equal(store_job_find_body(stored, &body), two);
}

static void change__of_the_state_does_not_write_the_body(void **state)
{
    struct store_fixture *f = *state;
    struct store_docs *d = f->store.docs;
    struct job j = job_of(1, JOB_PENDING, text_of('x', LONG));
    struct job got;
    f->store.bodies = true;
    j.tags = text_of('t', 700);
    store_docs_put(d, &j, STORE_FAMILY_COUNT);
    assert_true(kv_batch_bytes(f->store.batch).len > LONG);
    store_fixture_commit(f);
    static const struct {
        enum job_state to;
        enum store_family from;
    } steps[] = {{JOB_ACTIVE, STORE_LIVE},    {JOB_RETRYING, STORE_LIVE}, {JOB_PENDING, STORE_LIVE},
                 {JOB_COMPLETED, STORE_LIVE}, {JOB_PENDING, STORE_DONE},  {JOB_DEAD, STORE_LIVE}};
    for (unsigned i = 0; i < 2 * COUNT_OF(steps); i++) {
        const unsigned at = i % COUNT_OF(steps);
        enum store_family from = i == COUNT_OF(steps) ? STORE_DONE : steps[at].from;
        assert_true(store_docs_get(d, from, j.id, &got));
        got.state = j.state = steps[at].to;
        got.version = j.version = 100 + i;
        store_docs_put(d, &got, from);
        assert_true(kv_batch_bytes(f->store.batch).len < 512);
        expect_parts("in memory", store_docs_head(d, j.id), true);
        store_fixture_commit(f);
        expect_read(f, &j);
        assert_int_equal(count_bodies(f), 1);
        if (i % 2 == 0) {
            store_fixture_reopen(f);
            f->store.bodies = true;
            d = f->store.docs;
        }
    }
}

/* The same bytes at another address are the same body. */
static void body__is_compared_by_what_it_says(void **state)
{
    struct store_fixture *f = *state;
    struct job j = job_of(1, JOB_PENDING, text_of('x', LONG));
    char copy[LONG];
    f->store.bodies = true;
    store_docs_put(f->store.docs, &j, STORE_FAMILY_COUNT);
    store_fixture_commit(f);
    memset(copy, 'x', sizeof copy);
    j.payload = str_from(copy, sizeof copy);
    store_docs_put(f->store.docs, &j, STORE_LIVE);
    assert_true(kv_batch_bytes(f->store.batch).len < 512);
    store_fixture_commit(f);
    copy[LONG - 1] = 'y';
    j.version = 9;
    store_docs_put(f->store.docs, &j, STORE_LIVE);
    assert_true(kv_batch_bytes(f->store.batch).len > LONG);
    store_fixture_commit(f);
    expect_read(f, &j);
    j.tags = text_of('t', 3); /* the tags are part of the body, too */
    store_docs_put(f->store.docs, &j, STORE_LIVE);
    assert_true(kv_batch_bytes(f->store.batch).len > LONG);
    store_fixture_commit(f);
    expect_read(f, &j);
    assert_int_equal(count_bodies(f), 1);
}

static void entry__decides_and_what_was_in_two_parts_stays(void **state)
{
    struct store_fixture *f = *state;
    struct store_docs *d = f->store.docs;
    struct job j = job_of(1, JOB_PENDING, text_of('x', LONG));
    struct buf whole;
    buf_init(&whole, 1 << 20);
    /* As the previous version writes it. */
    store_docs_put(d, &j, STORE_FAMILY_COUNT);
    store_job_encode(&j, &whole);
    assert_true(str_eq(store_docs_head(d, j.id), buf_str(&whole)));
    store_fixture_commit(f);
    assert_int_equal(count_bodies(f), 0);
    expect_read(f, &j);
    /* The next change writes it in two parts. */
    f->store.bodies = true;
    j.state = JOB_ACTIVE;
    store_docs_put(d, &j, STORE_LIVE);
    expect_parts("after the next change", store_docs_head(d, j.id), true);
    store_fixture_commit(f);
    assert_int_equal(count_bodies(f), 1);
    expect_read(f, &j);
    /* It stays in two parts. */
    f->store.bodies = false;
    j.state = JOB_RETRYING;
    store_docs_put(d, &j, STORE_LIVE);
    expect_parts("in an older entry", store_docs_head(d, j.id), true);
    store_fixture_commit(f);
    assert_int_equal(count_bodies(f), 1);
    expect_read(f, &j);
    /* If it becomes short, it is one part again. */
    j.payload = text_of('s', STORE_JOB_BODY_BYTES - 1);
    store_docs_put(d, &j, STORE_LIVE);
    expect_parts("short", store_docs_head(d, j.id), false);
    store_fixture_commit(f);
    assert_int_equal(count_bodies(f), 0);
    expect_read(f, &j);
    buf_deinit(&whole);
}

static void length__of_the_texts_decides(void **state)
{
    struct store_fixture *f = *state;
    static const struct {
        const char *name;
        size_t payload, tags, chain_config;
        bool two;
    } rows[] = {
        {"nothing", 0, 0, 0, false},
        {"a short payload", STORE_JOB_BODY_BYTES - 1, 0, 0, false},
        {"a long payload", STORE_JOB_BODY_BYTES, 0, 0, true},
        {"long tags", 0, STORE_JOB_BODY_BYTES, 0, true},
        {"a long chain", 2, 0, STORE_JOB_BODY_BYTES - 2, true},
        {"all of them", 400, 400, STORE_JOB_BODY_BYTES - 800, true},
    };
    f->store.bodies = true;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        struct job j = job_of(i, JOB_PENDING, text_of('p', rows[i].payload));
        j.tags = text_of('t', rows[i].tags);
        j.chain_config = text_of('c', rows[i].chain_config);
        store_docs_put(f->store.docs, &j, STORE_FAMILY_COUNT);
        expect_parts(rows[i].name, store_docs_head(f->store.docs, j.id), rows[i].two);
        store_fixture_commit(f);
        store_fixture_reopen(f);
        f->store.bodies = true;
        expect_read(f, &j);
        struct job got;
        assert_true(store_docs_get(f->store.docs, STORE_LIVE, j.id, &got));
        samples_same_job(&got, &j);
    }
}

static void remove__takes_the_body_along(void **state)
{
    struct store_fixture *f = *state;
    f->store.bodies = true;
    for (unsigned i = 0; i < 4; i++) {
        struct job j = job_of(i, i % 2 == 0 ? JOB_PENDING : JOB_DEAD, text_of('x', LONG));
        store_docs_put(f->store.docs, &j, STORE_FAMILY_COUNT);
    }
    store_fixture_commit(f);
    assert_int_equal(count_bodies(f), 4);
    store_docs_remove(f->store.docs, STORE_LIVE, samples_id(0)); /* while it is in memory */
    store_docs_remove(f->store.docs, STORE_DONE, samples_id(1));
    store_fixture_commit(f);
    assert_int_equal(count_bodies(f), 2);
    store_fixture_reopen(f);
    store_docs_remove(f->store.docs, STORE_LIVE, samples_id(2)); /* while it is only in the store */
    store_docs_remove(f->store.docs, STORE_DONE, samples_id(3));
    struct job j = job_of(5, JOB_PENDING, text_of('x', LONG)); /* exists only in this entry */
    f->store.bodies = true;
    store_docs_put(f->store.docs, &j, STORE_FAMILY_COUNT);
    store_docs_remove(f->store.docs, STORE_LIVE, j.id);
    store_fixture_commit(f);
    assert_int_equal(count_bodies(f), 0);
}

/* Jobs of all sizes are created, changed and removed, with little room in memory, and in old and
 * new entries. */

enum { JOBS = 40, ENTRIES = 400 };

struct known {
    bool there, two;
    struct job job;
};

static enum store_family family_of(const struct known *k)
{
    return !k->there                             ? STORE_FAMILY_COUNT
           : job_state_is_terminal(k->job.state) ? STORE_DONE
                                                 : STORE_LIVE;
}

static struct str some_text(struct rng *rng)
{
    static const size_t lengths[] = {0, 3, 1023, 1024, 1025, LONG};
    return text_of((char)('a' + rng_below(rng, 26)), lengths[rng_below(rng, COUNT_OF(lengths))]);
}

static void some_change(struct store_fixture *f, struct rng *rng, struct known *k, uint64_t entry)
{
    static const enum job_state states[] = {JOB_PENDING, JOB_ACTIVE, JOB_COMPLETED, JOB_DEAD};
    enum store_family from = family_of(k);
    struct job got;
    if (k->there) {
        assert_true(store_docs_get(f->store.docs, from, k->job.id, &got));
        samples_same_job(&got, &k->job);
    }
    if (k->there && rng_below(rng, 6) == 0) {
        store_docs_remove(f->store.docs, from, k->job.id);
        k->there = k->two = false;
        return;
    }
    struct job j = k->there ? got : k->job; /* its texts are in the store's memory */
    j.state = k->job.state = states[rng_below(rng, COUNT_OF(states))];
    j.version = k->job.version = entry;
    if (!k->there || rng_below(rng, 5) == 0) {
        j.payload = k->job.payload = some_text(rng);
        j.tags = k->job.tags = rng_below(rng, 3) == 0 ? some_text(rng) : STR_EMPTY;
    }
    store_docs_put(f->store.docs, &j, from);
    size_t bytes = j.payload.len + j.tags.len;
    k->two = bytes >= STORE_JOB_BODY_BYTES && (f->store.bodies || k->two);
    k->there = true;
}

static void expect_one(struct known *known, struct id id, struct str doc, unsigned *seen)
{
    struct job got;
    struct err err;
    for (unsigned i = 0; i < JOBS; i++) {
        if (id_eq(known[i].job.id, id)) {
            assert_true(known[i].there);
            assert_int_equal(store_job_decode(id, doc, &got, &err), ERR_OK);
            samples_same_job(&got, &known[i].job);
            *seen += 1;
        }
    }
}

static void expect_all(struct store_fixture *f, struct known *known)
{
    size_t bodies = 0;
    unsigned there = 0;
    unsigned walked = 0;
    unsigned snapped = 0;
    struct id id;
    struct str doc;
    for (unsigned i = 0; i < JOBS; i++) {
        bodies += known[i].two ? 1 : 0;
        there += known[i].there ? 1 : 0;
        if (known[i].there) {
            expect_read(f, &known[i].job);
        }
    }
    assert_int_equal(count_bodies(f), bodies);
    struct store_walk *w = store_walk_new(&f->store);
    while (store_walk_next(w, &id, &doc)) {
        expect_one(known, id, doc, &walked);
    }
    store_walk_free(w);
    struct store_snapshot *sn = store_snapshot_new(&f->store);
    for (unsigned family = STORE_LIVE; family <= STORE_DONE; family++) {
        while (store_snapshot_next(sn, family, &id, &doc)) {
            expect_one(known, id, doc, &snapped);
            assert_true(store_snapshot_get(sn, family, id, &doc));
            unsigned again = 0;
            expect_one(known, id, doc, &again);
            store_snapshot_each_row(sn, id, &(struct store_rows_visitor){.data = NULL});
        }
    }
    store_snapshot_free(sn);
    assert_int_equal(walked, there);
    assert_int_equal(snapped, there);
}

static void two_parts__are_one_for_every_reader(void **state)
{
    struct store_fixture *f = *state;
    static struct known known[JOBS];
    struct rng rng = rng_from(25);
    struct store_docs *large = f->store.docs;
    struct store_docs *small = store_docs_new(&f->store, 8192);
    for (unsigned i = 0; i < JOBS; i++) {
        known[i].job = job_of(i, JOB_PENDING, STR_EMPTY);
    }
    f->store.docs = small;
    for (unsigned entry = 1; entry <= ENTRIES; entry++) {
        f->store.bodies = entry > ENTRIES / 4 && rng_below(&rng, 4) != 0;
        for (unsigned i = 0; i < 6; i++) {
            some_change(f, &rng, &known[rng_below(&rng, JOBS)], entry);
        }
        store_fixture_commit(f);
        if (entry % 20 == 0) {
            expect_all(f, known);
        }
        if (entry % 50 == 0) {
            store_docs_free(small);
            f->store.docs = large;
            store_fixture_reopen(f);
            large = f->store.docs;
            small = f->store.docs = store_docs_new(&f->store, 8192);
        }
    }
    store_docs_free(small);
    f->store.docs = large;
}

/* A reader next to a writer that changes the body of a job, removes the job and creates it again:
 * each document that it reads is of one entry. */

struct reading {
    struct store_fixture *f;
    atomic_bool stop;
    atomic_uint reads;
};

static void *read_on(void *data)
{
    struct reading *r = data;
    struct buf doc;
    buf_init(&doc, 1 << 20);
    while (!atomic_load(&r->stop)) {
        struct job j;
        struct err err;
        buf_clear(&doc);
        if (store_docs_read(&r->f->store, samples_id(1), &doc)) {
            CHECK(store_job_decode(samples_id(1), buf_str(&doc), &j, &err) == ERR_OK);
            CHECK(j.payload.len == 2000 && j.payload.ptr[0] == (char)('a' + j.attempt));
            CHECK(j.payload.ptr[1999] == (char)('a' + j.attempt));
        }
        atomic_fetch_add(&r->reads, 1);
    }
    buf_deinit(&doc);
    return NULL;
}

static void read__beside_a_writer_is_of_one_entry(void **state)
{
    struct store_fixture *f = *state;
    struct reading r = {.f = f};
    pthread_t reader;
    enum store_family in = STORE_FAMILY_COUNT;
    f->store.bodies = true;
    assert_int_equal(pthread_create(&reader, NULL, read_on, &r), 0);
    for (unsigned i = 1; i <= 4000 || atomic_load(&r.reads) < 4000; i++) {
        struct job j =
            job_of(1, i % 3 == 0 ? JOB_DEAD : JOB_PENDING, text_of((char)('a' + i % 7), 2000));
        j.attempt = i % 7;
        j.version = i;
        store_docs_put(f->store.docs, &j, in);
        in = i % 3 == 0 ? STORE_DONE : STORE_LIVE;
        store_fixture_commit(f);
        if (i % 11 == 0) {
            store_docs_remove(f->store.docs, in, j.id);
            in = STORE_FAMILY_COUNT;
            store_fixture_commit(f);
        }
        if (i % 400 == 0) {
            kv_view_free(kv_view_new(f->store.kv)); /* writes the window */
        }
    }
    atomic_store(&r.stop, true);
    assert_int_equal(pthread_join(reader, NULL), 0);
}

/* The bytes */

static void encode_parts(const struct job *j, uint64_t version, struct buf *head, struct buf *body)
{
    buf_init(head, 1 << 20);
    buf_init(body, 1 << 20);
    store_job_encode_body(j, version, body);
    struct store_job_body known = {.version = version,
                                   .bytes = (uint32_t)body->len,
                                   .payload_bytes = (uint32_t)j->payload.len};
    store_job_encode_head(j, &known, head);
}

static void parts__that_do_not_belong_together_are_refused(void **state)
{
    struct job j = samples_job_full();
    struct job got;
    struct err err;
    struct buf head, body, other_head, other_body;
    size_t payload_bytes = 0;
    (void)state;
    encode_parts(&j, 5, &head, &body);
    encode_parts(&j, 6, &other_head, &other_body);
    struct str h = buf_str(&head);
    assert_int_equal(store_job_decode_parts(j.id, h, buf_str(&body), &got, &err), ERR_OK);
    samples_same_job(&got, &j);
    assert_int_equal(store_job_decode_parts(j.id, h, buf_str(&other_body), &got, &err),
                     ERR_CORRUPT);
    assert_int_equal(store_job_decode_parts(j.id, h, STR_EMPTY, &got, &err), ERR_CORRUPT);
    for (size_t len = 0; len < body.len; len++) {
        assert_int_equal(store_job_decode_parts(j.id, h, str_from(body.ptr, len), &got, &err),
                         ERR_CORRUPT);
    }
    for (size_t len = 0; len < head.len; len++) {
        struct str cut = str_from(head.ptr, len);
        assert_int_equal(store_job_decode_stored(j.id, cut, &got, &payload_bytes, &err),
                         ERR_CORRUPT);
    }
    assert_int_equal(store_job_decode_stored(j.id, h, &got, &payload_bytes, &err), ERR_OK);
    assert_int_equal(payload_bytes, j.payload.len);
    assert_int_equal(got.payload.len + got.tags.len + got.chain_config.len, 0);
    got.payload = j.payload;
    got.tags = j.tags;
    got.chain_config = j.chain_config;
    samples_same_job(&got, &j);
    assert_int_equal(store_job_decode(j.id, h, &got, &err),
                     ERR_CORRUPT); /* a head is not a document */
    assert_int_equal(store_job_decode_head(j.id, h, &got, &err), ERR_OK);
    buf_add_str(&head, buf_str(&body));
    assert_int_equal(store_job_decode(j.id, buf_str(&head), &got, &err), ERR_OK);
    samples_same_job(&got, &j);
    assert_int_equal(store_job_decode_whole(j.id, buf_str(&head), &got, &err), ERR_CORRUPT);
    for (size_t len = 0; len < head.len; len++) {
        assert_int_equal(store_job_decode(j.id, str_from(head.ptr, len), &got, &err), ERR_CORRUPT);
    }
    buf_add_char(&head, 'x');
    assert_int_equal(store_job_decode(j.id, buf_str(&head), &got, &err), ERR_CORRUPT);
    buf_deinit(&head);
    buf_deinit(&body);
    buf_deinit(&other_head);
    buf_deinit(&other_body);
}

TEST_GROUP(store_body, STORE_TEST(change__of_the_state_does_not_write_the_body),
           STORE_TEST(body__is_compared_by_what_it_says),
           STORE_TEST(entry__decides_and_what_was_in_two_parts_stays),
           STORE_TEST(length__of_the_texts_decides), STORE_TEST(remove__takes_the_body_along),
           STORE_TEST(two_parts__are_one_for_every_reader),
           STORE_TEST(read__beside_a_writer_is_of_one_entry),
           cmocka_unit_test(parts__that_do_not_belong_together_are_refused));
