/*
 * The functions of svc_names for the caller of a call.
 */
#include "core/queue_name.h"
#include "rest/rest_int.h"
#include "svc/svc_names.h"

const struct json_word rest_names__priorities[] = {
#define WORD(id, number, word) {word, number},
    JOB_PRIORITY_LIST(WORD)
#undef WORD
        {NULL, 0},
};

bool rest_names__is_second(const struct rest_call *c)
{
    struct str version;
    return c->req != NULL && http_request_known(c->req, HTTP_KNOWN_X_CORVO_API, &version) &&
           str_eq(version, STR("2"));
}

bool rest_names__priority(const struct rest_call *c, int64_t number, int *out, struct err *err)
{
    if (rest_names__is_second(c)) {
        return svc_enqueue_urgency(number, out, err) == ERR_OK;
    }
    if (number < 0 || number > JOB_PRIORITY_NORMAL) {
        (void)err_set(err, ERR_VALIDATION,
                      "priority: expected critical, high, normal or 0 to %d, got %lld",
                      JOB_PRIORITY_NORMAL, (long long)number);
        return false;
    }
    *out = (int)number;
    return true;
}

bool rest_names__priority_apart(const struct rest_call *c, int *priority, struct err *err)
{
    return *priority < JSON_NUMBER ||
           rest_names__priority(c, *priority - JSON_NUMBER, priority, err);
}

bool rest_names__word(const struct json_word *words, struct str word, int *out)
{
    struct err ignored;
    return svc_names_find(words, word, "", ERR_VALIDATION, out, &ignored) == ERR_OK;
}

bool rest_names__internal(struct rest_call *c, const char *field, struct str visible,
                          struct str *out, struct err *err)
{
    struct svc_caller who = rest_call__caller(c);
    return svc_names_internal(&who, field, visible, out, err) == ERR_OK;
}

bool rest_names__target(struct rest_call *c, const char *field, struct str visible, struct str *out,
                        struct err *err)
{
    struct svc_caller who = rest_call__caller(c);
    return svc_names_target(&who, field, visible, out, err) == ERR_OK;
}

struct str rest_names__prefix(struct rest_call *c, struct str visible)
{
    if (c->ns.len == 0) {
        return visible;
    }
    struct buf text;
    rest_call__buf(c, &text);
    buf_printf(&text, STR_FMT "::" STR_FMT, STR_ARG(c->ns), STR_ARG(visible));
    return rest_call__keep(c, &text);
}

bool rest_names__is_visible(const struct rest_call *c, struct str internal)
{
    struct svc_caller who = rest_call__caller(c);
    return svc_names_is_visible(&who, internal);
}

bool rest_names__is_of_namespace(const struct rest_call *c, struct str internal)
{
    return queue_name_is_visible(c->ns, internal);
}

struct str rest_names__visible(const struct rest_call *c, struct str internal)
{
    struct svc_caller who = rest_call__caller(c);
    return svc_names_visible(&who, internal);
}

bool rest_names__read_job_by_id(const struct rest_call *c, struct id id, struct buf *doc,
                                struct job *out)
{
    struct svc_caller who = rest_call__caller(c);
    return svc_names_read_job(&who, id, doc, out);
}
