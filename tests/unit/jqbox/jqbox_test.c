#include "jqbox/jqbox.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "lib/expect.h"
#include "lib/test.h"
#include "os/os_clock.h"

/* A deadline that is never reached, even under a sanitizer on a busy machine. */
static int64_t soon(void)
{
    return os_clock_mono().ns + 600 * NS_PER_S;
}

static struct jqbox *open_box(const char *program)
{
    struct jqbox *b = NULL;
    struct err err = {0};
    enum err_code code = jqbox_open(str_from_z(program), soon(), &b, &err);
    if (code != ERR_OK) {
        print_message("    %s\n", err.msg);
    }
    assert_int_equal(code, ERR_OK);
    return b;
}

static bool ask_one(struct jqbox *b, const char *text)
{
    const bool *answers = NULL;
    size_t count = 0;
    struct err err;
    assert_true(jqbox_add(b, str_from_z(text)));
    assert_int_equal(jqbox_ask(b, soon(), &answers, &count, &err), ERR_OK);
    assert_int_equal(count, 1);
    return answers[0];
}

static void jqbox__matches_when_the_first_value_is_true(void **state)
{
    (void)state;
    static const struct {
        const char *program, *text;
        bool match;
    } rows[] = {
        {".a == 1 and .b == 2", "{\"a\":1,\"b\":2}", true},
        {".a == 1 and .b == 2", "{\"a\":1,\"b\":3}", false},
        {".a == 1 or .b == 2", "{\"a\":7,\"b\":2}", true},
        {".items[1].sku == \"x\"", "{\"items\":[{\"sku\":\"y\"},{\"sku\":\"x\"}]}", true},
        {".items[1].sku == \"x\"", "{\"items\":[]}", false},
        {"select(.a > 3) | true", "{\"a\":4}", true},
        {"select(.a > 3) | true", "{\"a\":3}", false}, /* no value is no match */
        {"select(.a > 3)", "{\"a\":4}", false},
        {".n = 1", "{\"n\":1}", false}, /* a mistake for == */
        {".", "true", true},
        {".a", "{\"a\":true}", true},
        {".a", "{\"a\":1}", false},
        {".a", "{\"a\":0}", false},
        {".a", "{\"a\":\"true\"}", false},
        {".a", "{\"a\":[true]}", false},
        {".a", "{\"a\":null}", false},
        {".a", "{\"a\":false}", false},
        {"true, false", "{}", true},
        {"false, true", "{}", false},
        {"error(\"no\")", "{}", false},
        {"true, error(\"no\")", "{}", true}, /* later values are not requested */
        {"error(\"no\"), true", "{}", false},
        {".a.b", "{\"a\":1}", false},
        {"any(.tags[]; . == \"x\")", "{\"tags\":[\"w\",\"x\"]}", true},
        {".name | test(\"^an+a$\")", "{\"name\":\"anna\"}", true},
        {".name | ascii_downcase == \"anna\"", "{\"name\":\"ANNA\"}", true},
        {"[.. | numbers] | add > 5", "{\"a\":[1,2,{\"b\":3}]}", true},
        {".\"ä\" == \"\\u00e4\"", "{\"ä\":\"ä\"}", true},
        {"length", "not json", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].program);
        struct jqbox *b = open_box(rows[i].program);
        assert_int_equal(ask_one(b, rows[i].text), rows[i].match);
        jqbox_close(b);
    }
}

static void jqbox__keeps_strangers_in(void **state)
{
    (void)state;
    /* Programs that access something outside: they have no effect there, and the next text is
     * answered. */
    static const struct {
        const char *program;
        bool match;
    } rows[] = {
        {"$ENV | length > 0", false},
        {"env | length > 0", false},
        {"$ENV.PATH", false},
        {"input", false},
        {"[inputs] | length > 0", false},
        {"input_filename", false},
        {"input_line_number > 0", false},
        {"halt", false},
        {"halt_error", false},
        {"\"x\" | halt_error(1)", false},
        {"debug | .a == 1", true}, /* passes the value on, without output */
        {"stderr | .a == 1", true},
        {"get_search_list | length > 0", false},
        {"now > 0", true},
        {"0 | localtime | mktime == 0", true},
        {"\"/etc/passwd\" | modulemeta", false},
        {"\"a\" | modulemeta", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].program);
        struct jqbox *b = open_box(rows[i].program);
        assert_int_equal(ask_one(b, "{\"a\":1}"), rows[i].match);
        assert_int_equal(ask_one(b, "{\"a\":1}"), rows[i].match);
        jqbox_close(b);
    }
}

static void jqbox__refuses_what_is_no_program(void **state)
{
    (void)state;
    static const char *const rows[] = {
        ".a ==",
        "nosuchfunction",
        "$nosuchvariable",
        "import \"/etc/passwd\" as a; .",
        "import \"a\" as $a; .",
        "include \"a\"; .",
        "{",
        "\"",
        "break",
        "}{",
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct jqbox *b = NULL;
        struct err err = {0};
        ROW(rows[i]);
        assert_int_equal(jqbox_open(str_from_z(rows[i]), soon(), &b, &err), ERR_VALIDATION);
        assert_null(b);
        print_message("      %s\n", err.msg);
        assert_non_null(strstr(err.msg, "unsupported payload_jq expression"));
        assert_null(strstr(err.msg, "root:"));
        assert_null(strchr(err.msg, '\n'));
    }
    struct jqbox *b = NULL;
    struct err err = {0};
    assert_int_equal(jqbox_open(STR("true\0false"), soon(), &b, &err), ERR_VALIDATION);
}

/* Under a sanitizer there is no memory limit. Programs that exceed it are then ended by the
 * deadline. */
static void jqbox__ends_programs_that_are_too_much(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "[range(1e9)]",
        "def f: f; f",
        "def f: 1 + f; f",
        "until(false; .)",
        "last(range(1e12))",
        "reduce range(1e9) as $i ([]; [.])",
        "[recurse(.)] | length",
        "\"x\" * 1e9",
        "[limit(1e9; repeat(\"x\" * 1000))]",
        "def f(g): f(g | g); f(.)",
        "(\"a\" * 40) | test(\"(a+)+$b\")",
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const bool *answers = NULL;
        size_t count = 0;
        struct err err = {0};
        ROW(rows[i]);
        struct jqbox *b = open_box(rows[i]);
        assert_true(jqbox_add(b, STR("{}")));
        enum err_code code =
            jqbox_ask(b, os_clock_mono().ns + 300 * NS_PER_MS, &answers, &count, &err);
        print_message("      %s\n", code == ERR_OK ? "an answer" : err.msg);
        assert_true(code == ERR_SEARCH || code == ERR_VALIDATION || (code == ERR_OK && count == 1));
        assert_int_equal(jqbox_fits(b, str_from_z(rows[i])), code == ERR_OK);
        jqbox_close(b);
    }
}

static void jqbox__says_that_memory_was_exceeded(void **state)
{
    (void)state;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    const bool *answers = NULL;
    size_t count = 0;
    struct err err = {0};
    struct jqbox *b = open_box("\"x\" * 1e9 | length");
    assert_true(jqbox_add(b, STR("{}")));
    assert_int_equal(jqbox_ask(b, soon(), &answers, &count, &err), ERR_VALIDATION);
    assert_non_null(strstr(err.msg, "too much memory"));
    jqbox_close(b);
#endif
}

static void jqbox__ends_a_program_that_compiles_for_too_long(void **state)
{
    (void)state;
    struct jqbox *b = NULL;
    struct err err = {0};
    assert_int_equal(jqbox_open(STR("true"), os_clock_mono().ns, &b, &err), ERR_SEARCH);
    assert_null(b);
}

static void jqbox__answers_blocks_in_order(void **state)
{
    (void)state;
    enum { TEXTS = 20000 };
    struct jqbox *b = open_box(".n % 3 == 0 and (.pad | length) > 0");
    size_t asked = 0;
    size_t answered = 0;
    while (answered < TEXTS) {
        char text[128];
        const bool *answers = NULL;
        size_t count = 0;
        struct err err = {0};
        bool room = asked < TEXTS;
        while (room && asked < TEXTS) {
            int len = snprintf(text, sizeof text, "{\"n\":%zu,\"pad\":\"%0*d\"}", asked,
                               (int)(asked % 90) + 1, 0);
            room = jqbox_add(b, str_from(text, (size_t)len));
            asked += room;
        }
        assert_int_equal(jqbox_ask(b, soon(), &answers, &count, &err), ERR_OK);
        for (size_t i = 0; i < count; i++, answered++) {
            assert_int_equal(answers[i], answered % 3 == 0);
        }
    }
    assert_int_equal(asked, answered);
    jqbox_close(b);
}

static void jqbox__takes_texts_larger_than_a_block(void **state)
{
    (void)state;
    enum { BYTES = 3 << 20 };
    const bool *answers = NULL;
    size_t count = 0;
    struct err err = {0};
    char *text = malloc(BYTES);
    assert_non_null(text);
    memset(text, 'x', BYTES);
    text[0] = '"';
    text[BYTES - 1] = '"';
    struct jqbox *b = open_box("length == 3145726");
    assert_true(jqbox_add(b, str_from(text, BYTES)));
    assert_false(jqbox_add(b, str_from(text, BYTES)));
    assert_int_equal(jqbox_ask(b, soon(), &answers, &count, &err), ERR_OK);
    assert_int_equal(count, 1);
    assert_true(answers[0]);
    assert_true(jqbox_add(b, str_from(text, BYTES)));
    jqbox_close(b); /* with an unsent block */
    free(text);
}

static void jqbox__fits_its_own_program_only(void **state)
{
    (void)state;
    struct jqbox *b = open_box("true");
    assert_true(jqbox_fits(b, STR("true")));
    assert_false(jqbox_fits(b, STR("true ")));
    assert_false(jqbox_fits(NULL, STR("true")));
    jqbox_close(b);
    jqbox_close(NULL);
}

static size_t open_descriptors(void)
{
    size_t n = 0;
    DIR *dir = opendir("/proc/self/fd");
    assert_non_null(dir);
    while (readdir(dir) != NULL) { /* NOLINT(concurrency-mt-unsafe): one thread */
        n++;
    }
    (void)closedir(dir);
    return n;
}

static void jqbox__leaves_neither_child_nor_descriptor(void **state)
{
    (void)state;
    static const char *const rows[] = {"true", ".a ==", "def f: 1 + f; f", "last(range(1e12))"};
    size_t before = open_descriptors();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct jqbox *b = NULL;
        const bool *answers = NULL;
        size_t count = 0;
        struct err err = {0};
        ROW(rows[i]);
        if (jqbox_open(str_from_z(rows[i]), soon(), &b, &err) == ERR_OK) {
            assert_true(jqbox_add(b, STR("{}")));
            (void)!jqbox_ask(b, os_clock_mono().ns + 50 * NS_PER_MS, &answers, &count, &err);
        }
        jqbox_close(b);
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
        assert_int_equal(open_descriptors(), before);
    }
}

/* A process may be started with SIGCHLD ignored. Then waitpid cannot return an exit status. */
static void jqbox__ends_its_child_while_their_ends_are_ignored(void **state)
{
    (void)state;
    void (*before)(int) = signal(SIGCHLD, SIG_IGN);
    struct jqbox *b = open_box(".a");
    assert_true(ask_one(b, "{\"a\":true}"));
    jqbox_close(b);
    (void)signal(SIGCHLD, before);
}

TEST_GROUP(jqbox, cmocka_unit_test(jqbox__matches_when_the_first_value_is_true),
           cmocka_unit_test(jqbox__keeps_strangers_in),
           cmocka_unit_test(jqbox__refuses_what_is_no_program),
           cmocka_unit_test(jqbox__ends_programs_that_are_too_much),
           cmocka_unit_test(jqbox__says_that_memory_was_exceeded),
           cmocka_unit_test(jqbox__ends_a_program_that_compiles_for_too_long),
           cmocka_unit_test(jqbox__answers_blocks_in_order),
           cmocka_unit_test(jqbox__takes_texts_larger_than_a_block),
           cmocka_unit_test(jqbox__fits_its_own_program_only),
           cmocka_unit_test(jqbox__leaves_neither_child_nor_descriptor),
           cmocka_unit_test(jqbox__ends_its_child_while_their_ends_are_ignored));
