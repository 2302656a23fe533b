#include "os/os_zone.h"

#include "lib/test.h"

static void read__gives_the_file_of_a_zone(void **state)
{
    (void)state;
    static const char *const rows[] = {"UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires",
                                       "Etc/GMT+5"};
    struct err err;
    struct buf b;
    buf_init(&b, 1 << 20);
    if (os_zone_read(STR("UTC"), &b, &err) != ERR_OK) {
        skip(); /* the machine has no zone files */
    }
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i]);
        buf_clear(&b);
        assert_int_equal(os_zone_read(str_from_z(rows[i]), &b, &err), ERR_OK);
        assert_true(str_starts_with(buf_str(&b), STR("TZif")));
    }
    buf_deinit(&b);
}

static void read__leads_nowhere_but_into_the_zone_folder(void **state)
{
    (void)state;
    static const struct str rows[] = {
        {"", 0},
        {NULL, 0},
        {"/etc/passwd", 11},
        {"../../../etc/passwd", 19},
        {"Europe/../../../../etc/passwd", 29},
        {"Europe//Berlin", 14},
        {"Europe/", 7},
        {"Europe", 6},
        {"Europe/Atlantis", 15},
        {"Europe/Berlin/Mitte", 19},
        {"Europe/.hidden", 14},
        {"Europe/Berlin\0", 14},
        {"Europe\\Berlin", 13},
        {"europe/berlin", 13},
        {"localtime", 9},
        {"posix/Europe/Berlin", 19},
        {"zone.tab", 8},
        {"A/A/A/A/A/A/A/A/A/A/A/A/A/A/A/A/A/A/A/A/A/A/A/A/A/A/A/A/A/A/A/A/A", 65},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].len == 0 ? "" : rows[i].ptr);
        struct err err;
        struct buf b;
        buf_init(&b, 1 << 20);
        assert_int_equal(os_zone_read(rows[i], &b, &err), ERR_VALIDATION);
        assert_non_null(strstr(err.msg, "is not known"));
        assert_int_equal(b.len, 0);
        buf_deinit(&b);
    }
}

static void read__keeps_to_the_limit(void **state)
{
    (void)state;
    struct err err;
    struct buf b;
    buf_init(&b, 10);
    if (os_zone_read(STR("UTC"), &b, &err) == ERR_VALIDATION) {
        skip();
    }
    assert_int_equal(err.code, ERR_TOO_LARGE);
    buf_deinit(&b);
}

TEST_GROUP(os_zone, cmocka_unit_test(read__gives_the_file_of_a_zone),
           cmocka_unit_test(read__leads_nowhere_but_into_the_zone_folder),
           cmocka_unit_test(read__keeps_to_the_limit));
