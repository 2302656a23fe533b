#include "ui/ui.h"

#include "lib/expect.h"
#include "lib/test.h"

static void ui__finds_the_index_for_its_own_pages(void **state)
{
    static const char *const paths[] = {
        "",  "index.html", "queues", "jobs/job_1", "a/b/c/d", "assets", "assets/none.js",
        "…", ".hidden",    "a..b",   "...",        "q/A\\b"};
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(paths); i++) {
        ROW(paths[i]);
        const struct ui_asset *a = ui_find(str_from_z(paths[i]));
        assert_non_null(a);
        expect_str(a->path, STR("index.html"));
        expect_str(a->type, STR("text/html; charset=utf-8"));
        assert_true(a->plain.len > 0);
        assert_false(ui_is_immutable(a));
    }
}

static void ui__refuses_paths_that_lead_elsewhere(void **state)
{
    static const struct str paths[] = {
        STR(".."),    STR("."),        STR("../x"), STR("a/../b"), STR("a/.."), STR("a/./b"),
        STR("..\\x"), STR("a\\..\\b"), STR("a\nb"), STR("a\0b"),   STR("\177"), STR("/.."),
    };
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(paths); i++) {
        ROW(paths[i].ptr);
        assert_null(ui_find(paths[i]));
    }
}

/* An asset with all forms. The content of each form is its name. */
static const struct ui_asset asset = {
    .path = {"assets/a.js", 11},
    .etag = {"W/\"abc\"", 7},
    .plain = {"plain", 5},
    .gzip = {"gzip", 4},
    .brotli = {"br", 2},
};

static void ui__sends_the_smallest_form_that_is_accepted(void **state)
{
    static const struct {
        const char *accept, *form;
    } rows[] = {
        {"", "plain"},
        {"identity", "plain"},
        {"gzip", "gzip"},
        {"GZIP", "gzip"},
        {"gzip, deflate, br", "br"},
        {"br;q=0.1, gzip;q=1.0", "br"},
        {"br;q=0, gzip", "gzip"},
        {"br; q=0.000 , gzip;q=0.0", "plain"},
        {"br;q=0.001", "br"},
        {"*", "br"},
        {"*;q=0", "plain"},
        {"br;q=0, *", "gzip"},
        {"gzip;level=9;q=0", "plain"},
        {"brotli", "plain"},
        {",,;;,", "plain"},
        {"gzip;q", "plain"},
    };
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].accept);
        struct ui_body body = ui_encode(&asset, str_from_z(rows[i].accept));
        expect_str(body.bytes, str_from_z(rows[i].form));
        bool plain = str_eq(body.bytes, STR("plain"));
        expect_str(body.encoding, plain ? STR_EMPTY : body.bytes);
    }
}

static void ui__sends_what_there_is(void **state)
{
    struct ui_asset incompressible = asset;
    incompressible.brotli = incompressible.gzip = STR_EMPTY;
    (void)state;
    expect_str(ui_encode(&incompressible, STR("gzip, br")).bytes, STR("plain"));
}

static void ui__knows_a_tag_that_the_client_has(void **state)
{
    static const struct {
        const char *header;
        bool known;
    } rows[] = {
        {"", false},    {"W/\"abc\"", true}, {"\"abc\"", true},  {"\"x\", \"abc\"", true},
        {"*", true},    {"abc", false},      {"\"ABC\"", false}, {"\"abcd\"", false},
        {" , ", false},
    };
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].header);
        assert_int_equal(ui_is_known(&asset, str_from_z(rows[i].header)), rows[i].known);
    }
}

static void ui__keeps_only_what_has_a_hash_for_ever(void **state)
{
    struct ui_asset other = asset;
    (void)state;
    assert_true(ui_is_immutable(&asset));
    other.path = STR("theme.js");
    assert_false(ui_is_immutable(&other));
}

TEST_GROUP(ui, cmocka_unit_test(ui__finds_the_index_for_its_own_pages),
           cmocka_unit_test(ui__refuses_paths_that_lead_elsewhere),
           cmocka_unit_test(ui__sends_the_smallest_form_that_is_accepted),
           cmocka_unit_test(ui__sends_what_there_is),
           cmocka_unit_test(ui__knows_a_tag_that_the_client_has),
           cmocka_unit_test(ui__keeps_only_what_has_a_hash_for_ever));
