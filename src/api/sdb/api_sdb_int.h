/*
 * What the files of the Scheduled-DB face share.
 */
#pragma once

#include "api/api_int.h"
#include "api/sdb/api_sdb.h"
#include "store/store_node.h"

/* The queue of its jobs. */
#define API_SDB_QUEUE STR("scheduled-db")

/* The last second that a struct wall can hold, in 2262. A later one is taken for it, and kept in a
 * tag to be shown as it was asked for: a client that sends milliseconds gets those back. */
#define API_SDB_SECONDS_MAX (INT64_MAX / NS_PER_S)
#define API_SDB_LATEST      (API_SDB_SECONDS_MAX * NS_PER_S)

/* What is asked to be made. */
struct api_sdb_new {
    struct str id, type, cron, url, token;
    struct str payload; /* JSON; empty: none */
    int64_t at_s, until_s;
    bool has_at, has_until;
    bool recurring;
};

/* api_sdb_read.c: the body as it came; false when it is too large. */
ATTR_NODISCARD bool api_sdb_read__text(struct api_call *c, struct str *out);
/* The object in the body; false when there is none, or the body is too large. */
ATTR_NODISCARD bool api_sdb_read__body(struct api_call *c, struct str *out_object);
/* The object of a creation, with which the text begins. On failure *out_text is the contract's,
 * which lives as long as the call. */
ATTR_NODISCARD bool api_sdb_read__new(struct api_call *c, struct str text, struct wall now,
                                      struct api_sdb_new *out, struct str *out_text);
/* The contract's forms: seconds, RFC 3339, "YYYY-MM-DD HH:MM:SS". */
ATTR_NODISCARD bool api_sdb_read__time(struct str text, int64_t *out_s);
/* The size that counts for the capacity (scheduler.md 10). */
uint64_t api_sdb_read__size(const struct api_sdb_new *n);

/* api_sdb_id.c: the name of a job that is sent without one; it lives as long as the call. */
struct str api_sdb_id__new(struct api_call *c);

/* api_sdb_text.c: what is told of errors, without addresses, paths and names of the inside
 * (scheduler.md 2.11). */
void api_sdb_text__sanitize(struct str text, struct buf *out);
/* {"error": text}, sanitized. The code says the status. */
void api_sdb_text__fail(struct api_call *c, enum err_code code, struct str text);

/* api_sdb_show.c: documents */
enum api_sdb_status {
    API_SDB_PENDING,
    API_SDB_IN_PROGRESS,
    API_SDB_COMPLETED,
    API_SDB_FAILED,
    API_SDB_TIMEOUT,
    API_SDB_CANCELLED,
    API_SDB_STATUS_COUNT
};
enum api_sdb_status api_sdb_show__status(const struct job *j);
const char *api_sdb_show__word(enum api_sdb_status status);
bool api_sdb_show__parse(struct str word, enum api_sdb_status *out);
void api_sdb_show__job(struct json_write *w, const struct job *j);
/* One that was just made of n, as it is stored. */
void api_sdb_show__new(struct json_write *w, const struct job *j, const struct api_sdb_new *n);
void api_sdb_show__state(struct json_write *w, const struct job *j, struct store *store);
void api_sdb_show__attempts(struct json_write *w, const struct job *j, struct store *store);

/* api_sdb.c: the job of that name, its document in doc; false when there is none. */
ATTR_NODISCARD bool api_sdb__find(struct api_call *c, struct str name, struct buf *doc,
                                  struct job *out);
/* A job to be created, with the room that its command needs. */
struct api_sdb_creation {
    struct api_sdb_new asked;
    struct command_new room;
    uint64_t size; /* what it counts for the capacity */
};
/* The command that creates the job in the queue; it lives in made and the call's memory. */
void api_sdb__command(struct api_call *c, struct str queue, struct wall now, struct api_sdb_new *n,
                      struct api_sdb_creation *made, struct command *out);
/* What is told of a job for which there is no room: of bytes, or of jobs. */
enum { API_SDB_TEXT_BYTES = 256 };
void api_sdb__full_text(const struct api_call *c, bool bytes, uint64_t current, uint64_t size,
                        char out[static API_SDB_TEXT_BYTES]);
/* The internal name of the queue; false when the caller can have none. */
ATTR_NODISCARD bool api_sdb__queue(struct api_call *c, struct str *out);

/* api_sdb_numbers.c: numbers of the queue, from the core thread */
struct api_sdb_server {
    char id[STORE_NODE_NAME_BYTES_MAX + 1];
    char address[STORE_NODE_ADDRESS_BYTES_MAX + 1];
};
struct api_sdb_numbers {
    struct machine_queue queue; /* zeros when there is none; without its name */
    uint64_t jobs;              /* stored, of all states */
    uint64_t by_status[API_SDB_STATUS_COUNT];
    struct engine_status engine;
    struct api_sdb_server
        *servers; /* the members, if asked for; none of a node that was always alone */
    size_t server_count;
};
/* Jobs of the queue by the statuses of the face. */
void api_sdb_numbers__count(const struct machine_queue *q, uint64_t by[API_SDB_STATUS_COUNT]);
double api_sdb_numbers__percent(uint64_t part, uint64_t whole);
void api_sdb_numbers__take(struct api_call *c, bool servers,
                           void (*then)(struct api_call *c, const struct api_sdb_numbers *n));

/* api_sdb_list.c, api_sdb_batch.c: handlers of routes */
extern const struct json_schema api_sdb_list__schema;
void api_sdb_list__handle(struct api_call *c);
void api_sdb_batch__handle(struct api_call *c);
