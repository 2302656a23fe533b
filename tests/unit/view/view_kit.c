#include "view_kit.h"

#include <fcntl.h>
#include <stdlib.h>

#include "base/check.h"
#include "lib/test.h"
#include "os/os_file.h"
#include "view/view_check.h"
#include "view/view_int.h"

enum { ARENA_BYTES = 64 << 20 };

/* Make the feed so small that a test can fill it. */
static void few_ids(struct engine_config *config)
{
    config->feed_ids_max = VIEW_KIT_FEED_IDS;
}

struct view_kit *view_kit_open(void (*configure)(struct view_config *config))
{
    struct view_kit *k = calloc(1, sizeof *k);
    CHECK(k != NULL);
    k->engine = engine_kit_open(few_ids);
    k->config = view_config_default();
    k->config.dir = k->engine->dir.path;
    k->config.wait_ms = VIEW_KIT_PATIENCE_MS; /* tests wait until their changes are visible */
    k->config.ask_ms = VIEW_KIT_PATIENCE_MS;
    if (configure != NULL) {
        configure(&k->config);
    }
    k->arena = arena_new(ARENA_BYTES);
    CHECK(uv_sem_init(&k->done, 0) == 0);
    view_kit_start_view(k);
    return k;
}

void view_kit_close(struct view_kit *k)
{
    view_kit_stop_view(k);
    engine_kit_close(k->engine);
    arena_free(k->arena);
    uv_sem_destroy(&k->done);
    free(k);
}

void view_kit_start_view(struct view_kit *k)
{
    struct err err;
    CHECK(k->view == NULL);
    k->config.engine = k->engine->engine;
    if (view_open(&k->config, &k->view, &err) != ERR_OK) {
        check_fatal("open the view: %s", err.msg);
    }
}

void view_kit_stop_view(struct view_kit *k)
{
    view_close(k->view);
    k->view = NULL;
}

/* Questions */

struct kit_ask {
    struct view_ask ask;
    struct view_kit *kit;
    void (*fn)(struct view_kit *k, struct view_reader *r, void *data);
    void *data;
};

static void run(struct view_ask *ask, struct view_reader *r)
{
    struct kit_ask *a = CONTAINER_OF(ask, struct kit_ask, ask);
    a->fn(a->kit, r, a->data);
}

static void done(struct view_ask *ask)
{
    struct kit_ask *a = CONTAINER_OF(ask, struct kit_ask, ask);
    uv_sem_post(&a->kit->done);
}

void view_kit_ask(struct view_kit *k, bool text,
                  void (*fn)(struct view_kit *k, struct view_reader *r, void *data), void *data)
{
    struct kit_ask a = {
        .ask = {.run = run, .done = done, .reply_to = &k->engine->box, .text = text},
        .kit = k,
        .fn = fn,
        .data = data};
    k->err = (struct err){.code = ERR_OK};
    view_ask(k->view, &a.ask);
    uv_sem_wait(&k->done);
    if (a.ask.err.code != ERR_OK) {
        k->err = a.ask.err;
    }
    k->lag = a.ask.lag;
}

static void must(const struct view_kit *k)
{
    if (k->err.code != ERR_OK) {
        fail_msg("%s", k->err.msg);
    }
}

static void run_search(struct view_kit *k, struct view_reader *r, void *data)
{
    (void)(view_search_run(r, data, k->arena, &k->err) == ERR_OK);
}

void view_kit_search(struct view_kit *k, struct view_search *s)
{
    view_kit_ask(k, false, run_search, s);
    must(k);
}

struct counting {
    const struct view_filter *filter;
    uint64_t count;
};

static void run_count(struct view_kit *k, struct view_reader *r, void *data)
{
    struct counting *c = data;
    (void)(view_search_count(r, c->filter, k->arena, &c->count, &k->err) == ERR_OK);
}

uint64_t view_kit_count(struct view_kit *k, const struct view_filter *f)
{
    struct counting c = {.filter = f};
    view_kit_ask(k, false, run_count, &c);
    must(k);
    return c.count;
}

static void run_words(struct view_kit *k, struct view_reader *r, void *data)
{
    (void)(view_words_find(r, data, k->arena, &k->err) == ERR_OK);
}

void view_kit_words(struct view_kit *k, struct view_words *w)
{
    view_kit_ask(k, true, run_words, w);
    must(k);
}

void view_kit_forget(struct view_kit *k)
{
    arena_reset(k->arena);
}

/* Checking the view */

static void run_check(struct view_kit *k, struct view_reader *r, void *data)
{
    (void)(view_check_run(r, engine_store(k->engine->engine), data, &k->err) == ERR_OK);
}

/* Compare the words with the texts: they must equal the words of a second index that adds all texts
 * at once. The number of removed texts that the first index still contains must be the recorded
 * one. */
#define NOT_GONE "SELECT * FROM temp.known WHERE doc IN (SELECT num FROM texts)"

static void check_words(struct view_kit *k)
{
    static const char *const steps[] = {
        "INSERT INTO words (words) VALUES ('integrity-check')",
        "CREATE VIRTUAL TABLE temp.again USING fts5(queue, payload, tags)",
        "INSERT INTO temp.again (rowid, queue, payload, tags)"
        " SELECT t.num, t.queue, " VIEW_PLAIN_PAYLOAD ", view_plain(t.tags) FROM texts t",
        "CREATE VIRTUAL TABLE temp.known USING fts5vocab(main, words, instance)",
        "CREATE VIRTUAL TABLE temp.wanted USING fts5vocab(temp, again, instance)",
    };
    static const char *const differences[] = {
        "SELECT count(*) FROM (" NOT_GONE " EXCEPT SELECT * FROM temp.wanted)",
        "SELECT count(*) FROM (SELECT * FROM temp.wanted EXCEPT " NOT_GONE ")",
        "SELECT count(DISTINCT doc) - (SELECT stale FROM mark) FROM temp.known"
        " WHERE doc NOT IN (SELECT num FROM texts)",
    };
    sqlite3 *db = NULL;
    struct err err;
    struct os_file_path path = view_kit_path(k);
    enum err_code code = view_db__open(path.z, VIEW_DB_WRITE, &db, &err);
    if (code == ERR_OK) {
        code = view_payload__add(db, k->engine->engine, &err);
    }
    for (size_t i = 0; code == ERR_OK && i < COUNT_OF(steps); i++) {
        code = view_sql__exec(db, steps[i], &err);
    }
    for (size_t i = 0; code == ERR_OK && i < COUNT_OF(differences); i++) {
        int64_t n = 0;
        code = view_sql__number(db, differences[i], &n, &err);
        if (code == ERR_OK && n != 0) {
            fail_msg("%s: %lld", differences[i], (long long)n);
        }
    }
    view_db__close(db);
    if (code != ERR_OK) {
        fail_msg("%s", err.msg);
    }
}

void view_kit_check(struct view_kit *k)
{
    struct view_check check;
    view_kit_ask(k, true, run_check, &check);
    must(k);
    assert_int_equal(k->lag, 0);
    if (check.differences > 0) {
        fail_msg("%llu differences in %llu jobs; %s", (unsigned long long)check.differences,
                 (unsigned long long)check.jobs, check.first);
    }
    check_words(k);
}

struct view_status view_kit_status(struct view_kit *k)
{
    struct view_status s;
    view_status(k->view, &s);
    return s;
}

static void rebuilt(struct view_rebuild *r)
{
    struct view_kit *k = r->data;
    uv_sem_post(&k->done);
}

enum err_code view_kit_rebuild(struct view_kit *k)
{
    struct view_rebuild r = {.done = rebuilt, .reply_to = &k->engine->box, .data = k};
    view_rebuild(k->view, &r);
    uv_sem_wait(&k->done);
    return r.err.code;
}

/* Images */

struct os_file_path view_kit_path(const struct view_kit *k)
{
    return os_file_join(k->config.dir, "view.db");
}

static const char *const tails[] = {"", "-wal"};

static struct os_file_path with_tail(const struct view_kit *k, const char *name, const char *tail)
{
    char file[64];
    (void)snprintf(file, sizeof file, "%s%s", name, tail);
    return os_file_join(k->config.dir, file);
}

static void copy(const struct os_file_path *from, const struct os_file_path *to)
{
    struct buf bytes;
    struct err err;
    buf_init(&bytes, SIZE_MAX);
    if (os_file_read(from->z, &bytes, &err) == ERR_OK) {
        enum err_code code = os_file_replace(to->z, buf_str(&bytes), &err);
        CHECK(code == ERR_OK);
    } else {
        os_file_discard(to->z);
    }
    buf_deinit(&bytes);
}

static void run_nothing(struct view_kit *k, struct view_reader *r, void *data)
{
    (void)k;
    (void)r;
    (void)data;
}

/* The writer is idle while the files are copied, so the copies are of one moment. */
void view_kit_keep_image(struct view_kit *k)
{
    view_kit_ask(k, true, run_nothing, NULL);
    for (size_t i = 0; i < COUNT_OF(tails); i++) {
        struct os_file_path from = with_tail(k, "view.db", tails[i]);
        struct os_file_path to = with_tail(k, "image", tails[i]);
        copy(&from, &to);
    }
}

void view_kit_use_image(struct view_kit *k)
{
    CHECK(k->view == NULL);
    for (size_t i = 0; i < COUNT_OF(tails); i++) {
        struct os_file_path from = with_tail(k, "image", tails[i]);
        struct os_file_path to = with_tail(k, "view.db", tails[i]);
        copy(&from, &to);
    }
    struct os_file_path shm = with_tail(k, "view.db", "-shm");
    os_file_discard(shm.z);
}
