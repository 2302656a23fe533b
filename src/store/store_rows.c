#include "store/store_rows.h"

#include "base/check.h"
#include "base/limits.h"
#include "base/pack.h"
#include "store/store_body.h"

/* Errors that include the version of the worker's program have the second version. */
enum { ROW_VERSION = 1, ERROR_NAMED_VERSION = 2 };

/* Maximum number of attempts removed when one is added. More than one, so that a backlog
 * shrinks. */
enum { TRIES_PRUNED = 4 };

enum { ROW_PREFIX_LEN = ID_BYTES + 1, ROW_KEY_LEN = ROW_PREFIX_LEN + 4 };

struct row_key {
    char bytes[ROW_KEY_LEN];
};

static struct row_key key_of(struct id job, char kind, uint32_t place)
{
    struct row_key k;
    memcpy(k.bytes, job.b, ID_BYTES);
    k.bytes[ID_BYTES] = kind;
    for (unsigned i = 0; i < 4; i++) {
        k.bytes[ROW_PREFIX_LEN + i] = (char)(uint8_t)(place >> (24 - 8 * i));
    }
    return k;
}

static void put_row(struct store *s, struct id job, char kind, uint32_t place)
{
    struct row_key k = key_of(job, kind, place);
    CHECK(!s->scratch.overflow);
    kv_put(s->batch, STORE_ROWS, str_from(k.bytes, ROW_KEY_LEN), buf_str(&s->scratch));
}

static void delete_row(struct store *s, struct id job, char kind, uint32_t place)
{
    struct row_key k = key_of(job, kind, place);
    kv_delete(s->batch, STORE_ROWS, str_from(k.bytes, ROW_KEY_LEN));
}

void store_rows_encode_tokens(const struct store_tokens *t, struct buf *out)
{
    pack_i64(out, t->input);
    pack_i64(out, t->output);
    pack_i64(out, t->cache_creation);
    pack_i64(out, t->cache_read);
    pack_i64(out, t->cost_nusd);
    pack_text(out, t->model);
    pack_text(out, t->provider);
}

void store_rows_decode_tokens(struct unpack *u, struct store_tokens *out)
{
    out->input = unpack_i64(u);
    out->output = unpack_i64(u);
    out->cache_creation = unpack_i64(u);
    out->cache_read = unpack_i64(u);
    out->cost_nusd = unpack_i64(u);
    out->model = unpack_text(u);
    out->provider = unpack_text(u);
}

void store_rows_encode_error(const struct store_error *e, struct buf *out)
{
    pack_u8(out, e->version.len > 0 ? ERROR_NAMED_VERSION : ROW_VERSION);
    pack_u64(out, e->row);
    pack_u32(out, e->attempt);
    pack_i64(out, e->created_at.ns);
    pack_text(out, e->error);
    pack_text(out, e->backtrace);
    if (e->version.len > 0) {
        pack_text(out, e->version);
    }
}

void store_rows_encode_usage(const struct store_usage *u, struct buf *out)
{
    pack_u8(out, ROW_VERSION);
    pack_u64(out, u->row);
    pack_u32(out, u->attempt);
    pack_u8(out, (uint8_t)u->phase);
    pack_i64(out, u->created_at.ns);
    store_rows_encode_tokens(&u->tokens, out);
}

void store_rows_encode_iteration(const struct store_iteration *it, struct buf *out)
{
    pack_u8(out, ROW_VERSION);
    pack_u64(out, it->row);
    pack_i64(out, it->iteration);
    pack_u8(out, (uint8_t)it->status);
    pack_i64(out, it->created_at.ns);
    pack_text(out, it->checkpoint);
    pack_text(out, it->hold_reason);
    pack_text(out, it->result);
    store_rows_encode_tokens(&it->tokens, out);
}

void store_rows_encode_try(const struct store_try *t, struct buf *out)
{
    pack_u8(out, ROW_VERSION);
    pack_u64(out, t->row);
    pack_u32(out, t->attempt);
    pack_u8(out, (uint8_t)t->outcome);
    pack_u8(out, (uint8_t)t->error_type);
    pack_u32(out, t->http_status);
    pack_u32(out, t->answer_ms);
    pack_i64(out, t->due_at.ns);
    pack_i64(out, t->started_at.ns);
    pack_i64(out, t->ended_at.ns);
    pack_text(out, t->node);
    pack_text(out, t->error);
}

bool store_rows_decode_try(struct str value, struct store_try *out)
{
    struct unpack u = unpack_from(value);
    if (unpack_u8(&u) != ROW_VERSION) {
        return false;
    }
    out->row = unpack_u64(&u);
    out->attempt = unpack_u32(&u);
    uint8_t outcome = unpack_u8(&u);
    uint8_t error_type = unpack_u8(&u);
    out->outcome = (enum job_outcome)outcome;
    out->error_type = (enum store_try_error)error_type;
    out->http_status = unpack_u32(&u);
    out->answer_ms = unpack_u32(&u);
    out->due_at.ns = unpack_i64(&u);
    out->started_at.ns = unpack_i64(&u);
    out->ended_at.ns = unpack_i64(&u);
    out->node = unpack_text(&u);
    out->error = unpack_text(&u);
    return unpack_done(&u) && outcome < JOB_OUTCOME_COUNT && error_type < STORE_TRY_ERROR_COUNT;
}

void store_rows_add_error(struct store *s, struct job *j, struct store_error *e)
{
    e->row = s->meta.next_row++;
    buf_clear(&s->scratch);
    store_rows_encode_error(e, &s->scratch);
    put_row(s, j->id, STORE_ROW_ERROR, j->error_count);
    j->error_count++;
    if (j->error_count > LIMIT_JOB_ERRORS) {
        delete_row(s, j->id, STORE_ROW_ERROR, j->error_count - LIMIT_JOB_ERRORS - 1);
    }
}

void store_rows_add_usage(struct store *s, struct job *j, struct store_usage *u)
{
    u->row = s->meta.next_row++;
    buf_clear(&s->scratch);
    store_rows_encode_usage(u, &s->scratch);
    put_row(s, j->id, STORE_ROW_USAGE, j->usage_count);
    j->usage_count++;
}

void store_rows_add_iteration(struct store *s, struct job *j, struct store_iteration *it)
{
    it->row = s->meta.next_row++;
    buf_clear(&s->scratch);
    store_rows_encode_iteration(it, &s->scratch);
    put_row(s, j->id, STORE_ROW_ITERATION, j->iteration_count);
    j->iteration_count++;
}

/* Read a committed row. False if there is none. */
static bool read_row(struct store *s, struct id job, char kind, uint32_t place, struct buf *out)
{
    struct row_key k = key_of(job, kind, place);
    struct err err;
    bool found;
    buf_clear(out);
    struct kv *kv = store_hold(s);
    if (kv_get(kv, NULL, STORE_ROWS, str_from(k.bytes, ROW_KEY_LEN), out, &found, &err) != ERR_OK) {
        check_fatal("the store cannot be read: %s", err.msg);
    }
    kv_close(kv);
    return found;
}

/* Did the oldest attempt start before keep_from? False for a row that this entry wrote: it is not
 * committed yet. */
static bool is_old_try(struct store *s, const struct job *j, struct wall keep_from)
{
    struct store_try t;
    return read_row(s, j->id, STORE_ROW_TRY, j->try_first, &s->scratch) &&
           store_rows_decode_try(buf_str(&s->scratch), &t) && t.started_at.ns < keep_from.ns;
}

void store_rows_add_try(struct store *s, struct job *j, struct store_try *t, struct wall keep_from)
{
    t->row = s->meta.next_row++;
    buf_clear(&s->scratch);
    store_rows_encode_try(t, &s->scratch);
    put_row(s, j->id, STORE_ROW_TRY, j->try_count);
    j->try_count++;
    for (unsigned i = 0; i < TRIES_PRUNED && j->try_first + 1 < j->try_count; i++) {
        if (j->try_count - j->try_first <= LIMIT_JOB_TRIES && !is_old_try(s, j, keep_from)) {
            break;
        }
        delete_row(s, j->id, STORE_ROW_TRY, j->try_first);
        j->try_first++;
    }
}

void store_rows_remove(struct store *s, const struct job *j)
{
    uint32_t first_error =
        j->error_count > LIMIT_JOB_ERRORS ? j->error_count - LIMIT_JOB_ERRORS : 0;
    for (uint32_t i = first_error; i < j->error_count; i++) {
        delete_row(s, j->id, STORE_ROW_ERROR, i);
    }
    for (uint32_t i = 0; i < j->iteration_count; i++) {
        delete_row(s, j->id, STORE_ROW_ITERATION, i);
    }
    for (uint32_t i = 0; i < j->usage_count; i++) {
        delete_row(s, j->id, STORE_ROW_USAGE, i);
    }
    for (uint32_t i = j->try_first; i < j->try_count; i++) {
        delete_row(s, j->id, STORE_ROW_TRY, i);
    }
}

bool store_rows_tokens_any(const struct store_tokens *t)
{
    return t->input != 0 || t->output != 0 || t->cache_creation != 0 || t->cache_read != 0 ||
           t->cost_nusd != 0 || t->model.len > 0 || t->provider.len > 0;
}

bool store_rows_decode_error(struct str value, struct store_error *out)
{
    struct unpack u = unpack_from(value);
    uint8_t version = unpack_u8(&u);
    bool named = version == ERROR_NAMED_VERSION;
    if (version != ROW_VERSION && !named) {
        return false;
    }
    out->row = unpack_u64(&u);
    out->attempt = unpack_u32(&u);
    out->created_at.ns = unpack_i64(&u);
    out->error = unpack_text(&u);
    out->backtrace = unpack_text(&u);
    out->version = named ? unpack_text(&u) : STR_EMPTY;
    return unpack_done(&u) && named == (out->version.len > 0);
}

bool store_rows_decode_usage(struct str value, struct store_usage *out)
{
    struct unpack u = unpack_from(value);
    if (unpack_u8(&u) != ROW_VERSION) {
        return false;
    }
    out->row = unpack_u64(&u);
    out->attempt = unpack_u32(&u);
    uint8_t phase = unpack_u8(&u);
    out->created_at.ns = unpack_i64(&u);
    store_rows_decode_tokens(&u, &out->tokens);
    out->phase = (enum store_phase)phase;
    return unpack_done(&u) && (phase == STORE_PHASE_ACK || phase == STORE_PHASE_HEARTBEAT);
}

bool store_rows_decode_iteration(struct str value, struct store_iteration *out)
{
    struct unpack u = unpack_from(value);
    if (unpack_u8(&u) != ROW_VERSION) {
        return false;
    }
    out->row = unpack_u64(&u);
    out->iteration = unpack_i64(&u);
    uint8_t status = unpack_u8(&u);
    out->created_at.ns = unpack_i64(&u);
    out->checkpoint = unpack_text(&u);
    out->hold_reason = unpack_text(&u);
    out->result = unpack_text(&u);
    store_rows_decode_tokens(&u, &out->tokens);
    out->status = (enum store_iteration_status)status;
    return unpack_done(&u) && status >= STORE_ITERATION_CONTINUE && status <= STORE_ITERATION_HOLD;
}

static bool read_iteration(struct store *s, struct id job, uint32_t place, struct buf *room,
                           struct store_iteration *out)
{
    if (!read_row(s, job, STORE_ROW_ITERATION, place, room)) {
        return false;
    }
    if (!store_rows_decode_iteration(buf_str(room), out)) {
        check_fatal("an iteration of a job cannot be read");
    }
    return true;
}

bool store_rows_find_iteration(struct store *s, const struct job *j, int64_t iteration,
                               struct buf *room, struct store_iteration *out)
{
    uint32_t until = 0; /* rows before it are of this iteration or an earlier one */
    uint32_t after = j->iteration_count; /* rows from here on are later ones, or of this entry */
    while (until < after) {
        uint32_t middle = until + (after - until) / 2;
        if (read_iteration(s, j->id, middle, room, out) && out->iteration <= iteration) {
            until = middle + 1;
        } else {
            after = middle;
        }
    }
    return until > 0 && read_iteration(s, j->id, until - 1, room, out) &&
           out->iteration == iteration;
}

/* Call fn for the committed rows of one kind of a job. */
static void each_row(struct store *s, struct id job, char kind,
                     void (*fn)(void *data, struct str value), void *data)
{
    struct row_key from = key_of(job, kind, 0);
    struct str prefix = str_from(from.bytes, ROW_PREFIX_LEN);
    struct kv_iter *it = store_iter(s, STORE_ROWS, prefix);
    for (; kv_iter_valid(it) && str_starts_with(kv_iter_key(it), prefix); kv_iter_next(it)) {
        fn(data, kv_iter_value(it));
    }
    store_end_walk(it);
}

struct walk {
    union {
        void (*try_)(void *data, const struct store_try *t);
        void (*error)(void *data, const struct store_error *e);
        void (*usage)(void *data, const struct store_usage *u);
        void (*iteration)(void *data, const struct store_iteration *it);
    };
    void *data;
};

static void walk_error(void *data, struct str value)
{
    struct walk *w = data;
    struct store_error e;
    if (!store_rows_decode_error(value, &e)) {
        check_fatal("an error row cannot be read");
    }
    w->error(w->data, &e);
}

static void walk_usage(void *data, struct str value)
{
    struct walk *w = data;
    struct store_usage u;
    if (!store_rows_decode_usage(value, &u)) {
        check_fatal("a usage row cannot be read");
    }
    w->usage(w->data, &u);
}

static void walk_iteration(void *data, struct str value)
{
    struct walk *w = data;
    struct store_iteration it;
    if (!store_rows_decode_iteration(value, &it)) {
        check_fatal("an iteration row cannot be read");
    }
    w->iteration(w->data, &it);
}

static void walk_try(void *data, struct str value)
{
    struct walk *w = data;
    struct store_try t;
    if (!store_rows_decode_try(value, &t)) {
        check_fatal("the row of a delivery attempt cannot be read");
    }
    w->try_(w->data, &t);
}

void store_rows_each_try(struct store *s, struct id job,
                         void (*fn)(void *data, const struct store_try *t), void *data)
{
    struct walk w = {.try_ = fn, .data = data};
    each_row(s, job, STORE_ROW_TRY, walk_try, &w);
}

const char *store_rows_try_word(enum store_try_error error)
{
    static const char *const words[] = {
#define TRY_WORD(name, number, word) [STORE_TRY_ERROR_##name] = (word),
        STORE_TRY_ERROR_LIST(TRY_WORD)
#undef TRY_WORD
    };
    return words[error];
}

void store_rows_each_error(struct store *s, struct id job,
                           void (*fn)(void *data, const struct store_error *e), void *data)
{
    struct walk w = {.error = fn, .data = data};
    each_row(s, job, STORE_ROW_ERROR, walk_error, &w);
}

void store_rows_each_usage(struct store *s, struct id job,
                           void (*fn)(void *data, const struct store_usage *u), void *data)
{
    struct walk w = {.usage = fn, .data = data};
    each_row(s, job, STORE_ROW_USAGE, walk_usage, &w);
}

void store_rows_each_iteration(struct store *s, struct id job,
                               void (*fn)(void *data, const struct store_iteration *it), void *data)
{
    struct walk w = {.iteration = fn, .data = data};
    each_row(s, job, STORE_ROW_ITERATION, walk_iteration, &w);
}

void store_rows_visit(struct str key, struct str value, const struct store_rows_visitor *visitor)
{
    struct store_error e;
    struct store_iteration it;
    struct store_usage u;
    struct store_try t;
    int kind = key.len == ROW_KEY_LEN ? key.ptr[ID_BYTES] : 0;
    if (kind == STORE_ROW_ERROR && store_rows_decode_error(value, &e)) {
        if (visitor->error != NULL) {
            visitor->error(visitor->data, &e);
        }
    } else if (kind == STORE_ROW_ITERATION && store_rows_decode_iteration(value, &it)) {
        if (visitor->iteration != NULL) {
            visitor->iteration(visitor->data, &it);
        }
    } else if (kind == STORE_ROW_USAGE && store_rows_decode_usage(value, &u)) {
        if (visitor->usage != NULL) {
            visitor->usage(visitor->data, &u);
        }
    } else if (kind == STORE_ROW_TRY && store_rows_decode_try(value, &t)) {
        if (visitor->try_ != NULL) {
            visitor->try_(visitor->data, &t);
        }
    } else if (kind != STORE_BODY_KIND) { /* a body is part of the document */
        check_fatal("a row of a job cannot be read");
    }
}

/* Is there a committed row? */
static bool has_row(struct store *s, struct id job, char kind, uint32_t place)
{
    return read_row(s, job, kind, place, &s->scratch);
}

void store_rows_restore_error(struct store *s, struct id job, uint32_t place, struct store_error *e)
{
    if (!has_row(s, job, STORE_ROW_ERROR, place)) {
        e->row = s->meta.next_row++;
        buf_clear(&s->scratch);
        store_rows_encode_error(e, &s->scratch);
        put_row(s, job, STORE_ROW_ERROR, place);
    }
}

void store_rows_restore_iteration(struct store *s, struct id job, uint32_t place,
                                  struct store_iteration *it)
{
    if (!has_row(s, job, STORE_ROW_ITERATION, place)) {
        it->row = s->meta.next_row++;
        buf_clear(&s->scratch);
        store_rows_encode_iteration(it, &s->scratch);
        put_row(s, job, STORE_ROW_ITERATION, place);
    }
}

bool store_rows_restore_usage(struct store *s, struct id job, uint32_t place, struct store_usage *u)
{
    bool is_new = !has_row(s, job, STORE_ROW_USAGE, place);
    if (is_new) {
        u->row = s->meta.next_row++;
        buf_clear(&s->scratch);
        store_rows_encode_usage(u, &s->scratch);
        put_row(s, job, STORE_ROW_USAGE, place);
    }
    return is_new;
}
