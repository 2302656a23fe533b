/*
 * Answers: the documents that routes return, as named JSON Schemas.
 *
 * A route's row names its answer in short form: "{job_id, status}", "job" or "[queue]". The tables
 * of rest_answer_table.c define the rest: the document, its members and their types. Every
 * black-box test of the API checks the handlers' output against them.
 *
 * A type is "string", "integer", "number", "boolean", "time", "any", or the name of another
 * document. [T] is an array of T, {T} an object whose members are all T, and T? can be null. A
 * member whose name ends with '?' is omitted when it is empty.
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
    const char *shape; /* short form in route rows; NULL: only used by other documents */
    const char *name;
    const struct rest_answer_member *members;
    size_t count;
    const char *words; /* "a, b": the document is a string with one of these values */
};

extern const struct rest_answer rest_answer_table__rows[];
extern const size_t rest_answer_table__count;

/* Find the document of a row's short form, without the brackets of a list; NULL if there is
 * none. */
const struct rest_answer *rest_answer__find(struct str shape);

/* Write {"$ref": …} to the document, as members of the open object. */
void rest_answer__reference(struct json_write *w, const struct rest_answer *a);

/* Write a type, or alternatives "T | T", as members of the open object. */
void rest_answer__type(struct json_write *w, struct str type);

/* Write all documents, as members of the open object. */
void rest_answer__write(struct json_write *w);

/* rest_openapi.c: write the OpenAPI document of all routes (http-api.md 20.7), with a final
 * newline. */
void rest_openapi__write(const char *version, struct buf *out);

/* rest_openapi_cache.c: the same document, written by the first request for it. All threads. */
struct rest_openapi *rest_openapi__new(const char *version);
void rest_openapi__free(struct rest_openapi *o);
struct str rest_openapi__text(struct rest_openapi *o);
