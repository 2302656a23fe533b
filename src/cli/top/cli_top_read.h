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

/* Read them all. Uses the run's memory as it goes: call it within a round. */
void cli_top_read_sample(struct cli *cli, const struct str documents[CLI_TOP_DOC_COUNT],
                         struct cli_top_sample *out);

/* An event of type failed or dead; false when it is neither. */
ATTR_NODISCARD bool cli_top_read_event(struct cli *cli, struct str event,
                                       struct cli_top_failure *out);

/* A dead job, as a search finds it. */
void cli_top_read_dead(struct cli *cli, struct str job, struct cli_top_failure *out);
