#include "event/event_match.h"

#include <assert.h>

#include "base/check.h"
#include "core/queue_name.h"
#include "core/queue_scope.h"

static_assert(STORE_EVENT_TYPE_LAST < 32, "a set of types is 32 bits");

static bool is_same_letter(char a, char b)
{
    return str_eq_nocase(str_from(&a, 1), str_from(&b, 1));
}

/* Backtracks to the last '*' only, so the time is bounded by the product of the lengths. */
static bool fits_glob(struct str pattern, struct str text)
{
    size_t p = 0;
    size_t t = 0;
    size_t star = SIZE_MAX; /* position of the last one */
    size_t star_t = 0;      /* end of the text it matches */
    while (t < text.len) {
        if (p < pattern.len && pattern.ptr[p] == '*') {
            star = p++;
            star_t = t;
        } else if (p < pattern.len &&
                   (pattern.ptr[p] == '?' || is_same_letter(pattern.ptr[p], text.ptr[t]))) {
            p++;
            t++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            t = ++star_t;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.ptr[p] == '*') {
        p++;
    }
    return p == pattern.len;
}

uint32_t event_match_types(struct str pattern)
{
    static const char prefix[] = "job.";
    uint32_t types = 0;
    for (unsigned type = 1; type <= STORE_EVENT_TYPE_LAST; type++) {
        char alias[64];
        struct str word = str_from_z(store_event_word((enum store_event_type)type));
        bool of_job = memchr(word.ptr, '.', word.len) == NULL;
        CHECK(word.len + sizeof prefix <= sizeof alias);
        memcpy(alias, prefix, sizeof prefix - 1);
        memcpy(alias + sizeof prefix - 1, word.ptr, word.len);
        if (fits_glob(pattern, word) ||
            (of_job && fits_glob(pattern, str_from(alias, sizeof prefix - 1 + word.len)))) {
            types |= 1U << type;
        }
    }
    return types;
}

static bool has_queue(const struct event_match *m, struct str queue)
{
    for (size_t i = 0; i < m->queue_count; i++) {
        if (str_eq(m->queues[i], queue)) {
            return true;
        }
    }
    return false;
}

static bool has_job(const struct event_match *m, struct id job)
{
    for (size_t i = 0; i < m->job_count; i++) {
        if (id_eq(m->jobs[i], job)) {
            return true;
        }
    }
    return false;
}

bool event_match_fits(const struct event_match *m, const struct store_event *e)
{
    return (m->types >> e->type & 1) != 0 && queue_name_is_visible(m->ns, e->queue) &&
           (m->scope.len == 0 || queue_scope_has(m->scope, queue_name_visible(m->ns, e->queue))) &&
           (!m->by_queue || has_queue(m, e->queue)) && (!m->by_job || has_job(m, e->job));
}

bool event_match_is_open(const struct event_match *m)
{
    return m->types == EVENT_MATCH_ALL && m->ns.len == 0 && m->scope.len == 0 && !m->by_queue &&
           !m->by_job;
}

void event_match_refuse(const char *field, struct str type, struct buf *out)
{
    enum { SHOWN_MAX = 32 };
    buf_printf(out, "%s: got '" STR_FMT "', expected ", field,
               STR_ARG(str_at_most(type, SHOWN_MAX)));
    for (unsigned t = 1; t <= STORE_EVENT_TYPE_LAST; t++) {
        buf_add_str(out, t == 1 ? STR("") : t == STORE_EVENT_TYPE_LAST ? STR(" or ") : STR(", "));
        buf_add_str(out, str_from_z(store_event_word((enum store_event_type)t)));
    }
}

bool event_match_read_types(const struct str *patterns, size_t count, uint32_t *out,
                            struct str *out_unknown)
{
    uint32_t types = 0;
    for (size_t i = 0; i < count; i++) {
        bool all = str_eq(patterns[i], STR("*"));
        uint32_t some = all ? EVENT_MATCH_ALL : event_match_types(patterns[i]);
        if (some == 0) {
            *out_unknown = patterns[i];
            return false;
        }
        types |= some;
    }
    *out = count > 0 ? types : EVENT_MATCH_ALL;
    return true;
}
