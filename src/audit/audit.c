#include "audit/audit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/limits.h"
#include "log/log.h"
#include "os/os_clock.h"
#include "store/store.h"

enum {
    WAITING_MAX = 4096,    /* entries waiting to be written */
    USED_MAX = 1024,       /* uses of keys waiting to be written */
    REFUSED_PER_S = 5,     /* rate limit for entries of refused requests… */
    REFUSED_AT_ONCE = 100, /* …and the burst allowed after a pause */
};

struct entry {
    struct entry *next;
    struct store_audit rec;
    char texts[];
};

struct audit {
    struct engine *engine;
    int64_t retention_ms;
    pthread_mutex_t lock; /* guards the members below, except op, which belongs to the writer */
    pthread_cond_t idle;
    struct entry *first, **last;
    uint32_t waiting;            /* entries from first to last */
    uint64_t noted;              /* entries since the start; of these… */
    uint64_t settled;            /* …written or lost */
    uint64_t under_way;          /* …in op */
    uint32_t under_way_left_out; /* omitted entries that those in op count */
    struct audit_reader *readers;
    uint32_t left_out; /* omitted since the last entry */
    double tokens;     /* entries of refused requests that may be added now */
    struct mono refilled;
    uint8_t used[USED_MAX][AUTH_HASH_BYTES];
    uint32_t used_count;
    bool busy;
    struct engine_op op;
};

struct audit *audit_new(struct engine *engine, int64_t retention_ms)
{
    struct audit *a = calloc(1, sizeof *a);
    CHECK(a != NULL);
    a->engine = engine;
    a->retention_ms = retention_ms;
    a->last = &a->first;
    a->tokens = REFUSED_AT_ONCE;
    CHECK(pthread_mutex_init(&a->lock, NULL) == 0);
    CHECK(pthread_cond_init(&a->idle, NULL) == 0);
    return a;
}

static void free_entries(struct entry *e)
{
    while (e != NULL) {
        struct entry *next = e->next;
        free(e);
        e = next;
    }
}

void audit_free(struct audit *a)
{
    if (a == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&a->lock);
    while (a->busy) {
        (void)pthread_cond_wait(&a->idle, &a->lock);
    }
    CHECK(a->first == NULL); /* the writer stops only when nothing is left */
    CHECK(a->readers == NULL);
    (void)pthread_mutex_unlock(&a->lock);
    (void)pthread_cond_destroy(&a->idle);
    (void)pthread_mutex_destroy(&a->lock);
    free(a);
}

/* Writing: one command at a time */

/* Under the lock: move the first entries to the command. The caller must free them. */
static struct entry *take_entries(struct audit *a, struct store_audit *items, size_t *count)
{
    struct entry *taken = a->first;
    struct entry **end = &a->first;
    *count = 0;
    a->under_way_left_out = 0;
    while (*end != NULL && *count < LIMIT_AUDIT_ITEMS) {
        a->under_way_left_out += (*end)->rec.suppressed;
        items[(*count)++] = (*end)->rec;
        end = &(*end)->next;
    }
    a->first = *end;
    *end = NULL;
    if (a->first == NULL) {
        a->last = &a->first;
    }
    CHECK(a->waiting >= *count);
    a->waiting -= (uint32_t)*count;
    a->under_way = *count;
    return taken;
}

static bool prepare_op(struct audit *a, const struct command *c)
{
    struct err err;
    engine_op_init(&a->op);
    if (engine_op_prepare(a->engine, &a->op, c, &err) != ERR_OK) {
        log_error("audit entries lost", LOG_Z("error", err.msg));
        engine_op_deinit(&a->op);
        return false;
    }
    return true;
}

/* Under the lock. */
static bool prepare_entries(struct audit *a)
{
    struct store_audit *items = calloc(LIMIT_AUDIT_ITEMS, sizeof *items);
    CHECK(items != NULL);
    struct command c;
    command_init(&c, COMMAND_AUDIT);
    c.audit.items = items;
    c.audit.retention_ms = a->retention_ms;
    struct entry *taken = take_entries(a, items, &c.audit.count);
    bool ready = prepare_op(a, &c);
    free_entries(taken);
    free(items);
    return ready;
}

/* Under the lock. */
static bool prepare_used(struct audit *a)
{
    struct command_access_item *items = calloc(LIMIT_ACCESS_ITEMS, sizeof *items);
    CHECK(items != NULL);
    struct command c;
    command_init(&c, COMMAND_ACCESS);
    c.access.items = items;
    c.access.count = a->used_count < LIMIT_ACCESS_ITEMS ? a->used_count : LIMIT_ACCESS_ITEMS;
    a->used_count -= (uint32_t)c.access.count;
    for (size_t i = 0; i < c.access.count; i++) {
        items[i].kind = STORE_ACCESS_SEEN;
        items[i].name = str_from(a->used[a->used_count + i], AUTH_HASH_BYTES);
    }
    bool ready = prepare_op(a, &c);
    free(items);
    return ready;
}

/* Under the lock: notify the readers whose entries are all settled. */
static void wake_readers(struct audit *a)
{
    for (struct audit_reader **at = &a->readers; *at != NULL;) {
        struct audit_reader *r = *at;
        if (r->until > a->settled) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        bool posted = mailbox_post(r->mailbox, &r->msg);
        CHECK(posted); /* a loop outlives its readers */
    }
}

/* Under the lock: the entries in op are written, or lost and counted in the next entry. */
static void settle(struct audit *a, bool lost)
{
    if (lost) {
        a->left_out += (uint32_t)a->under_way + a->under_way_left_out;
    }
    a->settled += a->under_way;
    a->under_way = 0;
    a->under_way_left_out = 0;
    CHECK(a->settled <= a->noted);
    wake_readers(a);
}

/* Under the lock: prepare the next command. False: there is nothing to write. */
static bool prepare_next(struct audit *a)
{
    while (a->first != NULL || a->used_count > 0) {
        if (a->first != NULL ? prepare_entries(a) : prepare_used(a)) {
            return true;
        }
        settle(a, true);
    }
    return false;
}

static void written(struct engine_op *op);

/* The command is not refused under overload: there is only one at a time, and a change that was
 * accepted during an overload must be in the log. */
static void submit(struct audit *a)
{
    a->op.admitted = true;
    a->op.done = written;
    a->op.data = a;
    engine_submit(a->engine, &a->op);
}

static void written(struct engine_op *op)
{
    struct audit *a = op->data;
    bool lost = op->err.code != ERR_OK; /* or the outcome is unknown, which counts as lost */
    if (lost && op->type == COMMAND_AUDIT) {
        log_warn("audit entries lost", LOG_Z("error", op->err.msg));
    }
    engine_op_deinit(op);
    (void)pthread_mutex_lock(&a->lock);
    CHECK(a->busy);
    settle(a, lost);
    bool more = prepare_next(a);
    a->busy = more;
    (void)pthread_cond_broadcast(&a->idle);
    (void)pthread_mutex_unlock(&a->lock); /* a may be freed from here on, unless more is set */
    if (more) {
        submit(a);
    }
}

/* Start the writer if it is idle, and release the lock. */
static void unlock_and_write(struct audit *a)
{
    bool go = !a->busy && prepare_next(a);
    a->busy = a->busy || go;
    (void)pthread_mutex_unlock(&a->lock);
    if (go) {
        submit(a);
    }
}

/* Collecting */

/* Under the lock. */
static bool may_write_refusal(struct audit *a)
{
    struct mono now = os_clock_mono();
    a->tokens += (double)(now.ns - a->refilled.ns) / (double)NS_PER_S * REFUSED_PER_S;
    a->tokens = a->tokens > REFUSED_AT_ONCE ? REFUSED_AT_ONCE : a->tokens;
    a->refilled = now;
    if (a->tokens < 1) {
        return false;
    }
    a->tokens -= 1;
    return true;
}

/* Texts are cut to the limits of the command (command_access__check_audit). A longer text would
 * cause the whole command to be refused, including the other entries in it. */
static struct entry *new_entry(const struct store_audit *rec)
{
    struct store_audit copy = *rec;
    const struct {
        struct str *text;
        size_t bytes_max;
    } texts[] = {
        {&copy.ns, LIMIT_NAMESPACE_BYTES},    {&copy.principal, LIMIT_AUDIT_TEXT_BYTES},
        {&copy.role, LIMIT_AUDIT_TEXT_BYTES}, {&copy.method, LIMIT_NAME_BYTES},
        {&copy.path, LIMIT_AUDIT_TEXT_BYTES}, {&copy.query, LIMIT_AUDIT_TEXT_BYTES},
    };
    size_t len = 0;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        *texts[i].text = str_at_most(*texts[i].text, texts[i].bytes_max);
        len += texts[i].text->len;
    }
    struct entry *e = malloc(sizeof *e + len);
    CHECK(e != NULL);
    char *at = e->texts;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct str *text = texts[i].text;
        if (text->len > 0) {
            memcpy(at, text->ptr, text->len);
        }
        text->ptr = at;
        at += text->len;
    }
    e->rec = copy;
    e->next = NULL;
    return e;
}

void audit_note(struct audit *a, const struct store_audit *rec, bool refused)
{
    bool leads = engine_leads(a->engine);
    (void)pthread_mutex_lock(&a->lock);
    if (!leads || a->waiting >= WAITING_MAX || (refused && !may_write_refusal(a))) {
        a->left_out += 1 + rec->suppressed;
    } else {
        struct entry *e = new_entry(rec);
        e->rec.suppressed += a->left_out;
        a->left_out = 0;
        *a->last = e;
        a->last = &e->next;
        a->waiting++;
        a->noted++;
    }
    unlock_and_write(a);
}

bool audit_may_tell(struct audit *a, uint32_t *left_out)
{
    (void)pthread_mutex_lock(&a->lock);
    bool may = may_write_refusal(a);
    *left_out = may ? a->left_out : 0;
    a->left_out = may ? 0 : a->left_out + 1;
    (void)pthread_mutex_unlock(&a->lock);
    return may;
}

void audit_left_out(struct audit *a, uint32_t count)
{
    (void)pthread_mutex_lock(&a->lock);
    a->left_out += count;
    (void)pthread_mutex_unlock(&a->lock);
}

void audit_used(struct audit *a, const uint8_t hash[AUTH_HASH_BYTES])
{
    (void)pthread_mutex_lock(&a->lock);
    if (a->used_count < USED_MAX) {
        memcpy(a->used[a->used_count++], hash, AUTH_HASH_BYTES);
    }
    unlock_and_write(a);
}

struct str audit_principal(struct engine *e, const struct auth_caller *who, struct buf *room)
{
    struct store_access_frame frame;
    struct store_key key;
    char name[1 + AUTH_HASH_BYTES] = {STORE_ACCESS_KEY};
    if (who->name.len > 0 || !who->has_hash) {
        return who->name;
    }
    memcpy(name + 1, who->hash, AUTH_HASH_BYTES);
    if (store_get(engine_store(e), STORE_KIND_ACCESS, str_from(name, sizeof name), room) &&
        store_access_decode_frame(buf_str(room), &frame) &&
        store_access_decode_key(frame.body, &key)) {
        return key.name;
    }
    return STR("organisation key");
}

/* Reading */

bool audit_wait(struct audit *a, struct audit_reader *r)
{
    bool leads = engine_leads(a->engine);
    (void)pthread_mutex_lock(&a->lock);
    bool waits = leads && a->settled < a->noted;
    if (waits) {
        r->until = a->noted;
        r->next = a->readers;
        a->readers = r;
    }
    (void)pthread_mutex_unlock(&a->lock);
    return waits;
}

bool audit_wait_end(struct audit *a, struct audit_reader *r)
{
    (void)pthread_mutex_lock(&a->lock);
    struct audit_reader **at = &a->readers;
    while (*at != NULL && *at != r) {
        at = &(*at)->next;
    }
    bool waits = *at != NULL;
    if (waits) {
        *at = r->next;
    }
    (void)pthread_mutex_unlock(&a->lock);
    return waits;
}
