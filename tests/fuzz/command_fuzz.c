/*
 * Fuzz: commands and log entries from any bytes.
 *
 * A decoded command encodes to the same bytes, and command_check accepts or refuses it without a
 * crash. The commands of a decoded entry, encoded again, are the same entry.
 */
#include "fsm/command/command.h"

#include <stdint.h>

#include "base/arena.h"
#include "base/check.h"
#include "fsm/command/command_check.h"

enum { BYTES_MAX = 1 << 22, ARENA_BYTES = 64 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_command(struct str bytes)
{
    struct arena *arena = arena_new(ARENA_BYTES);
    const struct command_limits limits = {.payload_bytes = 64};
    struct command c;
    struct err err = {0};
    if (command_decode(bytes, arena, &c, &err) == ERR_OK) {
        struct buf again;
        buf_init(&again, BYTES_MAX);
        command_encode(&c, &again);
        CHECK(str_eq(buf_str(&again), bytes));
        buf_deinit(&again);
        CHECK(command_word(c.type) != NULL);
        if (command_check(&c, &limits, &err) != ERR_OK) {
            CHECK(err.msg[0] != '\0');
        }
    } else {
        CHECK(err.code == ERR_CORRUPT);
        CHECK(err.msg[0] != '\0');
    }
    arena_free(arena);
}

static void try_entry(struct str bytes)
{
    struct command_entry e;
    struct str command;
    struct buf again;
    struct err err;
    uint32_t count = 0;
    if (command_entry_decode(bytes, &e, &err) != ERR_OK) {
        return;
    }
    buf_init(&again, BYTES_MAX);
    bool named = command_entry_has_names(e.version);
    command_entry_begin(&again, e.version, e.now, e.events);
    while (command_entry_next(&e, &command)) {
        try_command(command);
        if (named) {
            command_entry_add_named(&again, command, e.name, e.since);
        } else {
            command_entry_add(&again, command);
        }
        count++;
    }
    command_entry_end(&again, count);
    CHECK(str_eq(buf_str(&again), bytes));
    buf_deinit(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str bytes = str_from(data, size);
    if (size <= BYTES_MAX / 4) {
        try_command(bytes);
        try_entry(bytes);
    }
    return 0;
}
