/*
 * Questions: the queue in which they wait, and the threads that answer them.
 *
 * One lock protects the queue and what the writer has published. It is held for a few instructions
 * and never during a call of SQLite.
 */
#include "view/view.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/check.h"
#include "log/log.h"
#include "os/os_clock.h"
#include "view/view_int.h"

struct view_config view_config_default(void)
{
    return (struct view_config){.dir = "data",
                                .readers = 4,
                                .asks_max = 256,
                                .wait_ms = 2000,
                                .ask_ms = 5000,
                                .log_bytes = 256 << 20,
                                .linger_ms = 100,
                                .shrink_ms = 10000,
                                .scan_max = 120000};
}

/* Kinds of questions */

const char *view_kind_name(enum view_kind kind)
{
    static const char *const names[] = {
        [VIEW_KIND_ROWS] = "rows", [VIEW_KIND_TEXTS] = "texts", [VIEW_KIND_PROGRAM] = "program"};
    return names[kind];
}

/* Return the part of n that questions of this kind and of the more expensive kinds may use
 * together. */
static uint32_t share_of(enum view_kind kind, uint32_t n)
{
    static const uint32_t parts[] = {
        [VIEW_KIND_ROWS] = 1, [VIEW_KIND_TEXTS] = 2, [VIEW_KIND_PROGRAM] = 4};
    return n / parts[kind] > 0 ? n / parts[kind] : 1;
}

/* Is there a reader for one more question of this kind? The lock must be held. */
static bool may_run(const struct view *v, enum view_kind kind)
{
    uint32_t running = 0;
    for (unsigned k = VIEW_KIND_COUNT; k-- > 0;) {
        running += v->asks[k].running;
        if (k <= kind && running >= share_of((enum view_kind)k, v->config.readers)) {
            return false;
        }
    }
    return true;
}

/* Is there a waiting slot for one more question of this kind? The lock must be held. */
static bool may_wait(const struct view *v, enum view_kind kind)
{
    uint32_t waiting = 0;
    for (unsigned k = VIEW_KIND_COUNT; k-- > 0;) {
        waiting += v->asks[k].waiting;
        if (k <= kind && waiting >= share_of((enum view_kind)k, v->config.asks_max)) {
            return false;
        }
    }
    return true;
}

/* Readers */

/* Interval of the time checks, in steps of SQLite's virtual machine: tens of microseconds. */
enum { STEPS_BETWEEN_LOOKS = 4000 };

static int is_enough(void *data)
{
    struct view_reader *r = data;
    if (r->looks_left > 0 && --r->looks_left == 0) {
        return 1;
    }
    int64_t now_ns = os_clock_mono().ns;
    return now_ns > r->deadline_ns || (r->ask != NULL && now_ns > atomic_load(&r->ask->until_ns));
}

static enum err_code open_reader(struct view_reader *r, struct err *err)
{
    if (r->db != NULL) {
        return ERR_OK;
    }
    if (view_db__open(r->view->path.z, VIEW_DB_READ, &r->db, err) != ERR_OK) {
        return err->code;
    }
    if (view_payload__add(r->db, r->view->config.engine, err) != ERR_OK) {
        view_db__close(TAKE(r->db));
        return err->code;
    }
    sqlite3_progress_handler(r->db, STEPS_BETWEEN_LOOKS, is_enough, r);
    return ERR_OK;
}

/* Run the question in one read transaction. */
static enum err_code run_ask(struct view_reader *r, struct view_ask *ask, struct err *err)
{
    int64_t index = 0;
    r->deadline_ns = os_clock_mono().ns + r->view->config.ask_ms * NS_PER_MS;
    if (open_reader(r, err) != ERR_OK || view_sql__exec(r->db, "BEGIN", err) != ERR_OK) {
        return err->code;
    }
    enum err_code code = view_sql__number(r->db, "SELECT complete FROM mark", &index, err);
    if (code == ERR_OK) {
        ask->index = (uint64_t)index;
        r->ask = ask;
        ask->run(ask, r);
        r->ask = NULL;
    }
    struct err ended;
    r->deadline_ns = INT64_MAX;
    if (sqlite3_get_autocommit(r->db) == 0 && view_sql__exec(r->db, "COMMIT", &ended) != ERR_OK) {
        view_db__close(TAKE(r->db));
    }
    return code;
}

static void deliver_done(struct msg *m)
{
    struct view_ask *ask = CONTAINER_OF(m, struct view_ask, msg);
    ask->done(ask);
}

static void answer(struct view_ask *ask)
{
    ask->msg.deliver = deliver_done;
    bool posted = mailbox_post(ask->reply_to, &ask->msg); /* ask may be freed after this */
    CHECK(posted);
}

/* Can the question be run or refused now? The lock must be held. */
static bool is_due(const struct view *v, const struct view_ask *ask, int64_t now_ns)
{
    if (v->stopping) {
        return true;
    }
    if (v->swapping) {
        return false;
    }
    if (v->status.low_space) {
        return true; /* waiting longer does not help */
    }
    bool fresh = v->usable && v->complete >= ask->wait_index &&
                 (!ask->text || v->words_complete >= ask->wait_index);
    return fresh || now_ns >= ask->deadline_ns;
}

static void leave_line(struct view *v, struct view_ask **at)
{
    struct view_ask *ask = *at;
    *at = ask->next;
    if (ask->next == NULL) {
        v->last = at;
    }
    v->asks[ask->kind].waiting--;
}

/* Remove the first question that is due and that a reader may answer now from the queue. NULL if
 * there is none; *out_wait_ns is then the time until the next deadline. */
static struct view_ask *next_due(struct view *v, int64_t *out_wait_ns)
{
    int64_t now = os_clock_mono().ns;
    int64_t first = INT64_MAX;
    for (struct view_ask **at = &v->first; *at != NULL; at = &(*at)->next) {
        struct view_ask *ask = *at;
        if (!v->stopping && !may_run(v, ask->kind)) {
            continue; /* the end of a running question wakes the readers */
        }
        if (is_due(v, ask, now)) {
            leave_line(v, at);
            return ask;
        }
        first = ask->deadline_ns < first ? ask->deadline_ns : first;
    }
    *out_wait_ns = first == INT64_MAX || first <= now ? INT64_MAX : first - now;
    return NULL;
}

static uint64_t lag_of(const struct view *v)
{
    return engine_feed_waiting(v->feed) + atomic_load(&v->unread);
}

static void note_lag(struct view *v, struct view_ask *ask)
{
    ask->lag = 0;
    if (ask->index < ask->wait_index) {
        uint64_t lag = lag_of(v);
        ask->lag = lag == 0 ? 1 : lag; /* at least one change was missing when run was called */
    }
}

/* Answer a question. The lock must be held; it is released meanwhile. */
static void serve(struct view *v, struct view_reader *r, struct view_ask *ask)
{
    struct err err = {.code = ERR_OK};
    if (v->stopping) {
        (void)err_set_default(&err, ERR_STOPPING);
    } else if (!v->usable) {
        (void)err_set(&err, ERR_UNHEALTHY, "the search index is being built; try again later");
    }
    if (err.code != ERR_OK) {
        ask->err = err;
        uv_mutex_unlock(&v->lock);
        answer(ask);
        uv_mutex_lock(&v->lock);
        return;
    }
    enum view_kind kind = ask->kind;
    v->running++;
    v->asks[kind].running++;
    uv_mutex_unlock(&v->lock);
    ask->err = err;
    if (view__asked(r, run_ask(r, ask, &err), &err) != ERR_OK) {
        ask->err = err;
    }
    uv_mutex_lock(&v->lock);
    v->running--;
    v->asks[kind].running--;
    note_lag(v, ask);
    uv_cond_broadcast(&v->moved);
    uv_mutex_unlock(&v->lock);
    answer(ask);
    uv_mutex_lock(&v->lock);
}

/* Wait for a change, at most wait_ns. Closes a jq program that was not used for some time. The lock
 * must be held; it is released meanwhile. */
static void rest(struct view *v, struct view_reader *r, int64_t wait_ns)
{
    int64_t keep_ns = r->box == NULL ? INT64_MAX : r->box_until_ns - os_clock_mono().ns;
    wait_ns = keep_ns < wait_ns ? keep_ns : wait_ns;
    if (keep_ns <= 0) {
        uv_mutex_unlock(&v->lock);
        jqbox_close(TAKE(r->box));
        uv_mutex_lock(&v->lock);
    } else if (wait_ns == INT64_MAX) {
        uv_cond_wait(&v->moved, &v->lock);
    } else {
        (void)uv_cond_timedwait(&v->moved, &v->lock, (uint64_t)wait_ns);
    }
}

static void reader_main(void *data)
{
    struct view_reader *r = data;
    struct view *v = r->view;
    (void)pthread_setname_np(pthread_self(), "view.reader");
    uv_mutex_lock(&v->lock);
    for (;;) {
        int64_t wait_ns = INT64_MAX;
        struct view_ask *ask = next_due(v, &wait_ns);
        if (ask != NULL) {
            serve(v, r, ask);
        } else if (v->stopping) {
            break;
        } else {
            rest(v, r, wait_ns);
        }
    }
    uv_mutex_unlock(&v->lock); /* the writer closes the connection */
    jqbox_close(r->box);
}

void view_ask(struct view *v, struct view_ask *ask)
{
    struct err err = {.code = ERR_OK};
    bool hurry = false;
    ask->view = v;
    ask->next = NULL;
    ask->index = ask->lag = 0;
    atomic_store(&ask->until_ns, INT64_MAX);
    struct mono now = os_clock_mono();
    uv_mutex_lock(&v->lock);
    bool patient = ask->patient || ask->text;
    int64_t wait_ms = v->config.wait_ms;
    if (!patient) {
        wait_ms = view_pace__wait_ms(&v->flood, engine_feed_waiting(v->feed), now, wait_ms);
    }
    ask->deadline_ns = now.ns + wait_ms * NS_PER_MS;
    if (v->stopping) {
        (void)err_set_default(&err, ERR_STOPPING);
    } else if (!may_wait(v, ask->kind)) {
        v->asks[ask->kind].refused++;
        (void)err_set(&err, ERR_OVERLOADED, "too many searches are waiting");
    } else {
        ask->wait_index = engine_feed_newest(v->feed);
        hurry = v->complete < ask->wait_index || (ask->text && v->words_complete < ask->wait_index);
        *v->last = ask;
        v->last = &ask->next;
        v->asks[ask->kind].waiting++;
        uv_cond_signal(&v->moved);
    }
    if (hurry) {
        view_writer__hurry(v, ask->text); /* under the lock, so that the writer cannot end before */
    }
    uv_mutex_unlock(&v->lock);
    if (err.code != ERR_OK) {
        ask->err = err;
        answer(ask);
    }
}

void view_cancel(struct view_ask *ask)
{
    struct view *v = ask->view;
    bool waited = false;
    uv_mutex_lock(&v->lock);
    for (struct view_ask **at = &v->first; *at != NULL; at = &(*at)->next) {
        if (*at == ask) {
            leave_line(v, at);
            waited = true;
            break;
        }
    }
    uv_mutex_unlock(&v->lock);
    if (waited) {
        (void)err_set(&ask->err, ERR_SEARCH, "the search was cancelled");
        answer(ask);
    } else {
        atomic_store(&ask->until_ns, 0); /* its reader checks this, or has finished */
    }
}

void view_shorten(struct view_ask *ask, int64_t ms)
{
    atomic_store(&ask->until_ns, os_clock_mono().ns + ms * NS_PER_MS);
}

/* Open and close */

static void view_free(struct view *v)
{
    uv_mutex_destroy(&v->lock);
    uv_cond_destroy(&v->moved);
    free(v->readers);
    free(v);
}

void view_set_space(struct view *v, bool low)
{
    if (atomic_exchange(&v->space.told_low, low) != low) {
        view_writer__space(v);
    }
}

static void told_of_space(void *data, bool low)
{
    view_set_space(data, low);
}

enum err_code view_open(const struct view_config *config, struct view **out_view, struct err *err)
{
    CHECK(config->readers > 0);
    /* SQLite counts its memory under a lock that all its threads share. Turn that off. The call
     * fails, without harm, if SQLite is already in use. */
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    if (os_file_make_dirs(config->dir, err) != ERR_OK) {
        return err_wrap(err, "view");
    }
    struct view *v = calloc(1, sizeof *v);
    CHECK(v != NULL);
    v->config = *config;
    v->last = &v->first;
    v->path = os_file_join(config->dir, "view.db");
    v->new_path = os_file_join(config->dir, "view.db.new");
    CHECK(uv_mutex_init(&v->lock) == 0);
    CHECK(uv_cond_init(&v->moved) == 0);
    v->readers = calloc(config->readers, sizeof *v->readers);
    CHECK(v->readers != NULL);
    view_writer__start(v);
    for (unsigned i = 0; i < config->readers; i++) {
        v->readers[i].view = v;
        CHECK(uv_thread_create(&v->readers[i].thread, reader_main, &v->readers[i]) == 0);
    }
    engine_on_space(config->engine, told_of_space, v);
    *out_view = v;
    return ERR_OK;
}

void view_close(struct view *v)
{
    if (v == NULL) {
        return;
    }
    engine_on_space(v->config.engine, NULL, NULL);
    atomic_store(&v->stop, true);
    uv_mutex_lock(&v->lock);
    v->stopping = true;
    uv_cond_broadcast(&v->moved);
    uv_mutex_unlock(&v->lock);
    for (unsigned i = 0; i < v->config.readers; i++) {
        CHECK(uv_thread_join(&v->readers[i].thread) == 0);
    }
    view_writer__stop(v);
    view_free(v);
}

void view_status(struct view *v, struct view_status *out)
{
    uv_mutex_lock(&v->lock);
    *out = v->status;
    out->index = v->complete;
    out->lag = lag_of(v);
    for (unsigned k = 0; k < VIEW_KIND_COUNT; k++) {
        out->asks[k].running = v->asks[k].running;
        out->asks[k].waiting = v->asks[k].waiting;
        out->asks[k].refused = v->asks[k].refused;
    }
    uv_mutex_unlock(&v->lock);
}

void view_rebuild(struct view *v, struct view_rebuild *r)
{
    view_writer__rebuild(v, r);
}
