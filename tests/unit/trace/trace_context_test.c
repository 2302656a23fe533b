/*
 * The header traceparent.
 */
#include "trace/trace_context.h"

#include "lib/expect.h"
#include "lib/test.h"

#define TRACE "0af7651916cd43dd8448eb211c80319c"
#define SPAN  "b7ad6b7169203331"

static void header__is_read_by_the_rules_of_its_version(void **state)
{
    static const struct {
        const char *header;
        bool valid, sampled;
    } rows[] = {
        {"00-" TRACE "-" SPAN "-01", true, true},
        {"00-" TRACE "-" SPAN "-00", true, false},
        {"00-" TRACE "-" SPAN "-ff", true, true},
        {"00-" TRACE "-" SPAN "-02", true, false},
        {"00-" TRACE "-" SPAN "-01-", false, false},
        {"00-" TRACE "-" SPAN "-01-more", false, false},
        {"cc-" TRACE "-" SPAN "-01", true, true},
        {"cc-" TRACE "-" SPAN "-01-more", true, true},
        {"cc-" TRACE "-" SPAN "-01.more", false, false},
        {"ff-" TRACE "-" SPAN "-01", false, false},
        {"", false, false},
        {"00", false, false},
        {"00-" TRACE "-" SPAN "-0", false, false},
        {"00-" TRACE "-" SPAN, false, false},
        {"00_" TRACE "-" SPAN "-01", false, false},
        {"00-" TRACE "_" SPAN "-01", false, false},
        {"00-" TRACE "-" SPAN "_01", false, false},
        {"0x-" TRACE "-" SPAN "-01", false, false},
        {"00-" TRACE "-" SPAN "-0g", false, false},
        {"00-0AF7651916CD43DD8448EB211C80319C-" SPAN "-01", false, false},
        {"00-00000000000000000000000000000000-" SPAN "-01", false, false},
        {"00-" TRACE "-0000000000000000-01", false, false},
        {"00-" TRACE "-b7ad6b716920333g-01", false, false},
    };
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        struct trace_context c;
        ROW(rows[i].header);
        assert_int_equal(trace_context_parse(str_from_z(rows[i].header), &c), rows[i].valid);
        assert_true(!rows[i].valid || c.sampled == rows[i].sampled);
    }
}

static void header__is_written_as_it_was_read(void **state)
{
    static const char *const headers[] = {"00-" TRACE "-" SPAN "-01", "00-" TRACE "-" SPAN "-00"};
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(headers); i++) {
        char room[TRACE_PARENT_BYTES];
        struct trace_context c;
        assert_true(trace_context_parse(str_from_z(headers[i]), &c));
        expect_str(trace_context_format(&c, room), str_from_z(headers[i]));
    }
}

TEST_GROUP(trace_context, cmocka_unit_test(header__is_read_by_the_rules_of_its_version),
           cmocka_unit_test(header__is_written_as_it_was_read));
