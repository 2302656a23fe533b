#include "backup/backup_verify.h"

#include "base/buf.h"
#include "base/crc32c.h"
#include "lib/expect.h"
#include "lib/test.h"

/* Make a backup with a matching checksum after this beginning. */
static void sealed(struct buf *out, const char *beginning)
{
    char checksum[BACKUP_VERIFY_CHECKSUM_BYTES];
    buf_init(out, 1 << 16);
    buf_add_str(out, str_from_z(beginning));
    backup_verify_checksum(crc32c_update(0, out->ptr, out->len), checksum);
    buf_printf(out, "\"meta\":{\"format\":2,\"checksum\":\"%.*s\"}}", (int)sizeof checksum,
               checksum);
}

static void whole__backups_fit(void **state)
{
    (void)state;
    struct backup_verify v;
    struct err err;
    struct buf text;
    sealed(&text, "{\"namespace\":\"acme\",\"jobs\":[{},{\"a\":[1,2]}],\"queues\":[{}],"
                  "\"schedules\":[],\"batches\":[{},{},{}],");
    assert_int_equal(backup_verify_text(buf_str(&text), &v, &err), ERR_OK);
    assert_int_equal(v.format, 2);
    assert_true(v.has_checksum);
    assert_true(v.checksum_fits);
    assert_int_equal(v.jobs, 2);
    assert_int_equal(v.queues, 1);
    assert_int_equal(v.schedules, 0);
    assert_int_equal(v.batches, 3);
    expect_str(backup_verify_namespace(&v), STR("acme"));
    buf_deinit(&text);
}

static void damage__is_found_wherever_it_is(void **state)
{
    (void)state;
    struct buf text;
    sealed(&text, "{\"jobs\":[\"abcdef\"],");
    size_t covered = text.len;
    while (memcmp(text.ptr + covered, "\"meta\"", 6) != 0) {
        covered--;
    }
    for (size_t i = 0; i < covered; i++) {
        struct backup_verify v;
        struct err err;
        text.ptr[i] = (char)(text.ptr[i] ^ 1);
        /* It is either not a backup, or its checksum does not match. */
        assert_true(backup_verify_text(buf_str(&text), &v, &err) != ERR_OK || !v.checksum_fits);
        text.ptr[i] = (char)(text.ptr[i] ^ 1);
    }
    for (size_t len = 0; len < text.len; len++) {
        struct backup_verify v;
        struct err err;
        assert_int_not_equal(backup_verify_text(str_from(text.ptr, len), &v, &err), ERR_OK);
    }
    buf_deinit(&text);
}

static void other__texts_say_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum err_code code;
        const char *part;
    } rows[] = {
        {"", ERR_PARSE, "invalid JSON"},
        {"{} {}", ERR_PARSE, "invalid JSON"},
        {"[]", ERR_VALIDATION, "a backup must be a JSON object"},
        {"{}", ERR_VALIDATION, "jobs is required"},
        {"{\"jobs\":{}}", ERR_VALIDATION, "\"jobs\" is not an array"},
        {"{\"jobs\":[],\"queues\":null}", ERR_VALIDATION, "\"queues\" is not an array"},
        {"{\"jobs\":[],\"meta\":[]}", ERR_VALIDATION, "meta is not an object"},
        {"{\"jobs\":[],\"namespace\":5}", ERR_VALIDATION, "namespace is not a string"},
        {"{\"jobs\":[],\"namespace\":[\"team\"]}", ERR_VALIDATION, "namespace is not a string"},
        {"{\"jobs\":[],\"meta\":{\"format\":0}}", ERR_VALIDATION, "meta.format"},
        {"{\"jobs\":[],\"meta\":{\"format\":1.5}}", ERR_VALIDATION, "meta.format"},
        {"{\"jobs\":[],\"meta\":{\"format\":3}}", ERR_VALIDATION, "meta.format is 3"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct backup_verify v;
        struct err err;
        ROW(rows[i].text);
        assert_int_equal(backup_verify_text(str_from_z(rows[i].text), &v, &err), rows[i].code);
        assert_non_null(strstr(err.msg, rows[i].part));
    }
}

static void hand_written__has_no_checksum(void **state)
{
    (void)state;
    struct backup_verify v;
    struct err err;
    assert_int_equal(backup_verify_text(STR("{\"jobs\":[]}"), &v, &err), ERR_OK);
    assert_int_equal(v.format, 1);
    assert_false(v.has_checksum);
    assert_int_equal(v.ns_len, 0);
    assert_int_equal(
        backup_verify_text(STR(" {\"jobs\":[],\"meta\":{\"format\":2,\"checksum\":\"md5:1\"}}\n"),
                           &v, &err),
        ERR_OK);
    assert_true(v.has_checksum);
    assert_false(v.checksum_fits);
}

TEST_GROUP(backup_verify, cmocka_unit_test(whole__backups_fit),
           cmocka_unit_test(damage__is_found_wherever_it_is),
           cmocka_unit_test(other__texts_say_what_is_wrong),
           cmocka_unit_test(hand_written__has_no_checksum));
