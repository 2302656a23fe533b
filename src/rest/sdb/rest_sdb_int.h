/*
 * Rest_sdb_int: shared by the files of the Scheduled-DB API.
 */
#pragma once

#include "base/id_uuid.h"
#include "rest/rest_int.h"
#include "rest/sdb/rest_sdb.h"
#include "store/store_node.h"

/* The last second that struct wall can hold, in 2262. A later time is replaced by it and stored in
 * a tag, to be shown as sent: a client that sends milliseconds gets the same number back. */
#define REST_SDB_SECONDS_MAX (INT64_MAX / NS_PER_S)
#define REST_SDB_LATEST      (REST_SDB_SECONDS_MAX * NS_PER_S)

/* A job as requested. */
struct rest_sdb_new {
    struct str id, type, cron, url, token;
    struct str payload; /* JSON; empty: none */
    int64_t at_s, until_s;
    bool has_at, has_until;
    bool recurring;
};

/* rest_sdb_read.c: the body as text; false if it is too large. */
ATTR_NODISCARD bool rest_sdb_read__text(struct rest_call *c, struct str *out);
/* The JSON object in the body; false if there is none or the body is too large. */
ATTR_NODISCARD bool rest_sdb_read__body(struct rest_call *c, struct str *out_object);
/* Decode the request object at the beginning of the text. On failure *out_text is the contract's
 * message, valid as long as the call. */
ATTR_NODISCARD bool rest_sdb_read__new(struct rest_call *c, struct str text, struct wall now,
                                       struct rest_sdb_new *out, struct str *out_text);
/* Parse a time in one of the contract's forms: seconds, RFC 3339, "YYYY-MM-DD HH:MM:SS". */
ATTR_NODISCARD bool rest_sdb_read__time(struct str text, int64_t *out_s);
/* The size of a job for the capacity limit (scheduler.md 10). */
uint64_t rest_sdb_read__size(const struct rest_sdb_new *n);

/* rest_sdb_id.c: generate a name for a job without one, while a member of the cluster cannot read
 * commands without names. */
void rest_sdb_id__new(char out[static ID_UUID_LEN]);

/* rest_sdb_text.c: remove addresses, paths and internal names from an error message (scheduler.md
 * 2.11). */
void rest_sdb_text__sanitize(struct str text, struct buf *out);
/* End the call with {"error": text}, sanitized. The code determines the status. */
void rest_sdb_text__fail(struct rest_call *c, enum err_code code, struct str text);

/* rest_sdb_show.c: documents */
enum rest_sdb_status {
    REST_SDB_PENDING,
    REST_SDB_IN_PROGRESS,
    REST_SDB_COMPLETED,
    REST_SDB_FAILED,
    REST_SDB_TIMEOUT,
    REST_SDB_CANCELLED,
    REST_SDB_STATUS_COUNT
};
enum rest_sdb_status rest_sdb_show__status(const struct job *j);
const char *rest_sdb_show__word(enum rest_sdb_status status);
bool rest_sdb_show__parse(struct str word, enum rest_sdb_status *out);
void rest_sdb_show__job(struct json_write *w, const struct job *j);
void rest_sdb_show__state(struct json_write *w, const struct job *j, struct store *store);
void rest_sdb_show__attempts(struct json_write *w, const struct job *j, struct store *store);

/* rest_sdb_create.c */

/* A job to be created, with the memory for its command. */
struct rest_sdb_creation {
    struct rest_sdb_new asked;
    struct command_new room;
    uint64_t size;          /* size for the capacity limit */
    char name[ID_UUID_LEN]; /* generated name */
};
/* Build the command that creates the job in the queue; uses memory in made and in the call's
 * arena. */
void rest_sdb_create__command(struct rest_call *c, struct str queue, struct wall now,
                              struct rest_sdb_creation *made, struct command *out);
/* Count and log that a job was refused because the capacity is exhausted. */
void rest_sdb_create__full(struct rest_call *c, bool bytes, uint64_t current);
/* The message for that, about bytes or about jobs. */
enum { REST_SDB_TEXT_BYTES = 256 };
void rest_sdb_create__full_text(const struct rest_call *c, bool bytes, uint64_t current,
                                uint64_t size, char out[static REST_SDB_TEXT_BYTES]);
/* The internal name of the caller's queue; false if the caller may not use it. */
ATTR_NODISCARD bool rest_sdb_create__queue(struct rest_call *c, struct str *out);

/* rest_sdb_show.c: write a job that was just created with this id. */
void rest_sdb_show__new(struct json_write *w, struct rest_sdb_creation *made, struct id id);

/* rest_sdb_numbers.c: numbers of the queue, read on the core thread */

/* The queue of one namespace, or the sum over all namespaces. */
struct rest_sdb_total {
    struct machine_queue queue; /* zeros if there is none; has no name */
    uint64_t queues;        /* number of queues; at least 1, since a queue is created when used */
    uint64_t fullest_bytes; /* maximum of their named_bytes */
};
/* Call on the core thread. Reads the queue of a namespace; for the default namespace, those of
 * all. */
void rest_sdb_numbers__look(struct machine *m, struct str ns, struct rest_sdb_total *out);

struct rest_sdb_server {
    char id[STORE_NODE_NAME_BYTES_MAX + 1];
    char address[STORE_NODE_ADDRESS_BYTES_MAX + 1];
};
struct rest_sdb_numbers {
    struct rest_sdb_total total;
    uint64_t jobs; /* stored jobs in all states */
    uint64_t by_status[REST_SDB_STATUS_COUNT];
    struct engine_status engine;
    struct rest_sdb_server *servers; /* if requested; empty without peers */
    size_t server_count;
};
/* Count the jobs of the queue by the statuses of the API. */
void rest_sdb_numbers__count(const struct machine_queue *q, uint64_t by[REST_SDB_STATUS_COUNT]);
/* Multiply a limit; the result is limited to what JSON can represent. */
uint64_t rest_sdb_numbers__times(uint64_t limit, uint64_t count);
double rest_sdb_numbers__percent(uint64_t part, uint64_t whole);
void rest_sdb_numbers__take(struct rest_call *c, bool servers,
                            void (*then)(struct rest_call *c, const struct rest_sdb_numbers *n));

/* rest_sdb_list.c, rest_sdb_batch.c: handlers of routes */
extern const struct json_schema rest_sdb_list__schema;
void rest_sdb_list__handle(struct rest_call *c);
void rest_sdb_batch__handle(struct rest_call *c);
