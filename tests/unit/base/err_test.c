#include "base/err.h"

#include <errno.h>
#include <string.h>

#include "lib/test.h"

static void set__fills_and_returns_the_code(void **state)
{
    (void)state;
    struct err err = {.sys = 7};
    assert_int_equal(err_set(&err, ERR_CONFLICT, "queue '%s' exists", "mail"), ERR_CONFLICT);
    assert_int_equal(err.code, ERR_CONFLICT);
    assert_int_equal(err.sys, 0);
    assert_string_equal(err.msg, "queue 'mail' exists");
    assert_int_equal(err_set_default(&err, ERR_OVERLOADED), ERR_OVERLOADED);
    assert_string_equal(err.msg, "the write pipeline is full");
}

static void wrap__puts_the_context_in_front(void **state)
{
    (void)state;
    struct err err;
    (void)err_set(&err, ERR_IO, "disk is full");
    assert_int_equal(err_wrap(&err, "open %s", "view"), ERR_IO);
    assert_string_equal(err.msg, "open view: disk is full");
    assert_int_equal(err.code, ERR_IO);
}

static void message__is_cut_and_always_ends(void **state)
{
    (void)state;
    char long_text[1001];
    struct err err;
    memset(long_text, 'x', 1000);
    long_text[1000] = '\0';
    (void)err_set(&err, ERR_IO, "%s", long_text);
    assert_int_equal(strlen(err.msg), sizeof err.msg - 1);
    (void)err_wrap(&err, "in front");
    assert_int_equal(strlen(err.msg), sizeof err.msg - 1);
    assert_memory_equal(err.msg, "in front: xxx", 13);
    (void)err_wrap(&err, "%s", long_text);
    assert_int_equal(strlen(err.msg), sizeof err.msg - 1);
}

static void from_errno__tells_a_full_disk_from_the_rest(void **state)
{
    (void)state;
    static const struct {
        int sys;
        enum err_code code;
    } rows[] = {{EIO, ERR_IO}, {ENOSPC, ERR_NO_SPACE}, {EDQUOT, ERR_NO_SPACE}, {EACCES, ERR_IO}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct err err;
        errno = rows[i].sys;
        assert_int_equal(err_from_errno(&err, "write"), rows[i].code);
        assert_int_equal(err.sys, rows[i].sys);
        assert_memory_equal(err.msg, "write: ", 7);
        assert_true(strlen(err.msg) > 7);
    }
}

static void table__has_a_status_a_word_and_a_text_for_every_code(void **state)
{
    (void)state;
    for (enum err_code code = ERR_OK; code < ERR_CODE_COUNT; code++) {
        assert_true(err_http_status(code) >= 200 && err_http_status(code) < 600);
        assert_true(strlen(err_wire(code)) > 0);
        assert_true(strlen(err_text(code)) > 0);
    }
    assert_int_equal(err_http_status(ERR_TOO_LARGE), 413);
    assert_string_equal(err_wire(ERR_TOO_LARGE), "PAYLOAD_TOO_LARGE");
    assert_int_equal(err_http_status(ERR_FIELD_TOO_LARGE), 413);
    assert_string_equal(err_wire(ERR_FIELD_TOO_LARGE), "PAYLOAD_TOO_LARGE");
}

TEST_GROUP(err, cmocka_unit_test(set__fills_and_returns_the_code),
           cmocka_unit_test(wrap__puts_the_context_in_front),
           cmocka_unit_test(message__is_cut_and_always_ends),
           cmocka_unit_test(from_errno__tells_a_full_disk_from_the_rest),
           cmocka_unit_test(table__has_a_status_a_word_and_a_text_for_every_code));
