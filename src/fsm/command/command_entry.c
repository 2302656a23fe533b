#include "fsm/command/command_entry.h"

#include "base/check.h"
#include "base/limits.h"
#include "base/pack.h"
#include "base/unpack.h"

enum { ENTRY_EVENTS = 1 };

/* Version, flags, two zero bytes, count, time, size of the commands without the padding. */
enum { ENTRY_COUNT_AT = 4, ENTRY_LEN_AT = 16, ENTRY_HEAD_LEN = 20 };

/* Before each command of an entry with names. */
enum { WITHOUT_NAME = 0, WITH_NAME = 1 };

bool command_entry_has_names(uint8_t version)
{
    return version >= COMMAND_ENTRY_WHOLE_NAMED && version % 2 == 0;
}

uint8_t command_entry_version(uint8_t read, bool named)
{
    unsigned newest = read < COMMAND_ENTRY_NEWEST ? read : COMMAND_ENTRY_NEWEST;
    if (newest < COMMAND_ENTRY_WHOLE_NAMED) {
        return COMMAND_ENTRY_WHOLE;
    }
    unsigned with_names = newest - newest % 2;
    return (uint8_t)(named ? with_names : with_names - 1);
}

void command_entry_begin(struct buf *out, uint8_t version, struct wall now, bool events)
{
    pack_u8(out, version);
    pack_u8(out, events ? ENTRY_EVENTS : 0);
    pack_u16(out, 0);
    pack_u32(out, 0);
    pack_i64(out, now.ns);
    pack_u32(out, 0);
}

void command_entry_add(struct buf *out, struct str command)
{
    CHECK(command.len <= LIMIT_OP_BYTES);
    pack_u32(out, (uint32_t)command.len);
    buf_add_str(out, command);
}

static void put_u32_at(struct buf *out, size_t at, uint32_t v)
{
    for (unsigned i = 0; i < 4; i++) {
        out->ptr[at + i] = (char)(uint8_t)(v >> (8 * i));
    }
}

void command_entry_add_named(struct buf *out, struct str command, struct id name, uint64_t since)
{
    size_t at = out->len;
    CHECK(command.len <= LIMIT_OP_BYTES);
    pack_u32(out, 0);
    if (id_is_none(name)) {
        pack_u8(out, WITHOUT_NAME);
    } else {
        pack_u8(out, WITH_NAME);
        buf_add(out, name.b, ID_BYTES);
        pack_varint(out, since);
    }
    buf_add_str(out, command);
    CHECK(!out->overflow);
    put_u32_at(out, at, (uint32_t)(out->len - at - 4));
}

void command_entry_end(struct buf *out, uint32_t count)
{
    static const char zeros[8];
    CHECK(!out->overflow);
    CHECK(out->len >= ENTRY_HEAD_LEN);
    put_u32_at(out, ENTRY_COUNT_AT, count);
    put_u32_at(out, ENTRY_LEN_AT, (uint32_t)(out->len - ENTRY_HEAD_LEN));
    buf_add(out, zeros, (8 - out->len % 8) % 8);
}

/* Is the number of commands correct, with no bytes left over? */
static bool commands_fit(struct command_entry e)
{
    struct str command;
    while (command_entry_next(&e, &command)) {
    }
    return e.count == 0 && e.commands.len == 0;
}

/* Are the bytes left zeros, up to the next multiple of 8, where the entry ends? */
static bool is_padding(struct unpack *u, size_t entry_len)
{
    uint8_t any = 0;
    size_t left = unpack_left(u);
    for (size_t i = 0; i < left; i++) {
        any |= unpack_u8(u);
    }
    return any == 0 && left < 8 && entry_len % 8 == 0;
}

enum err_code command_entry_decode(struct str bytes, struct command_entry *out, struct err *err)
{
    struct unpack u = unpack_from(bytes);
    out->version = unpack_u8(&u);
    if (out->version == 0 || out->version > COMMAND_ENTRY_NEWEST) {
        return err_set(err, ERR_CORRUPT, "a log entry has the unknown version %u", out->version);
    }
    uint8_t flags = unpack_u8(&u);
    uint16_t zero = unpack_u16(&u);
    out->count = unpack_u32(&u);
    out->now.ns = unpack_i64(&u);
    out->commands = unpack_bytes(&u, unpack_u32(&u));
    out->events = (flags & ENTRY_EVENTS) != 0;
    if (u.bad || (flags & ~ENTRY_EVENTS) != 0 || zero != 0 || out->now.ns < 0 ||
        !commands_fit(*out) || !is_padding(&u, bytes.len)) {
        return err_set(err, ERR_CORRUPT, "a log entry of %zu bytes is damaged", bytes.len);
    }
    return ERR_OK;
}

/* Read the prefix of a command in an entry with names. False if it is not valid. */
static bool take_name(struct command_entry *e, struct str *command)
{
    struct unpack u = unpack_from(*command);
    uint8_t tag = unpack_u8(&u);
    if (tag == WITH_NAME) {
        e->name = id_unpack(&u);
        e->since = unpack_varint(&u);
    }
    *command = str_from(u.at, unpack_left(&u));
    return !u.bad && tag <= WITH_NAME && (tag == WITHOUT_NAME || !id_is_none(e->name));
}

bool command_entry_next(struct command_entry *e, struct str *out)
{
    struct unpack u = unpack_from(e->commands);
    if (e->count == 0) {
        return false;
    }
    *out = unpack_bytes(&u, unpack_u32(&u));
    e->name = ID_NONE;
    e->since = 0;
    if (u.bad || (command_entry_has_names(e->version) && !take_name(e, out))) {
        return false;
    }
    e->commands = str_from(u.at, unpack_left(&u));
    e->count--;
    return true;
}
