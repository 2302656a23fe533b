/*
 * The access table: it reflects its records in whatever order they arrive, and a key uses little
 * memory.
 */
#include "auth/auth_table.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "auth/auth.h"
#include "auth/auth_sso.h"
#include "base/buf.h"
#include "lib/expect.h"
#include "lib/test.h"

static void put(struct auth_table *t, char kind, struct str name, const struct buf *body)
{
    struct buf key;
    struct buf value;
    buf_init(&key, 4096);
    buf_init(&value, 1 << 16);
    buf_add_char(&key, kind);
    buf_add_str(&key, name);
    if (body != NULL) {
        struct store_access_frame frame = {.created_at = {.ns = 1}, .body = buf_str(body)};
        store_access_encode_frame(&frame, &value);
    }
    auth_table_change(t, buf_str(&key), buf_str(&value));
    buf_deinit(&key);
    buf_deinit(&value);
}

/* Reload the table without any records. */
static void reload(struct auth_table *t)
{
    auth_table_change(t, STR_EMPTY, STR_EMPTY);
    auth_table_change(t, STR_EMPTY, STR_EMPTY);
}

static void hash_of(unsigned n, uint8_t out[AUTH_HASH_BYTES])
{
    auth_hash(str_from(&n, sizeof n), out);
}

static void put_key(struct auth_table *t, unsigned n, const struct store_key *key)
{
    uint8_t hash[AUTH_HASH_BYTES];
    struct buf body;
    buf_init(&body, 4096);
    store_access_encode_key(key, &body);
    hash_of(n, hash);
    put(t, STORE_ACCESS_KEY, str_from(hash, sizeof hash), &body);
    buf_deinit(&body);
}

static void drop_key(struct auth_table *t, unsigned n)
{
    uint8_t hash[AUTH_HASH_BYTES];
    hash_of(n, hash);
    put(t, STORE_ACCESS_KEY, str_from(hash, sizeof hash), NULL);
}

/* Memory of the last result, valid until the next call of the thread. */
static _Thread_local struct arena *answers;

static bool has_key(struct auth_table *t, unsigned n, struct auth_key *out)
{
    uint8_t hash[AUTH_HASH_BYTES];
    hash_of(n, hash);
    if (answers == NULL) {
        answers = arena_new(1 << 16);
    }
    arena_reset(answers);
    return auth_table_key(t, hash, (struct wall){0}, answers, out);
}

static int free_answers(void **state)
{
    (void)state;
    arena_freep(&answers);
    return 0;
}

static const struct store_key plain = {.name = {"k", 1},
                                       .ns = {"acme", 4},
                                       .role = {"worker", 6},
                                       .scope = {"emails", 6},
                                       .expires_at = {.ns = 7},
                                       .enabled = true};

static void key__is_found_as_it_was_put(void **state)
{
    struct auth_table *t = auth_table_new();
    struct auth_key key;
    struct store_key off = plain;
    (void)state;
    assert_false(auth_table_has_keys(t));
    assert_false(has_key(t, 1, &key));
    put_key(t, 1, &plain);
    assert_true(auth_table_has_keys(t));
    assert_true(has_key(t, 1, &key));
    expect_str(key.ns, STR("acme"));
    expect_str(key.role, STR("worker"));
    expect_str(key.scope, STR("emails"));
    assert_int_equal(key.expires_at.ns, 7);
    assert_true(key.enabled);
    assert_false(has_key(t, 2, &key));
    off.enabled = false;
    put_key(t, 1, &off);
    assert_true(has_key(t, 1, &key));
    assert_false(key.enabled);
    assert_false(auth_table_has_keys(t));
    drop_key(t, 1);
    drop_key(t, 1);
    assert_false(has_key(t, 1, &key));
    auth_table_free(t);
}

/* Removing from an open-addressing table moves other keys. None may get lost. */
static void keys__are_found_while_others_go(void **state)
{
    enum { MANY = 5000 };
    struct auth_table *t = auth_table_new();
    struct auth_key key;
    (void)state;
    for (unsigned i = 0; i < MANY; i++) {
        put_key(t, i, &plain);
    }
    for (unsigned i = 0; i < MANY; i += 3) {
        drop_key(t, i);
    }
    for (unsigned i = 0; i < MANY; i++) {
        assert_int_equal(has_key(t, i, &key), i % 3 != 0);
    }
    for (unsigned i = 0; i < MANY; i += 3) {
        put_key(t, i, &plain);
    }
    for (unsigned i = 0; i < MANY; i++) {
        assert_true(has_key(t, i, &key));
    }
    assert_int_equal(auth_table_key_count(t), MANY);
    reload(t);
    assert_int_equal(auth_table_key_count(t), 0);
    assert_false(auth_table_has_keys(t));
    auth_table_free(t);
}

/* While a checkpoint replaces the state and the keys are read again, nobody gets access without a
 * key. */
static void table__stays_closed_while_it_is_read_anew(void **state)
{
    struct auth_table *t = auth_table_new();
    (void)state;
    auth_table_change(t, STR_EMPTY, STR_EMPTY);
    assert_false(auth_table_is_closed(t)); /* it was never closed */
    auth_table_change(t, STR_EMPTY, STR_EMPTY);
    put_key(t, 1, &plain);
    assert_true(auth_table_is_closed(t));
    auth_table_change(t, STR_EMPTY, STR_EMPTY);
    assert_true(auth_table_is_closed(t));
    auth_table_change(t, STR_EMPTY, STR_EMPTY);
    assert_false(auth_table_is_closed(t)); /* the new state has no keys */
    auth_table_free(t);
}

static void keys__cost_less_than_a_hundred_bytes(void **state)
{
    enum { MANY = 100000 };
    struct auth_table *t = auth_table_new();
    (void)state;
    for (unsigned i = 0; i < MANY; i++) {
        put_key(t, i, &plain);
        if (i > 1000 && i % 1000 == 0) {
            assert_true(auth_table_key_bytes(t) <= (size_t)100 * i);
        }
    }
    assert_true(auth_table_key_bytes(t) <= (size_t)100 * MANY);
    auth_table_free(t);
}

static void assign(struct auth_table *t, unsigned n, struct str role, bool on)
{
    uint8_t hash[AUTH_HASH_BYTES];
    struct buf name;
    struct buf nothing;
    hash_of(n, hash);
    buf_init(&name, 4096);
    buf_init(&nothing, 16);
    buf_add(&name, hash, sizeof hash);
    buf_add_str(&name, role);
    put(t, STORE_ACCESS_ASSIGNMENT, buf_str(&name), on ? &nothing : NULL);
    buf_deinit(&name);
}

/* Keys are created and deleted for a long time, each with different texts, and with roles that are
 * removed before or after it. Memory must not grow beyond what exists at one time. */
static void keys__that_are_gone_leave_no_texts(void **state)
{
    enum { MANY = 100000, ALIVE = 10 };
    struct auth_table *t = auth_table_new();
    size_t bytes = 0;
    (void)state;
    for (unsigned i = 0; i < MANY + ALIVE; i++) {
        char name[32];
        struct str text = str_from(name, (size_t)snprintf(name, sizeof name, "t%u", i));
        if (i < MANY) {
            put_key(t, i,
                    &(struct store_key){
                        .ns = text, .role = plain.role, .scope = text, .enabled = true});
            assign(t, i, text, true);
            put_key(t, i, &plain); /* changed and changed back */
            put_key(t, i, &(struct store_key){.ns = text, .role = plain.role, .scope = STR("q")});
        }
        if (i >= ALIVE) {
            struct str old = str_from(name, (size_t)snprintf(name, sizeof name, "t%u", i - ALIVE));
            if (i % 2 == 0) {
                drop_key(t, i - ALIVE);
            }
            assign(t, i - ALIVE, old, false);
            drop_key(t, i - ALIVE);
        }
        if (i == 2 * ALIVE) {
            bytes = auth_table_key_bytes(t);
        }
        assert_true(auth_table_text_count(t) <= 3 * ALIVE + 5);
        assert_true(bytes == 0 || auth_table_key_bytes(t) == bytes);
    }
    assert_int_equal(auth_table_key_count(t), 0);
    assert_int_equal(auth_table_text_count(t), 0);
    put_key(t, 1, &plain);
    reload(t);
    assert_int_equal(auth_table_text_count(t), 0);
    auth_table_free(t);
}

static void put_role(struct auth_table *t, struct str name, struct str resource, struct str action)
{
    struct store_permission p = {.resource = resource, .actions = {action}, .action_count = 1};
    struct buf permissions;
    struct buf body;
    buf_init(&permissions, 4096);
    buf_init(&body, 4096);
    store_access_add_permission(&p, &permissions);
    store_access_encode_role(
        &(struct store_role){.name = name, .permissions = buf_str(&permissions)}, &body);
    put(t, STORE_ACCESS_ROLE, name, &body);
    buf_deinit(&permissions);
    buf_deinit(&body);
}

/* Roles may arrive before their key, and remain when the key is put again. */
static void roles__belong_to_the_hash(void **state)
{
    struct auth_table *t = auth_table_new();
    struct auth_key key;
    (void)state;
    assign(t, 1, STR("viewer"), true);
    assert_false(has_key(t, 1, &key));
    put_key(t, 1, &plain);
    assign(t, 1, STR("pauser"), true);
    assign(t, 1, STR("pauser"), true);
    put_key(t, 1, &plain);
    assert_true(has_key(t, 1, &key));
    expect_str(key.roles, STR("viewer\npauser\n"));
    assert_false(auth_table_grants(t, key.roles, STR("queues"), STR("read")));
    put_role(t, STR("viewer"), STR("queues"), STR("read"));
    assert_true(auth_table_grants(t, key.roles, STR("queues"), STR("read")));
    assert_false(auth_table_grants(t, key.roles, STR("queues"), STR("pause")));
    put_role(t, STR("pauser"), STR("queues"), STR("pause"));
    assert_true(auth_table_grants(t, STR("Viewer\nPAUSER"), STR("queues"), STR("pause")));
    assign(t, 1, STR("pauser"), false);
    assert_true(has_key(t, 1, &key));
    expect_str(key.roles, STR("viewer\n"));
    put(t, STORE_ACCESS_ROLE, STR("viewer"), NULL);
    assert_false(auth_table_grants(t, key.roles, STR("queues"), STR("read")));
    auth_table_free(t);
}

static void use__is_worth_a_note_once_a_minute(void **state)
{
    struct auth_table *t = auth_table_new();
    uint8_t hash[AUTH_HASH_BYTES];
    struct wall at = {.ns = 1000 * NS_PER_S};
    (void)state;
    hash_of(1, hash);
    assert_false(auth_table_used(t, hash, at));
    put_key(t, 1, &plain);
    assert_true(auth_table_used(t, hash, at));
    assert_false(auth_table_used(t, hash, wall_add_ms(at, 59000)));
    assert_true(auth_table_used(t, hash, wall_add_ms(at, 60000)));
    auth_table_free(t);
}

static void put_sso(struct auth_table *t, const struct store_sso *rec)
{
    struct buf body;
    buf_init(&body, 4096);
    if (rec != NULL) {
        store_access_encode_sso(rec, &body);
    }
    put(t, STORE_ACCESS_SSO, STR_EMPTY, rec == NULL ? NULL : &body);
    buf_deinit(&body);
}

static void sso__closes_and_follows_its_record(void **state)
{
    static const struct store_sso oidc = {
        .provider = STORE_SSO_OIDC, .issuer = {"i", 1}, .client_id = {"c", 1}};
    static const struct store_sso off = {.provider = STORE_SSO_HEADERS};
    static const struct store_sso headers = {.provider = STORE_SSO_HEADERS,
                                             .headers_enabled = true};
    struct auth_table *t = auth_table_new();
    struct store_sso found;
    uint64_t version;
    uint64_t before = auth_table_sso_version(t);
    uint8_t proof[AUTH_HASH_BYTES];
    struct buf body;
    (void)state;
    auth_sso_proof(&oidc, proof);
    buf_init(&body, 4096);
    assert_false(auth_table_is_closed(t));
    assert_false(auth_table_sso_settings(t, &body, &found, &version));
    put_sso(t, &oidc);
    assert_true(auth_table_is_closed(t));
    assert_int_equal(auth_table_sso(t), STORE_SSO_OIDC);
    assert_true(auth_table_sso_is(t, proof));
    assert_true(auth_table_sso_settings(t, &body, &found, &version));
    assert_true(version > before);
    expect_str(found.issuer, STR("i"));
    put_sso(t, &off);
    assert_false(auth_table_is_closed(t));
    assert_false(auth_table_sso_is(t, proof));
    put_sso(t, &headers);
    assert_int_equal(auth_table_sso(t), STORE_SSO_HEADERS);
    put_sso(t, NULL);
    assert_false(auth_table_is_closed(t));

    /* The configured settings apply while none are stored. */
    buf_clear(&body);
    store_access_encode_sso(&oidc, &body);
    auth_table_set_sso(t, true, buf_str(&body));
    assert_int_equal(auth_table_sso(t), STORE_SSO_OIDC);
    put_sso(t, &headers);
    assert_int_equal(auth_table_sso(t), STORE_SSO_HEADERS);
    auth_table_set_sso(t, false, buf_str(&body));
    assert_int_equal(auth_table_sso(t), STORE_SSO_NONE);

    /* Unreadable settings deny all access. */
    auth_table_set_sso(t, true, STR_EMPTY);
    buf_clear(&body);
    buf_add_char(&body, 99);
    put(t, STORE_ACCESS_SSO, STR_EMPTY, &body);
    assert_true(auth_table_is_closed(t));
    assert_false(auth_table_sso_is(t, proof));
    assert_false(auth_table_sso_settings(t, &body, &found, &version));
    buf_deinit(&body);
    auth_table_free(t);
}

static void session__by_sso_knows_who_it_is_of(void **state)
{
    struct auth_table *t = auth_table_new();
    struct arena *arena = arena_new(4096);
    uint8_t hash[AUTH_HASH_BYTES];
    struct auth_session s;
    struct buf body;
    (void)state;
    hash_of(1, hash);
    buf_init(&body, 4096);
    struct store_session rec = {.how = STORE_SESSION_SSO,
                                .proof = str_from(hash, sizeof hash),
                                .name = STR("alice"),
                                .ns = STR("acme"),
                                .role = STR("worker"),
                                .roles = STR("a\nb"),
                                .expires_at = {.ns = 5}};
    store_access_encode_session(&rec, &body);
    put(t, STORE_ACCESS_SESSION, str_from(hash, sizeof hash), &body);
    assert_true(auth_table_session(t, hash, arena, &s));
    put(t, STORE_ACCESS_SESSION, str_from(hash, sizeof hash), NULL);
    expect_str(s.name, STR("alice")); /* copies, valid after the record is removed */
    expect_str(s.ns, STR("acme"));
    expect_str(s.role, STR("worker"));
    expect_str(s.roles, STR("a\nb"));
    buf_deinit(&body);
    arena_free(arena);
    auth_table_free(t);
}

static void session__ends_when_it_is_deleted(void **state)
{
    struct auth_table *t = auth_table_new();
    uint8_t hash[AUTH_HASH_BYTES];
    struct auth_session s;
    struct arena *arena = arena_new(4096);
    struct buf body;
    (void)state;
    hash_of(1, hash);
    buf_init(&body, 4096);
    struct store_session rec = {
        .how = STORE_SESSION_KEY, .proof = str_from(hash, sizeof hash), .expires_at = {.ns = 5}};
    store_access_encode_session(&rec, &body);
    put(t, STORE_ACCESS_SESSION, str_from(hash, sizeof hash), &body);
    assert_true(auth_table_session(t, hash, arena, &s));
    assert_int_equal(s.expires_at.ns, 5);
    assert_memory_equal(s.proof, hash, sizeof hash);
    put(t, STORE_ACCESS_SESSION, str_from(hash, sizeof hash), NULL);
    assert_false(auth_table_session(t, hash, arena, &s));
    buf_deinit(&body);
    arena_free(arena);
    auth_table_free(t);
}

struct asking {
    struct auth_table *table;
    atomic_bool stop;
    atomic_uint asked;
};

static void *ask(void *data)
{
    struct asking *a = data;
    while (!atomic_load(&a->stop)) {
        struct auth_key key;
        if (has_key(a->table, 1, &key)) {
            expect_str(key.ns, STR("acme"));
        }
        atomic_fetch_add(&a->asked, 1);
    }
    arena_freep(&answers);
    return NULL;
}

static void table__may_be_asked_while_it_changes(void **state)
{
    struct asking a = {.table = auth_table_new()};
    pthread_t thread;
    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, ask, &a), 0);
    for (unsigned i = 0; i < 3000 || atomic_load(&a.asked) < 1000; i++) {
        put_key(a.table, i % 100, &plain);
        drop_key(a.table, i % 37);
    }
    atomic_store(&a.stop, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    auth_table_free(a.table);
}

static void version__is_another_with_every_change(void **state)
{
    struct auth_table *t = auth_table_new();
    struct auth_key key;
    (void)state;
    uint64_t before = auth_table_version(t);
    assert_int_not_equal(before, 0);
    put_key(t, 1, &plain);
    assert_true(has_key(t, 1, &key));
    assert_true(auth_table_version(t) > before);
    before = auth_table_version(t);
    assert_true(has_key(t, 1, &key)); /* reading changes nothing */
    assert_int_equal(auth_table_version(t), before);
    drop_key(t, 1);
    assert_true(auth_table_version(t) > before);
    before = auth_table_version(t);
    reload(t);
    assert_true(auth_table_version(t) > before);
    before = auth_table_version(t);
    auth_table_set_sso(t, false, STR_EMPTY);
    assert_true(auth_table_version(t) > before);
    auth_table_free(t);
}

#define TEST(name) cmocka_unit_test_teardown(name, free_answers)

TEST_GROUP(auth_table, TEST(key__is_found_as_it_was_put),
           TEST(table__stays_closed_while_it_is_read_anew), TEST(keys__are_found_while_others_go),
           TEST(keys__cost_less_than_a_hundred_bytes), TEST(keys__that_are_gone_leave_no_texts),
           TEST(roles__belong_to_the_hash), TEST(use__is_worth_a_note_once_a_minute),
           TEST(session__ends_when_it_is_deleted), TEST(session__by_sso_knows_who_it_is_of),
           TEST(sso__closes_and_follows_its_record), TEST(table__may_be_asked_while_it_changes),
           TEST(version__is_another_with_every_change));
