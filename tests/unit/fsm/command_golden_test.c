/*
 * Commands in the logs of earlier versions still decode to their original values (see
 * tests/lib/golden.h for adding files).
 */
#include "fsm/command/command.h"
#include "lib/expect.h"
#include "lib/golden.h"
#include "lib/samples.h"
#include "lib/test.h"

/* The sample without the members that this version does not have. */
static struct command sample_of(enum command_type type, uint8_t version)
{
    struct command c = samples_command(type);
    c.version = version;
    if (version < 3 && type == COMMAND_ENQUEUE) {
        c.enqueue.body_hash = version == 1 ? 0 : c.enqueue.body_hash;
        c.enqueue.owner = (struct store_owner){0};
    } else if (version < 4 && type == COMMAND_CLAIM) {
        c.claim.ns = version == 1 ? STR_EMPTY : c.claim.ns;
        c.claim.version = version < 3 ? STR_EMPTY : c.claim.version;
        c.claim.no_hold = false;
    } else if (version < 3 && type == COMMAND_ACK) {
        c.ack.next = NULL;
        c.ack.any_cost = false;
    } else if (version < 3 && type == COMMAND_ACCESS) {
        c.access.count -= 3U - version; /* leaves out the items with a quota and a comparison */
    } else if (version < 3 && type == COMMAND_JOBS) {
        c.jobs.fit = (struct job_fit){0};
    } else if (version < 3 && type == COMMAND_BULK_PUT) {
        c.bulk_put.scope = version == 1 ? STR_EMPTY : c.bulk_put.scope;
        c.bulk_put.fit = (struct job_fit){0};
    } else if (version == 1 && type == COMMAND_HEARTBEAT) {
        c.heartbeat.ns = STR_EMPTY;
    } else if (version == 1 && type == COMMAND_REPLAY) {
        c.replay.once = (struct command_once){0};
    } else if (version == 1 && type == COMMAND_SCHEDULE_FIRE) {
        c.schedule_fire.once = (struct command_once){0};
    } else if (version < 3 && type == COMMAND_BATCH_OPEN) {
        c.batch_open.once = version == 1 ? (struct command_once){0} : c.batch_open.once;
        c.batch_open.owner = (struct store_owner){0};
    } else if (version == 2 && type == COMMAND_NAMED_PUT) {
        c.named_put.job->job.name = STR_EMPTY;
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

/* Build the entry of these commands and compare it with the file. */
static void expect_entry(const char *name, uint8_t version, const enum command_type *types,
                         uint32_t count)
{
    struct arena *a = arena_new(1 << 20);
    struct command_entry e;
    struct err err;
    struct buf present;
    struct buf file;
    buf_init(&present, 1 << 20);
    command_entry_begin(&present, version, (struct wall){.ns = 1700000002 * NS_PER_S + 3}, true);
    for (size_t i = 0; i < count; i++) {
        struct command c = sample_of(types[i], 1);
        struct buf bytes;
        buf_init(&bytes, 1 << 16);
        command_encode(&c, &bytes);
        command_entry_add(&present, buf_str(&bytes));
        buf_deinit(&bytes);
    }
    command_entry_end(&present, count);
    if (version >= COMMAND_ENTRY_WHOLE) {
        golden_read_present(name, &present, &file);
    } else {
        golden_read(name, buf_str(&present), &file);
    }

    assert_int_equal(command_entry_decode(buf_str(&file), &e, &err), ERR_OK);
    assert_int_equal(e.version, version);
    assert_int_equal(e.now.ns, 1700000002 * NS_PER_S + 3);
    assert_true(e.events);
    assert_int_equal(e.count, count);
    for (size_t i = 0; i < count; i++) {
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

/* An entry of a cluster: commands with and without names. */
static void expect_named_entry(const char *file_name, uint8_t version)
{
    static const struct id name = {.b = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
    struct command_entry e;
    struct err err;
    struct str bytes;
    struct buf present, file, command;
    struct command c = sample_of(COMMAND_REPLAY, 1);
    buf_init(&present, 1 << 16);
    buf_init(&command, 1 << 16);
    command_encode(&c, &command);
    command_entry_begin(&present, version, (struct wall){.ns = 1700000002 * NS_PER_S + 3}, false);
    command_entry_add_named(&present, buf_str(&command), name, 300);
    command_entry_add_named(&present, buf_str(&command), ID_NONE, 0);
    command_entry_end(&present, 2);
    golden_read_present(file_name, &present, &file);

    assert_int_equal(command_entry_decode(buf_str(&file), &e, &err), ERR_OK);
    assert_int_equal(e.version, version);
    assert_true(command_entry_next(&e, &bytes));
    assert_true(str_eq(bytes, buf_str(&command)));
    assert_true(id_eq(e.name, name));
    assert_int_equal(e.since, 300);
    assert_true(command_entry_next(&e, &bytes));
    assert_true(str_eq(bytes, buf_str(&command)));
    assert_true(id_is_none(e.name));
    assert_false(command_entry_next(&e, &bytes));
    buf_deinit(&present);
    buf_deinit(&file);
    buf_deinit(&command);
}

/* Items that were added to restores later: sums, and reports that are contained in sums. */
static void restored_sums__decode(void **state)
{
    (void)state;
    struct command_restore_item items[] = {
        {.kind = COMMAND_RESTORE_TALLY, .tally = {.input = 5, .cost_nusd = 7, .reports = 2}},
        {.kind = COMMAND_RESTORE_USAGE, .summed = true, .place = 1, .usage = samples_usage()},
    };
    struct command want = {.type = COMMAND_RESTORE,
                           .version = 1,
                           .restore = {.items = items, .count = COUNT_OF(items)}};
    const struct store_tally_name name = {STR("q"), STR("model"), STR("provider")};
    struct command got;
    struct err err;
    struct arena *a = arena_new(1 << 20);
    struct buf key;
    struct buf present;
    struct buf file;
    buf_init(&key, STORE_TALLY_KEY_BYTES_MAX);
    buf_init(&present, 1 << 20);
    store_tally_key(STORE_TALLY_HOURS, 472222, &name, &key);
    items[0].name = buf_str(&key);
    items[1].id = samples_id(30);
    command_encode(&want, &present);
    golden_read_present("command-restore-sums-1.bin", &present, &file);
    assert_int_equal(command_decode(buf_str(&file), a, &got, &err), ERR_OK);
    samples_same_command(&got, &want);
    /* An invalid key is refused, and so is an item other than a usage report that claims to be
     * contained in sums. */
    items[0].name = STR("h");
    buf_clear(&present);
    command_encode(&want, &present);
    assert_int_equal(command_decode(buf_str(&present), a, &got, &err), ERR_CORRUPT);
    items[0] = (struct command_restore_item){
        .kind = COMMAND_RESTORE_QUEUE, .summed = true, .name = STR("q")};
    buf_clear(&present);
    command_encode(&want, &present);
    assert_int_equal(command_decode(buf_str(&present), a, &got, &err), ERR_CORRUPT);
    buf_deinit(&key);
    buf_deinit(&present);
    buf_deinit(&file);
    arena_free(a);
}

static void entries_with_names__decode(void **state)
{
    (void)state;
    expect_named_entry("entry-4.bin", COMMAND_ENTRY_WHOLE_NAMED);
    expect_named_entry("entry-6.bin", COMMAND_ENTRY_SPLIT_NAMED);
    expect_named_entry("entry-8.bin", COMMAND_ENTRY_AGED_NAMED);
    expect_named_entry("entry-10.bin", COMMAND_ENTRY_PUT_NAMED);
    expect_named_entry("entry-12.bin", COMMAND_ENTRY_STRICT_NAMED);
    expect_named_entry("entry-14.bin", COMMAND_ENTRY_EXACT_NAMED);
    expect_named_entry("entry-16.bin", COMMAND_ENTRY_SPARING_NAMED);
    expect_named_entry("entry-18.bin", COMMAND_ENTRY_SOUND_NAMED);
}

static void entries__decode(void **state)
{
    static const enum command_type first[] = {COMMAND_CLAIM, COMMAND_TICK, COMMAND_REPLAY};
    static const enum command_type second[] = {COMMAND_TICK, COMMAND_REPLAY, COMMAND_PURGE};
    (void)state;
    expect_entry("entry-1.bin", 1, first, COUNT_OF(first));
    expect_entry("entry-2.bin", 2, second, COUNT_OF(second));
    expect_entry("entry-3.bin", 3, second, COUNT_OF(second));
    expect_entry("entry-5.bin", 5, second, COUNT_OF(second));
    expect_entry("entry-7.bin", 7, second, COUNT_OF(second));
    expect_entry("entry-9.bin", 9, second, COUNT_OF(second));
    expect_entry("entry-11.bin", 11, second, COUNT_OF(second));
    expect_entry("entry-13.bin", 13, second, COUNT_OF(second));
    expect_entry("entry-15.bin", 15, second, COUNT_OF(second));
}

TEST_GROUP(command_golden, cmocka_unit_test(commands__decode), cmocka_unit_test(entries__decode),
           cmocka_unit_test(entries_with_names__decode), cmocka_unit_test(restored_sums__decode));
