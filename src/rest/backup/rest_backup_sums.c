#include "rest/backup/rest_backup_sums.h"

#include "base/limits.h"
#include "core/queue_name.h"
#include "core/timestamp.h"

/* Nothing stands for 0. */
static const struct json_word series_words[] = {{"parts", STORE_TALLY_PARTS + 1},
                                                {"hours", STORE_TALLY_HOURS + 1},
                                                {"tag_parts", STORE_TALLY_TAG_PARTS + 1},
                                                {"tag_hours", STORE_TALLY_TAG_HOURS + 1},
                                                {NULL, 0}};

/* Writing */

uint64_t rest_backup_sums__first_row(struct store_snapshot *sn)
{
    struct store_tally_start start;
    struct str value;
    struct str key = store_tally_start_key();
    bool found = store_snapshot_record(sn, STORE_KIND_TALLY, key, &value) &&
                 store_tally_decode_start(key, value, &start);
    return found ? start.row : UINT64_MAX;
}

/* What there was no room for by queue counts for a namespace. */
static bool is_of_namespace(struct str queue)
{
    return queue.len == queue_name_namespace(queue).len + QUEUE_NAME_MARK.len || queue.len == 0;
}

static bool is_own(const struct rest_call *c, struct str queue)
{
    if (!is_of_namespace(queue)) {
        return rest_backup__is_own(c, queue);
    }
    return c->caller.scope.len == 0 && str_eq(queue_name_namespace(queue), c->ns);
}

enum { TURN_CELLS = 5000 }; /* of any namespace */

struct writing {
    struct rest_backup_sums *sums;
    const struct rest_call *call;
    struct buf *out;
    size_t max;
    unsigned seen;
    bool full;
};

struct cell {
    enum store_tally_series series;
    uint32_t number;
    struct store_tally_name name;
    struct store_tally sums;
};

static void put_cell(struct json_write *w, const struct rest_call *c, const struct cell *cell)
{
    bool is_tag = cell->series >= STORE_TALLY_TAG_PARTS;
    int64_t begin_s = (int64_t)cell->number * store_tally_seconds(cell->series);
    json_write_object(w);
    rest_document__text(w, "series", str_from_z(series_words[cell->series].word));
    rest_document__time(w, "begins_at", (struct wall){.ns = begin_s * NS_PER_S});
    if (!is_of_namespace(cell->name.queue)) {
        rest_document__text(w, "queue", rest_names__visible(c, cell->name.queue));
    }
    rest_document__text(w, is_tag ? "tag_key" : "model", cell->name.first);
    rest_document__text(w, is_tag ? "tag_value" : "provider", cell->name.second);
    rest_document__i64_if_set(w, "input_tokens", cell->sums.input);
    rest_document__i64_if_set(w, "output_tokens", cell->sums.output);
    rest_document__i64_if_set(w, "cache_creation_tokens", cell->sums.cache_creation);
    rest_document__i64_if_set(w, "cache_read_tokens", cell->sums.cache_read);
    rest_document__i64_if_set(w, "cost_nusd", cell->sums.cost_nusd);
    rest_document__i64(w, "reports", cell->sums.reports);
    json_write_end(w);
}

static bool write_cell(void *data, struct str key, struct str value)
{
    struct writing *w = data;
    struct cell cell;
    if (str_eq(key, store_tally_start_key())) {
        return true;
    }
    w->full = w->out->len >= w->max || w->seen++ == TURN_CELLS;
    if (w->full) {
        buf_clear(&w->sums->from);
        buf_add_str(&w->sums->from, key);
        return false;
    }
    if (!store_tally_decode_key(key, &cell.series, &cell.number, &cell.name) ||
        !store_tally_decode(value, &cell.sums)) {
        w->sums->damaged = true;
        return false;
    }
    if (is_own(w->call, cell.name.queue)) {
        buf_add_str(w->out, w->sums->written++ == 0 ? STR_EMPTY : STR(","));
        struct json_write json = json_write_to(w->out);
        put_cell(&json, w->call, &cell);
    }
    return true;
}

bool rest_backup_sums__write(struct rest_backup_sums *s, const struct rest_call *c,
                             struct store_snapshot *sn, struct buf *out, size_t max)
{
    struct writing w = {.sums = s, .call = c, .out = out, .max = max};
    struct buf from = s->from; /* it is replaced when the walk stops */
    buf_init(&s->from, STORE_TALLY_KEY_BYTES_MAX);
    store_snapshot_each_from(sn, STORE_KIND_TALLY, buf_str(&from), write_cell, &w);
    buf_deinit(&from);
    return !w.full;
}

/* Reading */

struct sum_in {
    int series;
    struct wall begins_at;
    struct str queue, model, provider, tag_key, tag_value;
    int64_t input_tokens, output_tokens, cache_creation_tokens, cache_read_tokens, cost_nusd;
    int64_t reports;
};

#define NAME(member, max) JSON_STR(struct sum_in, member, 0, max, 0, "As in the backup.")
#define SUM(member)       JSON_I64(struct sum_in, member, 0, INT64_MAX, 0, "As in the backup.")
static const struct json_field sum_rows[] = {
    JSON_WORD(struct sum_in, series, series_words, JSON_REQUIRED, "As in the backup."),
    JSON_TIME(struct sum_in, begins_at, timestamp_parse, JSON_REQUIRED, "As in the backup."),
    NAME(queue, LIMIT_INTERNAL_NAME_BYTES),
    NAME(model, LIMIT_MODEL_NAME_BYTES),
    NAME(provider, LIMIT_MODEL_NAME_BYTES),
    NAME(tag_key, LIMIT_TAG_KEY_BYTES),
    NAME(tag_value, LIMIT_TAG_VALUE_BYTES),
    SUM(input_tokens),
    SUM(output_tokens),
    SUM(cache_creation_tokens),
    SUM(cache_read_tokens),
    SUM(cost_nusd),
    SUM(reports),
};
#undef NAME
#undef SUM
static const struct json_schema sum_schema = JSON_SCHEMA(struct sum_in, sum_rows);

bool rest_backup_sums__are_known(const struct rest_call *c)
{
    return engine_cluster_reads(c->rest->config.engine) >= COMMAND_ENTRY_SPARING_NAMED;
}

/* As it is stored: what counts for a namespace has no queue in the backup. */
static bool read_queue(struct rest_call *c, struct str visible, struct str *out, struct err *err)
{
    if (visible.len > 0) {
        return rest_names__internal(c, "queue", visible, out, err);
    }
    *out = c->ns;
    if (c->ns.len > 0) {
        struct buf b;
        buf_init(&b, SIZE_MAX);
        buf_add_str(&b, c->ns);
        buf_add_str(&b, QUEUE_NAME_MARK);
        *out = arena_str(c->arena, buf_str(&b));
        buf_deinit(&b);
    }
    return true;
}

bool rest_backup_sums__read(struct rest_call *c, struct str json, struct command_restore_item *out,
                            struct err *err)
{
    struct sum_in in;
    struct store_tally_name name;
    struct buf key;
    if (json_schema_decode(&sum_schema, json, c->arena, &in, err) != ERR_OK ||
        !read_queue(c, in.queue, &name.queue, err)) {
        return false;
    }
    enum store_tally_series series = (enum store_tally_series)(in.series - 1);
    int64_t number = store_tally_number(series, in.begins_at);
    if (number < 0 || number > UINT32_MAX) {
        (void)err_set(err, ERR_VALIDATION, "begins_at: not a time of usage");
        return false;
    }
    bool is_tag = series >= STORE_TALLY_TAG_PARTS;
    name.first = is_tag ? in.tag_key : in.model;
    name.second = is_tag ? in.tag_value : in.provider;
    buf_init(&key, STORE_TALLY_KEY_BYTES_MAX);
    store_tally_key(series, (uint32_t)number, &name, &key);
    out->name = arena_str(c->arena, buf_str(&key));
    buf_deinit(&key);
    out->tally = (struct store_tally){.input = in.input_tokens,
                                      .output = in.output_tokens,
                                      .cache_creation = in.cache_creation_tokens,
                                      .cache_read = in.cache_read_tokens,
                                      .cost_nusd = in.cost_nusd,
                                      .reports = in.reports};
    return true;
}
