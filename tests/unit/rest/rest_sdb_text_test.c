#include "lib/expect.h"
#include "lib/test.h"
#include "rest/sdb/rest_sdb_int.h"

static void sanitize__removes_internal_details(void **state)
{
    static const struct {
        const char *text, *shown;
    } rows[] = {
        {"10.0.0.1:7000", "[addr]:7000"},
        {"plain 1.2.3 words 1.2.3.4.5", "plain 1.2.3 words 1.2.3.4.5"},
        {"a 127.0.0.1 b ::1 c", "a [addr] b [addr] c"},
        {"[fe80::1]:80", "[addr]:80"},
        {"1:2:3:4:5:6:7:8", "[addr]"},
        {"at 12:34:56", "at 12:34:56"},
        {"::ffff:10.0.0.1", "[addr]"},
        {"[::ffff:10.0.0.1]:80", "[addr]:80"},
        {"http://[::ffff:127.0.0.1]:80/x", "http://[addr]:80/x"},
        {"::10.0.0.1, ::ffff:0:10.0.0.1.", "[addr], [addr]."},
        {"64:ff9b::10.0.0.1 64:ff9b::a00:1", "[addr] [addr]"},
        {"0:0:0:0:0:ffff:10.0.0.1", "[addr]"},
        {"fe80::1%eth0 [fe80::1%eth0]:80", "[addr] [addr]:80"},
        {"fe80::10.0.0.1%eth0", "[addr]"},
        {"12:34:56:10.0.0.1", "12:34:56:[addr]"},
        {"::", "[addr]"},
        {":: x", "[addr] x"},
        {"[::", "[[addr]"},
        {"::%", "[addr]"},
        {"/var/lib/x.db /var/lib/x.txt", "[path] /var/lib/x.txt"},
        {"raft: peer node-2 is gone", "[raft error]"},
        {"scheduled-db-0.scheduled-db.ns.svc.cluster.local", "[service]-0.[service].ns"},
    };
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        struct buf b;
        ROW(rows[i].text);
        buf_init(&b, 1024);
        rest_sdb_text__sanitize(str_from_z(rows[i].text), &b);
        expect_str(buf_str(&b), str_from_z(rows[i].shown));
        buf_deinit(&b);
    }
}

TEST_GROUP(rest_sdb_text, cmocka_unit_test(sanitize__removes_internal_details));
