/*
 * Names: queues of a namespace, and jobs that its callers may see (http-api.md 2.5, 3.4).
 *
 * In the default namespace a queue's internal name is its name, and everything is visible. In any
 * other it is "<namespace>::<name>", and only what begins so is visible.
 */
#include "api/api_int.h"
#include "base/check.h"
#include "base/limits.h"
#include "core/queue_name.h"
#include "store/store_job.h"

const struct json_word api_names__priorities[] = {
#define WORD(id, number, word) {word, number},
    JOB_PRIORITY_LIST(WORD)
#undef WORD
        {NULL, 0},
};

bool api_names__word(const struct json_word *words, struct str word, int *out)
{
    *out = 0;
    if (word.len == 0) {
        return true;
    }
    while (words->word != NULL && !str_eq_nocase(word, str_from_z(words->word))) {
        words++;
    }
    *out = words->value;
    return words->word != NULL;
}

/* To the default namespace a name with the mark is one of another: as long as those may be. */
static size_t name_bytes_max(const struct api_call *c, struct str name)
{
    return c->ns.len == 0 && queue_name_has_mark(name) ? LIMIT_INTERNAL_NAME_BYTES
                                                       : LIMIT_QUEUE_NAME_BYTES;
}

bool api_names__internal(struct api_call *c, const char *field, struct str visible, struct str *out,
                         struct err *err)
{
    struct str name = queue_name_visible(c->ns, visible);
    if (name.len > LIMIT_QUEUE_NAME_BYTES && name.len > name_bytes_max(c, name)) {
        (void)err_set(err, ERR_VALIDATION, "%s too large: %zu bytes (max %zu)", field, name.len,
                      name_bytes_max(c, name));
        return false;
    }
    if (c->ns.len == 0 || visible.len == 0) {
        *out = visible;
        return true;
    }
    /* Its own prefix is no harm: the name is the same with and without. */
    if (name.len == 0 || queue_name_has_mark(name)) {
        (void)err_set(err, ERR_VALIDATION, "%s '" STR_FMT "' names another namespace", field,
                      STR_ARG(visible));
        return false;
    }
    size_t len = c->ns.len + QUEUE_NAME_MARK.len + name.len;
    char *internal = api_call__alloc(c, len);
    memcpy(internal, c->ns.ptr, c->ns.len);
    memcpy(internal + c->ns.len, QUEUE_NAME_MARK.ptr, QUEUE_NAME_MARK.len);
    memcpy(internal + c->ns.len + QUEUE_NAME_MARK.len, name.ptr, name.len);
    *out = str_from(internal, len);
    return true;
}

bool api_names__is_visible(const struct api_call *c, struct str internal)
{
    return queue_name_is_visible(c->ns, internal);
}

struct str api_names__visible(const struct api_call *c, struct str internal)
{
    return queue_name_visible(c->ns, internal);
}

bool api_names__read_job_by_id(const struct api_call *c, struct id id, struct buf *doc,
                               struct job *out)
{
    struct err err;
    buf_clear(doc);
    return engine_read_job(c->api->config.engine, id, doc) &&
           store_job_decode(id, buf_str(doc), out, &err) == ERR_OK &&
           api_names__is_visible(c, out->queue);
}

bool api_names__read_job(struct api_call *c, struct str text, struct buf *doc, struct job *out)
{
    struct id id;
    return id_parse(text, ID_JOB, &id) && api_names__read_job_by_id(c, id, doc, out);
}

bool api_names__may_name(struct api_call *c, struct str text, struct id *out)
{
    struct job j;
    struct buf doc;
    if (!id_parse(text, ID_JOB, out)) {
        return false;
    }
    if (c->ns.len == 0) {
        return true;
    }
    buf_init(&doc, SIZE_MAX);
    bool visible = api_names__read_job(c, text, &doc, &j);
    buf_deinit(&doc);
    return visible;
}

static void refuse(struct api_call *c, struct str text)
{
    api_call__fail(c, ERR_NOT_FOUND, "job \"" STR_FMT "\" not found", STR_ARG(text));
}

bool api_names__job(struct api_call *c, struct str text, struct buf *doc, struct job *out)
{
    if (api_names__read_job(c, text, doc, out)) {
        return true;
    }
    refuse(c, text);
    return false;
}

bool api_names__job_id(struct api_call *c, struct str text, struct id *out)
{
    if (api_names__may_name(c, text, out)) {
        return true;
    }
    refuse(c, text);
    return false;
}
