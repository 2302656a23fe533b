/*
 * Cli_top_read: reads responses of the server into the data of `corvo top`. Missing values, and
 * values of an unexpected type, count as absent.
 */
#pragma once

#include "cli/cli_int.h"
#include "cli/top/cli_top_model.h"

/* The four documents of a sample. */
enum cli_top_document {
    CLI_TOP_DOC_QUEUES,
    CLI_TOP_DOC_WORKERS,
    CLI_TOP_DOC_CLUSTER,
    CLI_TOP_DOC_THROUGHPUT,
    CLI_TOP_DOC_COUNT
};

/* Read all documents. Call it within a round, because it uses memory of the run. */
void cli_top_read_sample(struct cli *cli, const struct str documents[CLI_TOP_DOC_COUNT],
                         struct cli_top_sample *out);

/* Read an event of type failed or dead; false for other types. */
ATTR_NODISCARD bool cli_top_read_event(struct cli *cli, struct str event,
                                       struct cli_top_failure *out);

/* Read a dead job from a search result. */
void cli_top_read_dead(struct cli *cli, struct str job, struct cli_top_failure *out);
