#include "backup/backup_reader.h"

#include "base/crc32c.h"
#include "lib/expect.h"
#include "lib/test.h"

enum { TEXT_MAX = 64 };

/* List all events of a text that is read in pieces of this length, one line per event. */
static void read_all(const char *text, size_t piece, struct buf *out)
{
    static const char *const words[] = {"more", "member", "list", "element", "end", "error"};
    struct backup_reader r;
    struct err err;
    struct str rest = str_from_z(text);
    bool failed = false;
    buf_init(out, 1 << 16);
    backup_reader_init(&r, TEXT_MAX);
    while (rest.len > 0 && !failed) {
        struct str in = str_from(rest.ptr, rest.len < piece ? rest.len : piece);
        rest = str_from_offset(rest, in.len);
        enum backup_reader_event event;
        while (!failed && (event = backup_reader_next(&r, &in, &err)) != BACKUP_READER_MORE) {
            failed = event == BACKUP_READER_ERROR;
            struct str key = event == BACKUP_READER_MEMBER || event == BACKUP_READER_LIST
                                 ? buf_str(&r.key)
                                 : STR_EMPTY;
            struct str value = event == BACKUP_READER_MEMBER || event == BACKUP_READER_ELEMENT
                                   ? buf_str(&r.text)
                                   : STR_EMPTY;
            buf_printf(out, "%s " STR_FMT " " STR_FMT "\n", words[event], STR_ARG(key),
                       STR_ARG(value));
        }
    }
    if (!failed) {
        buf_printf(out, "%s\n", backup_reader_finish(&r, &err) == ERR_OK ? "whole" : "cut");
    }
    backup_reader_deinit(&r);
}

static const struct {
    const char *text, *events;
} rows[] = {
    {"{}", "whole\n"},
    {" { } \n", "whole\n"},
    {"{\"a\":1}", "member \"a\" 1\nwhole\n"},
    {"{\"a\" : \"x\\\"]}\" , \"b\":[]}", "member \"a\" \"x\\\"]}\"\nlist \"b\" \nend  \nwhole\n"},
    {"{\"l\":[1,[2,{\"x\":[3]}],\"]\",{\"k\":\"}\\\\\"} ]}",
     "list \"l\" \nelement  1\nelement  [2,{\"x\":[3]}]\nelement  \"]\"\nelement  "
     "{\"k\":\"}\\\\\"}\nend  \nwhole\n"},
    {"{\"a\":tru}", "error  \n"},
    {"{\"a\":1,}", "member \"a\" 1\nerror  \n"},
    {"{\"l\":[1,]}", "list \"l\" \nelement  1\nerror  \n"},
    {"{\"l\":[,1]}", "list \"l\" \nerror  \n"},
    {"{\"l\":[1 2]}", "list \"l\" \nelement  1\nerror  \n"},
    {"{\"l\":[}]}", "list \"l\" \nerror  \n"},
    {"{\"l\":[[1}]]}", "list \"l\" \nerror  \n"},
    {"{\"a\" 1}", "error  \n"},
    {"{a:1}", "error  \n"},
    {"{\"a\":1}}", "member \"a\" 1\nerror  \n"},
    {"{\"a\":1} x", "member \"a\" 1\nerror  \n"},
    {"{\"a\":1", "cut\n"},
    {"{\"a\":[1", "list \"a\" \ncut\n"},
    {"{\"a\":[1]", "list \"a\" \nelement  1\nend  \ncut\n"},
    {"{\"a", "cut\n"},
    {"", "cut\n"},
    {"[]", "error  \n"},
    {"\xff", "error  \n"},
    {"{\"a\":\"\xff\"}", "error  \n"},
};

static void events__do_not_depend_on_the_cuts(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        for (size_t piece = 1; piece < 12; piece++) {
            struct buf events;
            ROW(rows[i].text);
            read_all(rows[i].text, piece, &events);
            expect_str(buf_str(&events), str_from_z(rows[i].events));
            buf_deinit(&events);
        }
    }
}

static void texts__are_bounded(void **state)
{
    (void)state;
    struct backup_reader r;
    struct err err;
    backup_reader_init(&r, 4);
    struct str in = STR("{\"jobs\":[1234,\"123\"]}");
    assert_int_equal(backup_reader_next(&r, &in, &err), BACKUP_READER_LIST);
    assert_int_equal(backup_reader_next(&r, &in, &err), BACKUP_READER_ELEMENT);
    assert_int_equal(backup_reader_next(&r, &in, &err), BACKUP_READER_ERROR);
    assert_int_equal(err.code, ERR_TOO_LARGE);
    assert_non_null(strstr(err.msg, "jobs[1]"));
    backup_reader_deinit(&r);
}

static void lists__can_be_entered_where_they_begin(void **state)
{
    (void)state;
    struct str text = STR("{\"a\":1,\"jobs\":[7,8],\"z\":0}");
    struct backup_reader r;
    struct err err;
    struct str in = text;
    backup_reader_init(&r, TEXT_MAX);
    assert_int_equal(backup_reader_next(&r, &in, &err), BACKUP_READER_MEMBER);
    assert_int_equal(backup_reader_next(&r, &in, &err), BACKUP_READER_LIST);
    assert_true(backup_reader_is_key(&r, STR("jobs")));
    assert_int_equal(r.crc, crc32c_update(0, text.ptr, strlen("{\"a\":1,")));
    uint64_t at = r.at;
    backup_reader_deinit(&r);

    backup_reader_init(&r, TEXT_MAX);
    backup_reader_enter_list(&r);
    in = str_from_offset(text, at);
    assert_int_equal(backup_reader_next(&r, &in, &err), BACKUP_READER_ELEMENT);
    expect_str(buf_str(&r.text), STR("7"));
    assert_int_equal(backup_reader_next(&r, &in, &err), BACKUP_READER_ELEMENT);
    expect_str(buf_str(&r.text), STR("8"));
    assert_int_equal(backup_reader_next(&r, &in, &err), BACKUP_READER_LIST_END);
    backup_reader_deinit(&r);
}

TEST_GROUP(backup_reader, cmocka_unit_test(events__do_not_depend_on_the_cuts),
           cmocka_unit_test(texts__are_bounded),
           cmocka_unit_test(lists__can_be_entered_where_they_begin));
