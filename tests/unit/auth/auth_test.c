/*
 * Access decisions: what a role may do, by built-in rules and by custom roles (http-api.md 3.2,
 * 3.6).
 */
#include "auth/auth.h"

#include <limits.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crypto/crypto.h"
#include "lib/expect.h"
#include "lib/test.h"

static void role__is_known_in_any_case(void **state)
{
    (void)state;
    assert_int_equal(auth_role(STR("admin")), ROLE_ADMIN);
    assert_int_equal(auth_role(STR(" OPERATOR ")), ROLE_OPERATOR);
    assert_int_equal(auth_role(STR("worker")), ROLE_WORKER);
    assert_int_equal(auth_role(STR("readonly")), ROLE_READONLY);
    assert_int_equal(auth_role(STR("")), 0);
    assert_int_equal(auth_role(STR("admins")), 0);
    assert_int_equal(auth_role(STR("adm")), 0);
}

static void rule__is_made_of_method_and_pattern(void **state)
{
    static const struct {
        const char *method, *pattern, *resource, *action;
    } rows[] = {
        {"GET", "/api/v1/queues", "queues", "read"},
        {"POST", "/api/v1/queues/{name}/pause", "queues", "pause"},
        {"POST", "/api/v1/queues/{name}/throttle", "queues", "write"},
        {"DELETE", "/api/v1/queues/{name}/throttle", "queues", "delete"},
        {"POST", "/api/v1/enqueue", "enqueue", "write"},
        {"POST", "/api/v1/enqueue/batch", "enqueue", "write"},
        {"POST", "/api/v1/jobs/{id}/retry", "jobs", "retry"},
        {"PUT", "/api/v1/org", "org", "write"},
        {"POST", "/api/v1/retry", "retry", "write"},
        {"POST", "/jobs/{id}/cancel", "jobs", "cancel"},
        {"GET", "/jobs", "jobs", "read"},
    };
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        struct auth_rule r =
            auth_rule_of_route(0, str_from_z(rows[i].method), str_from_z(rows[i].pattern));
        ROW(rows[i].pattern);
        expect_str(r.resource, str_from_z(rows[i].resource));
        expect_str(r.action, str_from_z(rows[i].action));
    }
}

static void permission__grants_as_written(void **state)
{
    static const struct {
        const char *resource, *action; /* of the permission */
        const char *asked, *for_what;
        bool granted;
    } rows[] = {
        {"*", "*", "queues", "read", true},
        {"queues", "read", "queues", "read", true},
        {"Queues", "READ", "queues", "read", true},
        {"queues", "read", "queues", "write", false},
        {"queues", "write", "queues", "pause", true},
        {"queues", "write", "queues", "delete", true},
        {"queues", "write", "queues", "read", false},
        {"queues", "pause", "queues", "resume", false},
        {"queues/*", "read", "queues", "read", true},
        {"que*", "read", "queues", "read", true},
        {"queue", "read", "queues", "read", false},
        {"queues2", "read", "queues", "read", false},
        {"", "read", "queues", "read", false},
        {"queues", "", "queues", "read", false},
    };
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        struct store_permission p = {.resource = str_from_z(rows[i].resource),
                                     .actions = {str_from_z(rows[i].action)},
                                     .action_count = 1};
        ROW(rows[i].resource);
        assert_int_equal(auth_permits(&p, str_from_z(rows[i].asked), str_from_z(rows[i].for_what)),
                         rows[i].granted);
    }
}

static void action__is_known_if_a_route_or_a_permission_has_it(void **state)
{
    static const struct {
        const char *word;
        bool known;
    } rows[] = {
        {"*", true},      {"read", true},    {"write", true},   {"delete", true},
        {"replay", true}, {" Pause ", true}, {"approve", true}, {"", false},
        {"pau", false},   {"fly", false},    {"**", false},     {"enqueue", false},
    };
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].word);
        assert_int_equal(auth_knows_action(str_from_z(rows[i].word)), rows[i].known);
    }
}

static void secret__is_long_and_never_the_same(void **state)
{
    char a[AUTH_SECRET_BYTES];
    char b[AUTH_SECRET_BYTES];
    (void)state;
    auth_new_secret(STR("sk_"), a);
    auth_new_secret(STR("sk_"), b);
    assert_memory_equal(a, "sk_", 3);
    assert_memory_not_equal(a, b, AUTH_SECRET_BYTES);
    assert_true(auth_same(str_from(a, AUTH_SECRET_BYTES), str_from(a, AUTH_SECRET_BYTES)));
    assert_false(auth_same(str_from(a, AUTH_SECRET_BYTES), str_from(b, AUTH_SECRET_BYTES)));
    assert_false(auth_same(STR("a"), STR("")));
}

static void hash__is_sha_256(void **state)
{
    static const uint8_t want[] = {0xba, 0x78, 0x16, 0xbf};
    uint8_t hash[AUTH_HASH_BYTES];
    uint8_t two[AUTH_HASH_BYTES];
    (void)state;
    auth_hash(STR("abc"), hash);
    assert_memory_equal(hash, want, sizeof want);
    auth_hash_two(STR("a"), STR("bc"), two);
    assert_memory_equal(hash, two, sizeof hash);
}

/* Secrets of all lengths that differ in one byte at any position, hashed repeatedly. */
static void hash__is_that_of_the_secret_whatever_came_before(void **state)
{
    char secret[200];
    uint8_t hash[AUTH_HASH_BYTES];
    uint8_t want[AUTH_HASH_BYTES];
    (void)state;
    memset(secret, 'x', sizeof secret);
    for (size_t i = 0; i < 4 * sizeof secret; i++) {
        size_t len = i % (sizeof secret + 1);
        size_t at = len == 0 ? 0 : i * 7 % len;
        for (unsigned again = 0; again < 3; again++) {
            secret[at] = again == 1 ? 'y' : 'x';
            auth_hash(str_from(secret, len), hash);
            auth_hash_two(str_from(secret, len), STR_EMPTY, want);
            assert_memory_equal(hash, want, sizeof hash);
        }
    }
}

/* Count the instructions of a comparison by single-stepping a child process. */
static long steps_of(bool (*same)(struct str a, struct str b), struct str a, struct str b)
{
    long steps = 0;
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
            _exit(1);
        }
        (void)raise(SIGSTOP);
        bool found = same(a, b);
        (void)raise(SIGUSR1);
        _exit(found ? 2 : 3);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSTOPPED(status));
    do {
        assert_int_equal(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSTOPPED(status));
        steps++;
    } while (WSTOPSIG(status) != SIGUSR1);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return steps;
}

/* The minimum of several counts: on a busy machine, single-stepping sometimes counts a few more
 * instructions. */
static long steps_least(bool (*same)(struct str a, struct str b), struct str a, struct str b)
{
    long least = LONG_MAX;
    for (int i = 0; i < 16; i++) {
        long steps = steps_of(same, a, b);
        least = steps < least ? steps : least;
    }
    return least;
}

static bool equal(struct str a, struct str b)
{
    return a.len == b.len && crypto_equal(a.ptr, b.ptr, a.len);
}

/* The instructions that ThreadSanitizer adds to an access depend on earlier accesses. */
#ifdef __SANITIZE_THREAD__
enum { COUNTS = false };
#else
enum { COUNTS = true };
#endif

/* A comparison takes the same time wherever a guess is wrong, so a password cannot be found letter
 * by letter. */
static void comparison__takes_as_long_wherever_they_differ(void **state)
{
    static const char password[] = "correct horse battery staple";
    struct str right = STR("correct horse battery staple");
    (void)state;
    long by_bytes = 0;
    long by_hash = 0;
    for (size_t at = 0; at < sizeof password - 1; at++) {
        char guess[sizeof password];
        memcpy(guess, password, sizeof guess);
        guess[at] ^= 1;
        struct str wrong = str_from(guess, sizeof guess - 1);
        assert_false(equal(wrong, right));
        if (!COUNTS) {
            continue;
        }
        long bytes = steps_of(equal, wrong, right);
        assert_true(bytes > (long)sizeof password / 8);
        assert_true(at == 0 || bytes == by_bytes);
        by_bytes = bytes;
        if (at % 9 == 0) { /* thousands of instructions each */
            long hash = steps_least(auth_same, wrong, right);
            assert_true(at == 0 || hash == by_hash);
            by_hash = hash;
        }
    }
    assert_true(equal(right, STR("correct horse battery staple")));
    assert_true(auth_same(right, STR("correct horse battery staple")));
}

TEST_GROUP(auth, cmocka_unit_test(role__is_known_in_any_case),
           cmocka_unit_test(rule__is_made_of_method_and_pattern),
           cmocka_unit_test(permission__grants_as_written),
           cmocka_unit_test(action__is_known_if_a_route_or_a_permission_has_it),
           cmocka_unit_test(secret__is_long_and_never_the_same), cmocka_unit_test(hash__is_sha_256),
           cmocka_unit_test(hash__is_that_of_the_secret_whatever_came_before),
           cmocka_unit_test(comparison__takes_as_long_wherever_they_differ));
