#include "backup/backup_verify.h"

#include "json/json_scan.h"

void backup_verify_checksum(uint32_t crc, char out[BACKUP_VERIFY_CHECKSUM_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    static const char name[] = "crc32c:";
    memcpy(out, name, sizeof name - 1);
    for (unsigned i = 0; i < 8; i++) {
        out[sizeof name - 1 + i] = digits[crc >> (28 - 4 * i) & 15];
    }
}

/* Read format and checksum; crc is that of all bytes before the member meta. */
static enum err_code read_meta(struct json_value meta, uint32_t crc, struct backup_verify *out,
                               struct err *err)
{
    struct json_value v;
    char checksum[BACKUP_VERIFY_CHECKSUM_BYTES];
    out->format = 1; /* if repeated, the last one counts */
    out->has_checksum = out->checksum_fits = false;
    if (meta.type != JSON_TYPE_OBJECT) {
        return err_set(err, ERR_VALIDATION, "meta is not an object");
    }
    if (json_scan_member(meta.text, STR("format"), &v) &&
        (!json_value_i64(v, &out->format) || out->format < 1)) {
        return err_set(err, ERR_VALIDATION, "meta.format is not a positive number");
    }
    if (out->format > BACKUP_VERIFY_FORMAT) {
        return err_set(err, ERR_VALIDATION, "meta.format is %lld; this version knows up to %d",
                       (long long)out->format, BACKUP_VERIFY_FORMAT);
    }
    if (json_scan_member(meta.text, STR("checksum"), &v) && v.type == JSON_TYPE_STRING) {
        backup_verify_checksum(crc, checksum);
        out->has_checksum = true;
        out->checksum_fits = json_value_text_eq(v, str_from(checksum, sizeof checksum));
    }
    return ERR_OK;
}

/* The counter of a list of the backup; NULL if the member is not counted. */
static uint64_t *counter_of(struct backup_verify *out, const struct backup_reader *r)
{
    const struct {
        struct str name;
        uint64_t *count;
    } lists[] = {{STR("jobs"), &out->jobs},
                 {STR("queues"), &out->queues},
                 {STR("schedules"), &out->schedules},
                 {STR("batches"), &out->batches}};
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        if (backup_reader_is_key(r, lists[i].name)) {
            return lists[i].count;
        }
    }
    return NULL;
}

static enum err_code read_member(struct backup_verify *v, const struct backup_reader *r,
                                 struct err *err)
{
    struct json_value value = backup_reader_value(r);
    if (counter_of(v, r) != NULL) {
        return err_set(err, ERR_VALIDATION, STR_FMT " is not an array", STR_ARG(buf_str(&r->key)));
    }
    if (backup_reader_is_key(r, STR("meta"))) {
        return read_meta(value, r->crc, v, err);
    }
    if (!backup_reader_is_key(r, STR("namespace")) || value.type == JSON_TYPE_NULL) {
        return ERR_OK;
    }
    if (value.type != JSON_TYPE_STRING) {
        return err_set(err, ERR_VALIDATION, "namespace is not a string");
    }
    struct str ns = str_at_most(str_from(value.text.ptr + 1, value.text.len - 2), sizeof v->ns);
    v->ns_len = ns.len;
    if (ns.len > 0) {
        memcpy(v->ns, ns.ptr, ns.len);
    }
    return ERR_OK;
}

void backup_verify_begin(struct backup_verify *v)
{
    *v = (struct backup_verify){.format = 1};
}

enum err_code backup_verify_event(struct backup_verify *v, const struct backup_reader *r,
                                  enum backup_reader_event event, struct err *err)
{
    switch (event) {
    case BACKUP_READER_MEMBER:
        return read_member(v, r, err);
    case BACKUP_READER_LIST:
        v->counter = counter_of(v, r);
        if (v->counter != NULL) {
            *v->counter = 0; /* if repeated, the last one counts */
            v->has_jobs = v->has_jobs || v->counter == &v->jobs;
        } else if (backup_reader_is_key(r, STR("meta"))) {
            return err_set(err, ERR_VALIDATION, "meta is not an object");
        } else if (backup_reader_is_key(r, STR("namespace"))) {
            return err_set(err, ERR_VALIDATION, "namespace is not a string");
        }
        return ERR_OK;
    case BACKUP_READER_ELEMENT:
        if (v->counter != NULL) {
            ++*v->counter;
        }
        return ERR_OK;
    case BACKUP_READER_ERROR:
        return err->code;
    case BACKUP_READER_MORE:
    case BACKUP_READER_LIST_END:
        break;
    }
    return ERR_OK;
}

enum err_code backup_verify_end(const struct backup_verify *v, const struct backup_reader *r,
                                struct err *err)
{
    if (backup_reader_finish(r, err) != ERR_OK) {
        return err->code;
    }
    return v->has_jobs ? ERR_OK : err_set(err, ERR_VALIDATION, "jobs is required");
}

enum err_code backup_verify_text(struct str text, struct backup_verify *out, struct err *err)
{
    struct backup_reader r;
    enum backup_reader_event event;
    enum err_code code = ERR_OK;
    backup_reader_init(&r, BACKUP_VERIFY_TEXT_BYTES);
    backup_verify_begin(out);
    do {
        event = backup_reader_next(&r, &text, err);
        code = backup_verify_event(out, &r, event, err);
    } while (code == ERR_OK && event != BACKUP_READER_MORE);
    if (code == ERR_OK) {
        code = backup_verify_end(out, &r, err);
    }
    backup_reader_deinit(&r);
    return code;
}
