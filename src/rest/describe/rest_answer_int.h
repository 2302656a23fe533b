/*
 * Answers: the documents that come out of the routes, as JSON Schema, each under a name.
 *
 * A route's row says in short what it answers: "{job_id, status}", "job" or "[queue]". The tables
 * of rest_answer_table.c say the rest: which document that is, its members, and their types. What
 * the handlers write is checked against them by every black-box test of the API.
 *
 * A type is "string", "integer", "number", "boolean", "time", "any", or the name of another
 * document; [T] is an array of T, {T} an object whose members are all T, and T? may be null. A
 * member whose name ends with '?' is left out when there is nothing to say.
 */
#pragma once

#include "json/json_write.h"

struct rest_answer_member {
    const char *name;
    const char *type;
    const char *doc;
};

/* Either members or words. */
struct rest_answer {
    const char *shape; /* what rows call it; NULL: it is only a part of others */
    const char *name;
    const struct rest_answer_member *members;
    size_t count;
    const char *words; /* "a, b": it is a text, one of these */
};

extern const struct rest_answer rest_answer_table__rows[];
extern const size_t rest_answer_table__count;

/* The document that a row's shape means, without the brackets of a list; NULL when it has none. */
const struct rest_answer *rest_answer__find(struct str shape);

/* {"$ref": …} to it, as members of the object that is open. */
void rest_answer__reference(struct json_write *w, const struct rest_answer *a);

/* A type, or "T | T": any of several, as members of the object that is open. */
void rest_answer__type(struct json_write *w, struct str type);

/* All of them, as members of the object that is open. */
void rest_answer__write(struct json_write *w);

/* rest_openapi.c: the description of all routes (http-api.md 20.7), with a newline. */
void rest_openapi__write(const char *version, struct buf *out);
