/*
 * Compare_int: shared by the files that compare.
 */
#pragma once

#include "sim/model_sim/compare.h"

/* A comparison of two structs of one type, member by member, driven by a table. */
enum compare_kind {
    COMPARE_STR,
    COMPARE_IDS, /* a str of ids */
    COMPARE_WALL,
    COMPARE_ID,
    COMPARE_BOOL,
    COMPARE_U8,
    COMPARE_I32, /* also enums */
    COMPARE_U32,
    COMPARE_I64,
    COMPARE_U64
};

struct compare_field {
    const char *name;
    enum compare_kind kind;
    size_t offset;
};

/* Report the members that differ. what names the struct. */
void compare_fields(struct compare *c, const char *what, const struct compare_field *fields,
                    size_t count, const void *want, const void *got);

/* Format "job …" into out, for messages. */
enum { COMPARE_NAME_MAX = 300 };
const char *compare_name(char *out, const char *kind, struct id id);

/* compare_job.c */
void compare_job(struct compare *c, const struct model_job *want);
void compare_job_document(struct compare *c, struct id id, struct str want, struct str got);
void compare_job_rows(struct compare *c, const struct model_job *want);

/* compare_records.c */
void compare_records_queues(struct compare *c);
void compare_records_batches(struct compare *c);
void compare_records_schedules(struct compare *c);
void compare_records_workers(struct compare *c);
void compare_records_webhooks(struct compare *c);
void compare_records_policies(struct compare *c);
void compare_records_locks(struct compare *c);
void compare_records_replies(struct compare *c);
void compare_records_tallies(struct compare *c);

/* compare_bulk.c */
void compare_bulk_records(struct compare *c);
