/*
 * Field: checks of single fields of a command. The error names the field by its path. Only for the
 * files of command_check.
 */
#pragma once

#include "fsm/command/command.h"

/* A position in a list, for a path such as "jobs[3].queue". */
struct field_place {
    bool in_list;
    const char *list;
    size_t index;
    bool deep; /* values may contain values of clients, so be nested as deep as a document */
};

extern const struct field_place field__top;

/* Refuse a field: the error is its path and what is wrong with it. */
enum err_code field__bad(const struct field_place *at, const char *field, const char *what,
                         struct err *err);
/* Refuse a field of len bytes with the code. */
enum err_code field__too_long(const struct field_place *at, const char *field, size_t len,
                              size_t max, enum err_code code, struct err *err);

ATTR_NODISCARD enum err_code field__some_text(const struct field_place *at, const char *field,
                                              struct str s, size_t max, struct err *err);
ATTR_NODISCARD enum err_code field__some_json(const struct field_place *at, const char *field,
                                              struct str s, size_t max, struct err *err);

/* Check a text of at most max bytes. Most texts are empty. */
static inline enum err_code field__text(const struct field_place *at, const char *field,
                                        struct str s, size_t max, struct err *err)
{
    return s.len == 0 ? ERR_OK : field__some_text(at, field, s, max, err);
}

/* Check a JSON value or an empty text. */
static inline enum err_code field__json(const struct field_place *at, const char *field,
                                        struct str s, size_t max, struct err *err)
{
    return s.len == 0 ? ERR_OK : field__some_json(at, field, s, max, err);
}

ATTR_NODISCARD enum err_code field__queue_name(const struct field_place *at, const char *field,
                                               struct str s, struct err *err);
/* Tags are an object. Its values can be any JSON, as other servers of this API accept. */
ATTR_NODISCARD enum err_code field__tags(const struct field_place *at, struct str tags,
                                         struct err *err);
ATTR_NODISCARD enum err_code field__usage(const struct field_place *at,
                                          const struct store_tokens *t, struct err *err);
