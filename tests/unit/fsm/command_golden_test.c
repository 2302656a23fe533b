/*
 * Commands that are in the logs of earlier versions still decode to what they were
 * (tests/lib/golden.h says how files are added).
 */
#include "fsm/command.h"
#include "lib/expect.h"
#include "lib/golden.h"
#include "lib/samples.h"
#include "lib/test.h"

/* The sample as that version can say it. */
static struct command sample_of(enum command_type type, uint8_t version)
{
    struct command c = samples_command(type);
    c.version = version;
    if (version == 1 && type == COMMAND_CLAIM) {
        c.claim.ns = STR_EMPTY;
    } else if (version == 1 && type == COMMAND_HEARTBEAT) {
        c.heartbeat.ns = STR_EMPTY;
    }
    return c;
}

static void expect_decodes(enum command_type type, uint8_t version)
{
    struct command want = sample_of(type, version);
    struct arena *a = arena_new(1 << 20);
    struct command got;
    struct err err;
    struct buf present;
    struct buf file;
    char name[64];
    buf_init(&present, 1 << 20);
    command_encode(&want, &present);
    (void)snprintf(name, sizeof name, "command-%s-%u.bin", command_word(type), version);
    golden_read_present(name, &present, &file);
    assert_int_equal(command_decode(buf_str(&file), a, &got, &err), ERR_OK);
    samples_same_command(&got, &want);
    assert_int_equal(got.version, version);
    buf_deinit(&present);
    buf_deinit(&file);
    arena_free(a);
}

static void commands__decode(void **state)
{
    (void)state;
    for (unsigned type = COMMAND_ENQUEUE; type <= COMMAND_TYPE_LAST; type++) {
        unsigned newest = command_exists(type) ? command_newest((enum command_type)type) : 0;
        for (unsigned version = 1; version <= newest; version++) {
            expect_decodes((enum command_type)type, (uint8_t)version);
        }
    }
}

static void entry__decodes(void **state)
{
    (void)state;
    static const enum command_type types[] = {COMMAND_CLAIM, COMMAND_TICK, COMMAND_REPLAY};
    struct arena *a = arena_new(1 << 20);
    struct command_entry e;
    struct err err;
    struct buf present;
    struct buf file;
    buf_init(&present, 1 << 20);
    command_entry_begin(&present, (struct wall){.ns = 1700000002 * NS_PER_S + 3}, true);
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        struct command c = sample_of(types[i], 1);
        struct buf bytes;
        buf_init(&bytes, 1 << 16);
        command_encode(&c, &bytes);
        command_entry_add(&present, buf_str(&bytes));
        buf_deinit(&bytes);
    }
    command_entry_end(&present, COUNT_OF(types));
    golden_read_present("entry-1.bin", &present, &file);

    assert_int_equal(command_entry_decode(buf_str(&file), &e, &err), ERR_OK);
    assert_int_equal(e.now.ns, 1700000002 * NS_PER_S + 3);
    assert_true(e.events);
    assert_int_equal(e.count, COUNT_OF(types));
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        struct command want = sample_of(types[i], 1);
        struct command got;
        struct str bytes;
        assert_true(command_entry_next(&e, &bytes));
        assert_int_equal(command_decode(bytes, a, &got, &err), ERR_OK);
        samples_same_command(&got, &want);
    }
    buf_deinit(&present);
    buf_deinit(&file);
    arena_free(a);
}

TEST_GROUP(command_golden, cmocka_unit_test(commands__decode), cmocka_unit_test(entry__decodes));
