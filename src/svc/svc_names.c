#include "svc/svc_names.h"

#include <string.h>

#include "base/limits.h"
#include "core/queue_name.h"
#include "core/queue_scope.h"
#include "store/store_job.h"

enum err_code svc_names_find(const struct json_word *words, struct str word, const char *field,
                             enum err_code code, int *out, struct err *err)
{
    enum { SHOWN_MAX = 32 };
    struct buf known;
    *out = 0;
    if (word.len == 0) {
        return ERR_OK;
    }
    for (const struct json_word *w = words; w->word != NULL; w++) {
        if (str_eq_nocase(word, str_from_z(w->word))) {
            *out = w->value;
            return ERR_OK;
        }
    }
    buf_init(&known, sizeof err->msg);
    json_schema_list_words(words, &known);
    (void)err_set(err, code, "%s: expected " STR_FMT ", got '" STR_FMT "'", field,
                  STR_ARG(buf_str(&known)), STR_ARG(str_at_most(word, SHOWN_MAX)));
    buf_deinit(&known);
    return code;
}

/* In the default namespace, a name with the mark is the internal name of a queue in another
 * namespace: the limit is that of the name after the mark. */
static size_t name_bytes_max(const struct svc_caller *who, struct str name)
{
    if (who->ns.len > 0 || !queue_name_has_mark(name)) {
        return LIMIT_QUEUE_NAME_BYTES;
    }
    const size_t ns_len = queue_name_namespace(name).len;
    return ns_len == 0 ? LIMIT_INTERNAL_NAME_BYTES
                       : ns_len + QUEUE_NAME_MARK.len + LIMIT_QUEUE_NAME_BYTES;
}

/* Does the field name a queue? Otherwise it names a schedule or a webhook. */
static bool names_queue(const char *field)
{
    return strstr(field, "queue") != NULL;
}

enum err_code svc_names_internal(const struct svc_caller *who, const char *field,
                                 struct str visible, struct str *out, struct err *err)
{
    struct str name = queue_name_visible(who->ns, visible);
    if (name.len > LIMIT_QUEUE_NAME_BYTES && name.len > name_bytes_max(who, name)) {
        return err_set(err, ERR_VALIDATION, "%s: expected 1 to %zu bytes, got %zu", field,
                       name_bytes_max(who, name), name.len);
    }
    if (who->scope.len > 0 && visible.len > 0 && names_queue(field) &&
        !queue_scope_has(who->scope, name)) {
        return err_set(err, ERR_FORBIDDEN,
                       "%s '" STR_FMT "' is outside the queues that this key may use", field,
                       STR_ARG(visible));
    }
    if (who->ns.len == 0 || visible.len == 0) {
        *out = visible;
        return ERR_OK;
    }
    /* The caller's own prefix is accepted: queue_name_visible has removed it. */
    if (name.len == 0 || (queue_name_has_mark(name) && !who->restores)) {
        return err_set(err, ERR_VALIDATION, "%s '" STR_FMT "' belongs to another namespace", field,
                       STR_ARG(visible));
    }
    size_t len = who->ns.len + QUEUE_NAME_MARK.len + name.len;
    char *internal = SVC_CALLER_ARRAY(who, char, len, err);
    if (internal == NULL) {
        return err->code;
    }
    memcpy(internal, who->ns.ptr, who->ns.len);
    memcpy(internal + who->ns.len, QUEUE_NAME_MARK.ptr, QUEUE_NAME_MARK.len);
    memcpy(internal + who->ns.len + QUEUE_NAME_MARK.len, name.ptr, name.len);
    *out = str_from(internal, len);
    return ERR_OK;
}

enum err_code svc_names_target(const struct svc_caller *who, const char *field, struct str visible,
                               struct str *out, struct err *err)
{
    if (svc_names_internal(who, field, visible, out, err) != ERR_OK) {
        return err->code;
    }
    if (who->restores) {
        return ERR_OK;
    }
    struct str ns = queue_name_namespace(*out);
    if (str_eq(queue_name_visible(ns, *out), QUEUE_NAME_SCHEDULER)) {
        return err_set(err, ERR_VALIDATION, "%s '" STR_FMT "' is reserved for jobs of POST /jobs",
                       field, STR_ARG(visible));
    }
    if (ns.len == 0 || queue_name_home(*out).len > 0) {
        return ERR_OK;
    }
    struct str rest = str_from_offset(*out, ns.len + QUEUE_NAME_MARK.len);
    return rest.len == 0
               ? err_set(err, ERR_VALIDATION, "%s '" STR_FMT "': a name must follow '::'", field,
                         STR_ARG(visible))
               : err_set(err, ERR_VALIDATION,
                         "%s '" STR_FMT "': queues of the namespace default have no prefix", field,
                         STR_ARG(visible));
}

bool svc_names_is_visible(const struct svc_caller *who, struct str internal)
{
    return queue_name_is_visible(who->ns, internal) &&
           (who->scope.len == 0 ||
            queue_scope_has(who->scope, queue_name_visible(who->ns, internal)));
}

struct str svc_names_visible(const struct svc_caller *who, struct str internal)
{
    return queue_name_visible(who->ns, internal);
}

bool svc_names_read_job(const struct svc_caller *who, struct id id, struct buf *doc,
                        struct job *out)
{
    struct err err;
    buf_clear(doc);
    return engine_read_job(who->engine, id, doc) &&
           store_job_decode(id, buf_str(doc), out, &err) == ERR_OK &&
           svc_names_is_visible(who, out->queue);
}

bool svc_names_may_name(const struct svc_caller *who, struct str text, struct id *out)
{
    struct job j;
    struct buf doc;
    if (!id_parse(text, ID_JOB, out)) {
        return false;
    }
    if (who->ns.len == 0 && who->scope.len == 0) {
        return true;
    }
    buf_init(&doc, SIZE_MAX);
    bool visible = svc_names_read_job(who, *out, &doc, &j);
    buf_deinit(&doc);
    return visible;
}

static enum err_code refuse(struct str text, struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "job \"" STR_FMT "\" not found", STR_ARG(text));
}

enum err_code svc_names_job(const struct svc_caller *who, struct str text, struct buf *doc,
                            struct job *out, struct err *err)
{
    struct id id;
    return id_parse(text, ID_JOB, &id) && svc_names_read_job(who, id, doc, out) ? ERR_OK
                                                                                : refuse(text, err);
}

enum err_code svc_names_job_id(const struct svc_caller *who, struct str text, struct id *out,
                               struct err *err)
{
    return svc_names_may_name(who, text, out) ? ERR_OK : refuse(text, err);
}
