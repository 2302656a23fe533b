#include "fsm/command/command_access.h"

#include "base/hash.h"
#include "base/limits.h"
#include "base/pack.h"
#include "fsm/command/command.h"
#include "fsm/command/command_take.h"

uint64_t command_access_seen(struct str body)
{
    return hash_bytes(0, body.ptr, body.len);
}

void command_access__encode(const struct command *c, struct buf *out)
{
    pack_varint(out, c->access.count);
    for (size_t i = 0; i < c->access.count; i++) {
        const struct command_access_item *it = &c->access.items[i];
        pack_u8(out, (uint8_t)it->kind);
        pack_u8(out, (uint8_t)it->rule);
        pack_u8(out, it->deletes ? 1 : 0);
        if (it->rule == COMMAND_ACCESS_SAME) {
            pack_u64(out, it->seen);
        }
        pack_text(out, it->name);
        pack_text(out, it->body);
    }
}

void command_access__decode(struct unpack *u, struct arena *a, struct command *c)
{
    enum { LEAST = 5 };
    uint8_t last_rule = c->version < 3 ? COMMAND_ACCESS_THERE : COMMAND_ACCESS_SAME;
    c->access.count = command_take_count(u, LEAST);
    c->access.items = command_take_array(u, a, c->access.count, sizeof *c->access.items);
    for (size_t i = 0; i < c->access.count && !u->bad; i++) {
        struct command_access_item *it = &c->access.items[i];
        it->kind = (char)unpack_u8(u);
        uint8_t rule = unpack_u8(u);
        uint8_t deletes = unpack_u8(u);
        it->rule = (enum command_access_rule)rule;
        it->deletes = deletes == 1;
        it->seen = rule == COMMAND_ACCESS_SAME ? unpack_u64(u) : 0;
        it->name = unpack_text(u);
        it->body = unpack_text(u);
        u->bad |= rule > last_rule || deletes > 1;
    }
}

static enum err_code check_size(struct str name, struct str body, struct err *err)
{
    if (name.len > LIMIT_ACCESS_NAME_BYTES) {
        return err_set(err, ERR_VALIDATION, "name too large: %zu bytes (max %d)", name.len,
                       LIMIT_ACCESS_NAME_BYTES);
    }
    if (body.len > LIMIT_ACCESS_BODY_BYTES) {
        return err_set(err, ERR_VALIDATION, "record too large: %zu bytes (max %d)", body.len,
                       LIMIT_ACCESS_BODY_BYTES);
    }
    return ERR_OK;
}

enum err_code command_access__check_record(char kind, struct str name, struct str body,
                                           struct err *err)
{
    if (check_size(name, body, err) != ERR_OK) {
        return err->code;
    }
    return store_access_is_valid(kind, name, body)
               ? ERR_OK
               : err_set(err, ERR_VALIDATION, "the record is not valid");
}

enum err_code command_access__check(const struct command *c, const struct command_limits *limits,
                                    struct err *err)
{
    (void)limits;
    if (c->access.count == 0 || c->access.count > LIMIT_ACCESS_ITEMS) {
        return err_set(err, ERR_VALIDATION, "a change must have 1 to %d records",
                       LIMIT_ACCESS_ITEMS);
    }
    for (size_t i = 0; i < c->access.count; i++) {
        const struct command_access_item *it = &c->access.items[i];
        if (check_size(it->name, it->body, err) != ERR_OK ||
            (!it->deletes &&
             command_access__check_record(it->kind, it->name, it->body, err) != ERR_OK)) {
            return err->code;
        }
    }
    return ERR_OK;
}

void command_access__encode_audit(const struct command *c, struct buf *out)
{
    pack_i64(out, c->audit.retention_ms);
    pack_varint(out, c->audit.count);
    for (size_t i = 0; i < c->audit.count; i++) {
        store_access_encode_audit(&c->audit.items[i], out);
    }
}

void command_access__decode_audit(struct unpack *u, struct arena *a, struct command *c)
{
    c->audit.retention_ms = unpack_i64(u);
    c->audit.count = command_take_count(u, STORE_ACCESS_AUDIT_BYTES_MIN);
    c->audit.items = command_take_array(u, a, c->audit.count, sizeof *c->audit.items);
    for (size_t i = 0; i < c->audit.count && !u->bad; i++) {
        store_access_unpack_audit(u, &c->audit.items[i]);
    }
}

enum err_code command_access__check_audit(const struct command *c,
                                          const struct command_limits *limits, struct err *err)
{
    (void)limits;
    if (c->audit.count == 0 || c->audit.count > LIMIT_AUDIT_ITEMS || c->audit.retention_ms < 0) {
        return err_set(err, ERR_VALIDATION, "a command must have 1 to %d audit entries",
                       LIMIT_AUDIT_ITEMS);
    }
    for (size_t i = 0; i < c->audit.count; i++) {
        const struct store_audit *it = &c->audit.items[i];
        if (it->path.len > LIMIT_AUDIT_TEXT_BYTES || it->query.len > LIMIT_AUDIT_TEXT_BYTES ||
            it->principal.len > LIMIT_AUDIT_TEXT_BYTES || it->role.len > LIMIT_AUDIT_TEXT_BYTES ||
            it->ns.len > LIMIT_NAMESPACE_BYTES || it->method.len > LIMIT_NAME_BYTES) {
            return err_set(err, ERR_VALIDATION, "an audit entry is too large");
        }
    }
    return ERR_OK;
}
