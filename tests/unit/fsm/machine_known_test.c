/*
 * Entries and states that this program cannot read are detected before the machine reads them. The
 * kit checks at the end of every test file that everything written by the machine can be read.
 */
#include "fsm/machine_known.h"

#include "base/pack.h"
#include "fsm/command/command_entry.h"
#include "lib/machine_kit.h"

/* An entry of one command, which tests modify. */
struct made {
    struct buf bytes;
    struct arena *arena;
};

static void make(struct made *m, struct str command, bool named)
{
    buf_init(&m->bytes, 1 << 20);
    m->arena = arena_new(1 << 20);
    if (named) {
        command_entry_begin(&m->bytes, COMMAND_ENTRY_NAMED, (struct wall){.ns = 5}, true);
        command_entry_add_named(&m->bytes, command, (struct id){.b = {7}}, 3);
    } else {
        command_entry_begin(&m->bytes, COMMAND_ENTRY_VERSION, (struct wall){.ns = 5}, true);
        command_entry_add(&m->bytes, command);
    }
    command_entry_end(&m->bytes, 1);
}

static void expect_unknown(struct made *m, const char *part)
{
    struct err err;
    assert_int_equal(machine_known_entry(buf_str(&m->bytes), m->arena, &err), ERR_CORRUPT);
    assert_non_null(strstr(err.msg, part));
}

static void done(struct made *m)
{
    buf_deinit(&m->bytes);
    arena_free(m->arena);
}

static void entry__of_another_version_is_told(void **state)
{
    (void)state;
    struct err err;
    struct buf command;
    struct command c = {.type = COMMAND_PURGE, .purge.retention_ms = 1000};
    buf_init(&command, 1 << 16);
    command_encode(&c, &command);
    for (unsigned named = 0; named < 2; named++) {
        struct made m;
        make(&m, buf_str(&command), named == 1);
        assert_int_equal(machine_known_entry(buf_str(&m.bytes), m.arena, &err), ERR_OK);
        m.bytes.ptr[0] = COMMAND_ENTRY_NAMED + 1;
        expect_unknown(&m, "unknown version");
        done(&m);
    }
    buf_deinit(&command);
}

static void command__that_is_newer_is_told(void **state)
{
    (void)state;
    struct buf command;
    struct command c = {.type = COMMAND_PURGE, .purge.retention_ms = 1000};
    struct made m;
    buf_init(&command, 1 << 16);
    command_encode(&c, &command);
    /* version, type and content */
    for (size_t at = 0; at < 2; at++) {
        char kept = command.ptr[at];
        command.ptr[at] = (char)250;
        make(&m, buf_str(&command), true);
        expect_unknown(&m, "");
        done(&m);
        command.ptr[at] = kept;
    }
    make(&m, str_from(command.ptr, command.len - 1), true);
    expect_unknown(&m, "");
    done(&m);
    buf_deinit(&command);
}

/* Test a state with one record or job of a different version. */
static void state_with(struct kit *k, unsigned family, struct str key, struct str value,
                       const char *part)
{
    struct os_file_path path = tmpdir_path(&k->dir, "foreign");
    struct store s;
    struct err err;
    assert_int_equal(store_open(&s, path.z, &err), ERR_OK);
    store_commit(&s);
    store_close(&s);
    assert_int_equal(machine_known_state(path.z, &err), ERR_OK);
    assert_int_equal(store_open(&s, path.z, &err), ERR_OK);
    kv_put(s.batch, family, key, value);
    assert_int_equal(kv_commit(s.kv, s.batch, &err), ERR_OK);
    store_close(&s);
    assert_int_equal(machine_known_state(path.z, &err), ERR_CORRUPT);
    assert_non_null(strstr(err.msg, part));
    os_file_discard(path.z);
}

static void state__of_a_newer_version_is_told(void **state)
{
    struct kit *k = *state;
    static const char job[ID_BYTES] = {1};
    state_with(k, STORE_META, STR("A"), STR("\x09 and more"), "the unknown version 9");
    state_with(k, STORE_META, STR("qname"), STR("\x09 and more"), "of a queue");
    state_with(k, STORE_META, STR("rname"), STR("\x09 and more"), "of a stored reply");
    state_with(k, STORE_META, STR("Zname"), STR("\x01"), "the unknown kind 90");
    state_with(k, STORE_LIVE, str_from(job, sizeof job), STR("\x09 and more"), "version");
}

static void state__that_is_none_is_told(void **state)
{
    struct kit *k = *state;
    struct os_file_path path = tmpdir_path(&k->dir, "nowhere");
    struct err err;
    uint64_t index;
    assert_int_not_equal(machine_known_state(path.z, &err), ERR_OK);
    assert_int_not_equal(machine_known_index(path.z, &index, &err), ERR_OK);
}

static void state__says_up_to_where_it_goes(void **state)
{
    struct kit *k = *state;
    struct os_file_path path = tmpdir_path(&k->dir, "checkpoint");
    struct err err;
    uint64_t index = 0;
    (void)kit_enqueue(k, kit_name(k), "{}");
    assert_int_equal(machine_checkpoint(k->machine, path.z, &err), ERR_OK);
    assert_int_equal(machine_known_index(path.z, &index, &err), ERR_OK);
    assert_true(index > 0);
    assert_int_equal(index, machine_applied_index(k->machine));
    os_file_discard(path.z);
}

TEST_GROUP_FIXTURE(machine_known, kit_setup, kit_teardown,
                   cmocka_unit_test(entry__of_another_version_is_told),
                   cmocka_unit_test(command__that_is_newer_is_told),
                   cmocka_unit_test(state__of_a_newer_version_is_told),
                   cmocka_unit_test(state__that_is_none_is_told),
                   cmocka_unit_test(state__says_up_to_where_it_goes));
