#include "backup/backup_verify.h"

#include "base/crc32c.h"
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

static uint64_t count_elements(struct json_value array)
{
    struct json_scan s = json_scan_from(array.text);
    struct json_value element;
    uint64_t count = 0;
    bool entered = json_scan_enter_array(&s);
    while (entered && json_scan_next_element(&s) && json_scan_value(&s, &element)) {
        count++;
    }
    return count;
}

/* Format and checksum; prefix is everything in front of the member. */
static enum err_code read_meta(struct json_value meta, struct str prefix, struct backup_verify *out,
                               struct err *err)
{
    struct json_value v;
    char checksum[BACKUP_VERIFY_CHECKSUM_BYTES];
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
        backup_verify_checksum(crc32c_update(0, prefix.ptr, prefix.len), checksum);
        out->has_checksum = true;
        out->checksum_fits = json_value_text_eq(v, str_from(checksum, sizeof checksum));
    }
    return ERR_OK;
}

/* Where a list of the backup is counted; NULL when the member is none. */
static uint64_t *counter_of(struct backup_verify *out, struct json_value key)
{
    const struct {
        struct str name;
        uint64_t *count;
    } lists[] = {{STR("jobs"), &out->jobs},
                 {STR("queues"), &out->queues},
                 {STR("schedules"), &out->schedules},
                 {STR("batches"), &out->batches}};
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        if (json_value_text_eq(key, lists[i].name)) {
            return lists[i].count;
        }
    }
    return NULL;
}

enum err_code backup_verify_text(struct str text, struct backup_verify *out, struct err *err)
{
    struct json_scan s = json_scan_from(text);
    struct json_value key;
    struct json_value value;
    bool has_jobs = false;
    *out = (struct backup_verify){.format = 1};
    if (json_scan_check(text, err) != ERR_OK) {
        return err->code;
    }
    if (!json_scan_enter_object(&s)) {
        return err_set(err, ERR_VALIDATION, "a backup is an object");
    }
    while (json_scan_next_key(&s, &key) && json_scan_value(&s, &value)) {
        uint64_t *counter = counter_of(out, key);
        if (counter != NULL && value.type != JSON_TYPE_ARRAY) {
            return err_set(err, ERR_VALIDATION, STR_FMT " is not an array", STR_ARG(key.text));
        }
        if (counter != NULL) {
            *counter = count_elements(value);
            has_jobs = has_jobs || counter == &out->jobs;
        } else if (json_value_text_eq(key, STR("namespace")) && value.type == JSON_TYPE_STRING) {
            out->ns = str_from(value.text.ptr + 1, value.text.len - 2);
        } else if (json_value_text_eq(key, STR("meta")) &&
                   read_meta(value, str_from(text.ptr, (size_t)(key.text.ptr - text.ptr)), out,
                             err) != ERR_OK) {
            return err->code;
        }
    }
    return has_jobs ? ERR_OK : err_set(err, ERR_VALIDATION, "jobs is required");
}
