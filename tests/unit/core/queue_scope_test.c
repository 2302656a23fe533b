#include "core/queue_scope.h"

#include "lib/test.h"

static void scope__has_what_its_patterns_mean(void **state)
{
    static const struct {
        const char *scope, *name;
        bool has;
    } rows[] = {
        {"", "anything", true},
        {" , ", "anything", true},
        {"emails", "emails", true},
        {"emails", "emails.send", true},
        {"emails", "emails2", false},
        {"emails", "email", false},
        {"emails.", "emails.send", true},
        {"emails.", "emails", false},
        {"emails.*", "emails.send.now", true},
        {"emails.*", "emails", false},
        {"*.send", "emails.send", true},
        {"*.send", "emails.sends", false},
        {"e?ails", "emails", true},
        {"e?ails",
         "e\xc3\xa4"
         "ails",
         true},
        {"e?ails", "eails", false},
        {"*", "a.b.c", true},
        {"a, b", "b", true},
        {"a, b", "c", false},
        {"*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac", false},
    };
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].scope);
        assert_int_equal(queue_scope_has(str_from_z(rows[i].scope), str_from_z(rows[i].name)),
                         rows[i].has);
    }
}

TEST_GROUP(queue_scope, cmocka_unit_test(scope__has_what_its_patterns_mean));
