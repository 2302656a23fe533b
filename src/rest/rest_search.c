/*
 * Search (http-api.md 10): by attributes of jobs, and full text.
 *
 * The view finds the jobs and their order. The documents are read from the engine, so they are
 * never older than the view. Both happen on a thread of the view.
 */
#include <assert.h>

#include "base/check.h"
#include "base/limits.h"
#include "core/timestamp.h"
#include "json/json_scan.h"
#include "os/os_clock.h"
#include "rest/rest_query_int.h"
#include "rest/rest_search_int.h"
#include "svc/svc_names.h"
#include "view/view_words.h"

enum {
    PAGE_DEFAULT = 50,
    PAGE_MAX = 1000,
    WORDS_MAX = 500,
    CURSOR_MAX = 128, /* bytes; more than any valid cursor has */
    SHOWN_MAX = 64,   /* bytes of an unknown member's name in a message */
};

/* An empty text means no time. */
static enum err_code parse_time(struct str text, struct wall *out, struct err *err)
{
    if (text.len == 0) {
        *out = WALL_NONE;
        return ERR_OK;
    }
    return timestamp_parse(text, out, err);
}

/* Rows whose presence matters come first. */
enum { ROW_ATTEMPT_MIN, ROW_ATTEMPT_MAX, ROW_CHAIN_STEP, ROW_HAS_ERRORS };

#define SORT_DOC                                                                                   \
    "Sort by created_at, priority, started_at, completed_at, attempt, scheduled_at or failed_at."
#define LIMIT_DOC "Maximum number of jobs. Default 50, at most 1000."

/* clang-format off */
#define TEXT(member, doc) JSON_STR(struct rest_search_in, member, 0, REST_SEARCH_TEXT_MAX, 0, doc)
#define TIME(member, doc) JSON_TIME(struct rest_search_in, member, parse_time, 0, doc)
static const struct json_field search_rows[] = {
    JSON_I64(struct rest_search_in, attempt_min, INT64_MIN, INT64_MAX, 0, "Minimum number of attempts."),
    JSON_I64(struct rest_search_in, attempt_max, INT64_MIN, INT64_MAX, 0, "Maximum number of attempts."),
    JSON_I64(struct rest_search_in, chain_step, INT64_MIN, INT64_MAX, 0, "Position in a chain."),
    JSON_BOOL(struct rest_search_in, has_errors, 0, "Only jobs with (true) or without (false) errors."),
    JSON_STR(struct rest_search_in, queue, 0, LIMIT_INTERNAL_NAME_BYTES, 0, "Name of the queue.", .told_max = LIMIT_QUEUE_NAME_BYTES),
    JSON_RAW(struct rest_search_in, state, REST_SEARCH_TEXT_MAX, 0, "States, any of which must match: an array, or a comma-separated string.", .told_type = "string | [string]"),
    JSON_RAW(struct rest_search_in, priority, REST_SEARCH_TEXT_MAX, JSON_OR_NUMBER, "Priority of the job.", .words = rest_names__priorities),
    JSON_RAW(struct rest_search_in, tags, 0, JSON_ONLY_OBJECT, "Tags that must all match."),
    TEXT(payload_contains, "Text in the JSON of the payload. Not case-sensitive."),
    TEXT(payload_jq, "jq expression about the payload, such as .user.id == 7."),
    TEXT(error_contains, "Text in any error message. Not case-sensitive."),
    TEXT(error_fingerprint, "Fingerprint of an error group from GET /errors."),
    TIME(created_after, "Created after this time."),      TIME(created_before, "Created before this time."),
    TIME(scheduled_after, "Due after this time."),        TIME(scheduled_before, "Due before this time."),
    TIME(started_after, "Started after this time."),      TIME(started_before, "Started before this time."),
    TIME(completed_after, "Completed after this time."),  TIME(completed_before, "Completed before this time."),
    TIME(expire_after, "Expires after this time."),       TIME(expire_before, "Expires before this time."),
    TEXT(unique_key, "Unique key."),
    TEXT(batch_id, "Batch."),
    TEXT(worker_id, "Worker that runs the job, or ran it last."),
    TEXT(parent_id, "Parent."),
    TEXT(chain_id, "Chain."),
    TEXT(depends_on, "Job that the jobs depend on."),
    TEXT(job_id_prefix, "Prefix of the job ID."),
    TEXT(sort, SORT_DOC),
    TEXT(order, "Sort order: asc or desc."),
    TEXT(cursor, "Cursor of the previous response."),
    JSON_I64(struct rest_search_in, limit, INT64_MIN, INT64_MAX, 0, LIMIT_DOC),
};
#undef TIME
#undef TEXT
/* clang-format on */

const struct json_schema rest_search__schema =
    JSON_SCHEMA(struct rest_search_in, search_rows, JSON_SET(struct rest_search_in, set));

/* The filter */

static bool is_member(struct json_value key)
{
    for (size_t i = 0; i < COUNT_OF(search_rows); i++) {
        if (json_value_text_eq(key, str_from(search_rows[i].name, search_rows[i].name_len))) {
            return true;
        }
    }
    return false;
}

bool rest_search__members_known(struct str json, struct err *err)
{
    struct json_scan scan = json_scan_from(json);
    struct json_value key;
    struct json_value value;
    if (json_scan_peek(&scan) != JSON_TYPE_OBJECT || !json_scan_enter_object(&scan)) {
        return true; /* the decoder reports errors of other members */
    }
    while (json_scan_next_key(&scan, &key)) {
        if (!is_member(key)) {
            (void)err_set(err, ERR_VALIDATION, "unknown member " STR_FMT,
                          STR_ARG(str_at_most(key.text, SHOWN_MAX)));
            return false;
        }
        if (!json_scan_value(&scan, &value)) {
            return true; /* not JSON: reported by the decoder */
        }
    }
    return true;
}

static bool is_present(const struct rest_search_in *in, unsigned row)
{
    return (in->set & 1ULL << row) != 0;
}

static const struct json_word state_words[] = {
    {"scheduled", JOB_SCHEDULED}, {"pending", JOB_PENDING},     {"active", JOB_ACTIVE},
    {"retrying", JOB_RETRYING},   {"held", JOB_HELD},           {"completed", JOB_COMPLETED},
    {"dead", JOB_DEAD},           {"cancelled", JOB_CANCELLED}, {NULL, 0},
};

static bool add_states(struct str words, unsigned *out, struct err *err)
{
    while (words.len > 0) {
        struct str word = str_trim(str_cut(&words, ','));
        int state;
        if (word.len > 0) {
            if (svc_names_find(state_words, word, "state", ERR_VALIDATION, &state, err) != ERR_OK) {
                return false;
            }
            *out |= 1U << state;
        }
    }
    return true;
}

static bool parse_states(struct rest_call *c, struct str json, unsigned *out, struct err *err)
{
    struct json_scan scan = json_scan_from(json);
    struct json_value v;
    struct str text;
    *out = 0;
    if (json.len == 0) {
        return true;
    }
    if (json_scan_peek(&scan) == JSON_TYPE_STRING && json_scan_value(&scan, &v)) {
        return json_value_text(v, c->arena, &text, err) == ERR_OK && add_states(text, out, err);
    }
    if (json_scan_peek(&scan) == JSON_TYPE_ARRAY && json_scan_enter_array(&scan)) {
        while (json_scan_next_element(&scan) && json_scan_value(&scan, &v)) {
            if (v.type != JSON_TYPE_STRING) {
                (void)err_set(err, ERR_PARSE, "state: expected strings");
                return false;
            }
            if (json_value_text(v, c->arena, &text, err) != ERR_OK || !add_states(text, out, err)) {
                return false;
            }
        }
        return true;
    }
    (void)err_set(err, ERR_PARSE, "state: expected a string or an array of strings");
    return false;
}

static bool parse_priority(struct rest_call *c, struct str json, struct view_filter *out,
                           struct err *err)
{
    struct json_value v;
    struct str word;
    int64_t number;
    if (json.len == 0) {
        return true;
    }
    if (json_scan_first(json, &v, err) != ERR_OK) {
        return false;
    }
    if (v.type == JSON_TYPE_STRING) {
        int priority;
        if (json_value_text(v, c->arena, &word, err) != ERR_OK ||
            svc_names_find(rest_names__priorities, word, "priority", ERR_VALIDATION, &priority,
                           err) != ERR_OK) {
            return false;
        }
        out->has_priority = word.len > 0;
        out->priority = (uint8_t)priority;
        return true;
    }
    if (json_value_i64(v, &number)) {
        int priority;
        if (!rest_names__priority(c, number, &priority, err)) {
            return false;
        }
        out->has_priority = true;
        out->priority = (uint8_t)priority;
        return true;
    }
    (void)err_set(err, ERR_PARSE, "priority: expected a string");
    return false;
}

static bool parse_tags(struct rest_call *c, struct str json, struct view_filter *out,
                       struct err *err)
{
    struct json_scan scan = json_scan_from(json);
    struct json_value key;
    struct json_value v;
    if (json.len == 0) {
        return true;
    }
    struct view_tag *tags = REST_ARRAY(c, struct view_tag, LIMIT_TAGS);
    out->tags = tags;
    if (!json_scan_enter_object(&scan)) {
        return json_scan_err(&scan, err) == ERR_OK;
    }
    while (json_scan_next_key(&scan, &key) && json_scan_value(&scan, &v)) {
        if (out->tag_count == LIMIT_TAGS) {
            (void)err_set(err, ERR_VALIDATION, "tags: expected at most %d", LIMIT_TAGS);
            return false;
        }
        struct view_tag *tag = &tags[out->tag_count++];
        tag->value = v.text;
        if (json_value_text(key, c->arena, &tag->key, err) != ERR_OK ||
            (v.type == JSON_TYPE_STRING &&
             json_value_text(v, c->arena, &tag->value, err) != ERR_OK)) {
            (void)err_set(err, ERR_VALIDATION, "tags: not text");
            return false;
        }
    }
    return true;
}

bool rest_search__filter(struct rest_call *c, const struct rest_search_in *in,
                         struct view_filter *out, struct err *err)
{
    *out = (struct view_filter){
        .ns = c->ns,
        .scope = c->caller.scope,
        .payload_contains = in->payload_contains,
        .payload_jq = in->payload_jq,
        .created = {in->created_after, in->created_before},
        .scheduled = {in->scheduled_after, in->scheduled_before},
        .started = {in->started_after, in->started_before},
        .completed = {in->completed_after, in->completed_before},
        .expire = {in->expire_after, in->expire_before},
        .has_attempt_min = is_present(in, ROW_ATTEMPT_MIN),
        .attempt_min = in->attempt_min,
        .has_attempt_max = is_present(in, ROW_ATTEMPT_MAX),
        .attempt_max = in->attempt_max,
        .has_chain_step = is_present(in, ROW_CHAIN_STEP),
        .chain_step = in->chain_step,
        .has_errors_set = is_present(in, ROW_HAS_ERRORS),
        .has_errors = in->has_errors,
        .unique_key = in->unique_key,
        .worker_id = in->worker_id,
        .batch_id = in->batch_id,
        .parent_id = in->parent_id,
        .chain_id = in->chain_id,
        .depends_on = in->depends_on,
        .error_contains = in->error_contains,
        .error_fingerprint = in->error_fingerprint,
        .job_id_prefix = in->job_id_prefix,
    };
    return rest_names__internal(c, "queue", in->queue, &out->queue, err) &&
           parse_states(c, in->state, &out->states, err) &&
           parse_priority(c, in->priority, out, err) && parse_tags(c, in->tags, out, err) &&
           view_search_check(out, err) == ERR_OK;
}

/* Cursors: base64 of {"offset":N}. For the order of creation also {"after":id}: the page then
 * begins after that job, even if jobs before it were added or removed. */

struct cursor {
    uint64_t offset;
    struct id after;
};

static int base64_digit(char ch)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = ch == '\0' ? NULL : strchr(digits, ch);
    return at == NULL ? -1 : (int)(at - digits);
}

/* Decode a cursor; all zero if it is invalid. */
static struct cursor read_cursor(struct str cursor)
{
    char json[CURSOR_MAX];
    size_t len = 0;
    uint32_t bits = 0;
    struct json_value v;
    int64_t offset;
    struct cursor none = {0};
    struct cursor found = none;
    if (cursor.len > CURSOR_MAX || cursor.len % 4 != 0) {
        return none;
    }
    for (size_t i = 0; i < cursor.len; i++) {
        bool pad = cursor.ptr[i] == '=' && i + 2 >= cursor.len;
        int digit = pad ? 0 : base64_digit(cursor.ptr[i]);
        if (digit < 0) {
            return none;
        }
        bits = bits << 6 | (uint32_t)digit;
        if (i % 4 == 3) {
            json[len++] = (char)(bits >> 16);
            json[len++] = (char)(bits >> 8);
            json[len++] = (char)bits;
        }
    }
    while (len > 0 && json[len - 1] == '\0') {
        len--;
    }
    struct str text = str_from(json, len);
    if (!json_scan_member(text, STR("offset"), &v) || !json_value_i64(v, &offset) || offset <= 0) {
        return none;
    }
    found.offset = (uint64_t)offset;
    if (json_scan_member(text, STR("after"), &v) && v.type == JSON_TYPE_STRING &&
        !id_parse(str_from(v.text.ptr + 1, v.text.len - 2), ID_JOB, &found.after)) {
        return none;
    }
    return found;
}

static void write_cursor(struct json_write *w, struct cursor cursor)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char json[CURSOR_MAX] = {0};
    char text[CURSOR_MAX * 2];
    size_t len = 0;
    int n = snprintf(json, sizeof json, "{\"offset\":%llu", (unsigned long long)cursor.offset);
    if (!id_is_none(cursor.after)) {
        char id[ID_TEXT_MAX];
        size_t id_len = id_format(cursor.after, ID_JOB, id);
        n += snprintf(json + n, sizeof json - (size_t)n, ",\"after\":\"%.*s\"", (int)id_len, id);
    }
    n += snprintf(json + n, sizeof json - (size_t)n, "}");
    for (int i = 0; i < n; i += 3) {
        uint32_t bits = (uint32_t)(unsigned char)json[i] << 16 |
                        (uint32_t)(unsigned char)json[i + 1] << 8 | (unsigned char)json[i + 2];
        for (int shift = 18; shift >= 0; shift -= 6) {
            bool pad = shift < 12 && i + (18 - shift) / 8 >= n;
            if (pad) {
                text[len++] = '=';
            } else {
                text[len++] = digits[bits >> shift & 63];
            }
        }
    }
    rest_document__text(w, "cursor", str_from(text, len));
}

/* Responses */

/* Write the summary of a job, if it still exists and is visible. */
static void write_summary(struct rest_call *c, struct json_write *w, struct id id, struct buf *doc)
{
    struct job j;
    if (rest_names__read_job_by_id(c, id, doc, &j)) {
        struct svc_caller who = rest_call__caller(c);
        rest_document__summary(w, &who, &j, engine_store(c->rest->config.engine));
    }
}

struct search_call {
    struct view_filter filter;
    struct view_search search;
    uint64_t before; /* jobs of earlier pages, which the filter excludes */
};

/* Count all current matches, including those of earlier pages. */
static enum err_code count_all(struct rest_call *c, struct view_reader *r, uint64_t *out)
{
    const struct search_call *s = c->data;
    struct view_filter all = s->filter;
    *out = s->search.total;
    if (id_is_none(all.above) && id_is_none(all.below)) {
        return ERR_OK;
    }
    all.above = ID_NONE;
    all.below = ID_NONE;
    return view_search_count(r, &all, c->arena, out, &c->ask_err);
}

static void run_search(struct rest_call *c, struct view_reader *r)
{
    struct search_call *s = c->data;
    struct view_search *search = &s->search;
    struct buf doc;
    uint64_t total;
    if (view_search_run(r, search, c->arena, &c->ask_err) != ERR_OK ||
        count_all(c, r, &total) != ERR_OK) {
        return;
    }
    uint64_t seen = s->before + search->offset + search->count;
    bool more = search->count > 0 && search->offset + search->count < search->total;
    struct json_write w = json_write_to(&c->answer);
    buf_init(&doc, SIZE_MAX);
    json_write_object(&w);
    rest_document__array(&w, "jobs");
    for (size_t i = 0; i < search->count && !c->answer.overflow; i++) {
        write_summary(c, &w, search->ids[i], &doc);
    }
    json_write_end(&w);
    rest_document__i64(&w, "total", (int64_t)total);
    if (more) {
        bool by_id = search->sort == VIEW_SORT_CREATED_AT;
        write_cursor(&w, (struct cursor){seen, by_id ? search->ids[search->count - 1] : ID_NONE});
    }
    rest_document__bool(&w, "has_more", more);
    rest_document__i64(&w, "duration_ms", (os_clock_mono().ns - c->started.ns) / NS_PER_MS);
    json_write_end(&w);
    json_write_finish(&w);
    buf_deinit(&doc);
}

static const struct json_word sort_words[] = {
    {"created_at", VIEW_SORT_CREATED_AT}, {"priority", VIEW_SORT_PRIORITY},
    {"started_at", VIEW_SORT_STARTED_AT}, {"completed_at", VIEW_SORT_COMPLETED_AT},
    {"attempt", VIEW_SORT_ATTEMPT},       {"scheduled_at", VIEW_SORT_SCHEDULED_AT},
    {"failed_at", VIEW_SORT_FAILED_AT},   {NULL, 0},
};
static_assert(VIEW_SORT_CREATED_AT == 0, "an empty word is the default");

bool rest_search__sort(struct str word, enum view_sort *out, struct err *err)
{
    int sort;
    if (svc_names_find(sort_words, word, "sort", ERR_VALIDATION, &sort, err) != ERR_OK) {
        return false;
    }
    *out = (enum view_sort)sort;
    return true;
}

static void begin_at(struct search_call *s, struct cursor cursor)
{
    if (s->search.sort != VIEW_SORT_CREATED_AT || id_is_none(cursor.after)) {
        s->search.offset = cursor.offset;
        return;
    }
    s->before = cursor.offset;
    if (s->search.ascending) {
        s->filter.above = cursor.after;
    } else {
        s->filter.below = cursor.after;
    }
}

static void search(struct rest_call *c, const struct rest_search_in *in)
{
    struct search_call *s = REST_NEW(c, struct search_call);
    struct err err;
    enum view_sort sort;
    if (!rest_search__sort(in->sort, &sort, &err) ||
        !rest_search__filter(c, in, &s->filter, &err)) {
        rest_call__fail_err(c, &err);
        return;
    }
    s->search = (struct view_search){
        .filter = &s->filter,
        .sort = sort,
        .ascending = str_eq(in->order, STR("asc")),
        .limit = in->limit <= 0         ? PAGE_DEFAULT
                 : in->limit > PAGE_MAX ? PAGE_MAX
                                        : (uint32_t)in->limit,
    };
    begin_at(s, read_cursor(in->cursor));
    c->data = s;
    c->ask_kind = view_search_kind(&s->filter);
    rest_call__on_view(c, run_search, rest_call__reply_asked);
}

static void handle_search(struct rest_call *c)
{
    struct err err;
    if (rest_search__members_known(c->req->body, &err)) {
        search(c, c->in);
    } else {
        rest_call__fail_err(c, &err);
    }
}

/* Dead jobs, by query parameters */

/* clang-format off */
#define TEXT(member, doc) JSON_STR(struct rest_search_in, member, 0, REST_SEARCH_TEXT_MAX, 0, doc)
#define TIME(member, doc) JSON_TIME(struct rest_search_in, member, parse_time, 0, doc)
static const struct json_field dead_rows[] = {
    JSON_STR(struct rest_search_in, queue, 0, LIMIT_INTERNAL_NAME_BYTES, 0, "Name of the queue.", .told_max = LIMIT_QUEUE_NAME_BYTES),
    JSON_I64(struct rest_search_in, limit, INT64_MIN, INT64_MAX, 0, LIMIT_DOC),
    TEXT(cursor, "Cursor of the previous response."),
    TEXT(sort, SORT_DOC),
    TEXT(order, "Sort order: asc or desc."),
    TEXT(error_contains, "Text in any error message. Not case-sensitive."),
    TEXT(payload_contains, "Text in the JSON of the payload. Not case-sensitive."),
    TEXT(payload_jq, "jq expression about the payload, such as .user.id == 7."),
    TIME(created_after, "Created after this time."),
    TIME(created_before, "Created before this time."),
    JSON_STRS(struct rest_search_in, tag, tag_count, 0, REST_QUERY_VALUES_MAX, LIMIT_TAG_KEY_BYTES + LIMIT_TAG_VALUE_BYTES + 1, 0,
              "Tag that must match, as key:value.", .told_max = LIMIT_TAGS, .told_pattern = ":"),
};
#undef TIME
#undef TEXT
/* clang-format on */

static const struct rest_search_in dead_init = {
    .limit = PAGE_DEFAULT,
    .sort = {.ptr = "failed_at", .len = sizeof "failed_at" - 1},
};
static const struct json_schema dead_schema =
    JSON_SCHEMA(struct rest_search_in, dead_rows, .init = &dead_init);

/* Convert the key:value pairs to the JSON object of a search. */
static bool join_tags(struct rest_call *c, struct rest_search_in *in)
{
    struct buf json;
    bool good = true;
    rest_call__buf(c, &json);
    struct json_write w = json_write_to(&json);
    json_write_object(&w);
    for (size_t i = 0; i < in->tag_count && good; i++) {
        struct str pair = in->tag[i];
        const char *colon = memchr(pair.ptr, ':', pair.len);
        good = colon != NULL;
        if (good) {
            size_t key = (size_t)(colon - pair.ptr);
            json_write_key(&w, str_from(pair.ptr, key));
            json_write_str(&w, str_from_offset(pair, key + 1));
        }
    }
    json_write_end(&w);
    json_write_finish(&w);
    struct str tags = rest_call__keep(c, &json);
    in->tags = in->tag_count > 0 ? tags : STR_EMPTY;
    return good;
}

static void handle_dead(struct rest_call *c)
{
    struct rest_search_in *in = c->query;
    in->state = STR("\"dead\"");
    if (join_tags(c, in)) {
        search(c, in);
    } else {
        rest_call__fail(c, ERR_VALIDATION, "invalid tag: expected key:value");
    }
}

/* Full text */

static void write_found(struct rest_call *c, struct json_write *w, struct id id, struct buf *doc)
{
    struct job j;
    if (!rest_names__read_job_by_id(c, id, doc, &j)) {
        return;
    }
    json_write_object(w);
    rest_document__id(w, "id", id, ID_JOB);
    rest_document__text(w, "queue", rest_names__visible(c, j.queue));
    rest_document__text(w, "state", str_from_z(job_state_name(j.state)));
    json_write_key(w, STR("payload")); /* a string that contains JSON, as clients expect */
    json_write_str(w, j.payload);
    json_write_key(w, STR("tags"));
    json_write_str(w, j.tags);
    rest_document__time(w, "created_at", j.created_at);
    json_write_end(w);
}

static void run_words(struct rest_call *c, struct view_reader *r)
{
    struct view_words *words = c->data;
    struct buf doc;
    if (view_words_find(r, words, c->arena, &c->ask_err) != ERR_OK) {
        return;
    }
    struct json_write w = json_write_to(&c->answer);
    buf_init(&doc, SIZE_MAX);
    json_write_object(&w);
    json_write_key(&w, STR("q"));
    json_write_str(&w, words->query);
    rest_document__array(&w, "results");
    for (size_t i = 0; i < words->count && !c->answer.overflow; i++) {
        write_found(c, &w, words->ids[i], &doc);
    }
    json_write_end(&w);
    json_write_end(&w);
    json_write_finish(&w);
    buf_deinit(&doc);
}

struct words_in {
    struct str q;
    int64_t limit;
};

static const struct json_field words_rows[] = {
    JSON_STR(struct words_in, q, 1, REST_SEARCH_TEXT_MAX, JSON_REQUIRED, "Words to search for."),
    JSON_I64(struct words_in, limit, 1, WORDS_MAX, JSON_LAX, "Maximum number of jobs."),
};
static const struct words_in words_init = {.limit = PAGE_DEFAULT};
static const struct json_schema words_schema =
    JSON_SCHEMA(struct words_in, words_rows, .init = &words_init);

static void handle_words(struct rest_call *c)
{
    const struct words_in *in = c->query;
    struct view_words *words = REST_NEW(c, struct view_words);
    *words = (struct view_words){
        .ns = c->ns, .scope = c->caller.scope, .query = in->q, .limit = (uint32_t)in->limit};
    c->data = words;
    c->ask_text = true;
    c->ask_kind = VIEW_KIND_TEXTS; /* if no word matches, every text is searched */
    rest_call__on_view(c, run_words, rest_call__reply_asked);
}

/* Rebuild */

static void rebuilt(struct rest_call *c)
{
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    rest_document__text(&w, "status", STR("ok"));
    rest_document__bool(&w, "rebuilt", true);
    rest_document__i64(&w, "duration_ms", c->rebuild.took_ms);
    json_write_end(&w);
    rest_call__reply(c, 200, &w);
}

static void handle_rebuild(struct rest_call *c)
{
    rest_call__rebuild(c, rebuilt);
}

/* clang-format off */
enum { SEARCH_BODY = ROUTE_BODY | ROUTE_BODY_EMPTY | ROUTE_READ | ROUTE_GENERATION };

static const struct rest_route rows[] = {
    /* method    pattern                          roles       flags         in                   handler         cost  answer                                                doc */
    {HTTP_POST, "/api/v1/jobs/search",            ROLES_AOR,  SEARCH_BODY,  &rest_search__schema, handle_search,  NULL, "200 {jobs, total, cursor, has_more, duration_ms}",   "Search jobs. All conditions must match."},
    {HTTP_GET,  "/api/v1/dead",                   ROLES_AOR,  0,            NULL,                handle_dead,    NULL, "200 {jobs, total, cursor, has_more, duration_ms}",   "List dead jobs, most recent failure first."},
    {HTTP_GET,  "/api/v1/search/fulltext",        ROLES_AOR,  0,            NULL,                handle_words,   NULL, "200 {q, results}",                                   "Search jobs by words in payload, tags, queue and state."},
    {HTTP_POST, "/api/v1/admin/rebuild-sqlite",   ROLE_ADMIN, ROUTE_LEADER | ROUTE_SERVER, NULL,                handle_rebuild, NULL, "200 {status, rebuilt, duration_ms}",                 "Rebuild the search index from all jobs."},
};
/* clang-format on */

static const struct rest_query queries[] = {
    {HTTP_GET, "/api/v1/dead", &dead_schema},
    {HTTP_GET, "/api/v1/search/fulltext", &words_schema},
};

const struct rest_routes rest_search_routes = {
    .rows = rows, .count = COUNT_OF(rows), .queries = queries, .query_count = COUNT_OF(queries)};
