/*
 * Cli_top_lists: the three lists of `corvo top`: queues, workers, failures. Each fills its area,
 * including a heading, and scrolls so that the selected row is visible.
 */
#pragma once

#include "cli/top/cli_top_draw.h"

void cli_top_lists_queues(struct cli_top_grid *g, struct cli_top_area a,
                          const struct cli_top_frame *f);
void cli_top_lists_workers(struct cli_top_grid *g, struct cli_top_area a,
                           const struct cli_top_frame *f);
void cli_top_lists_failures(struct cli_top_grid *g, struct cli_top_area a,
                            const struct cli_top_frame *f);

/* The number of rows that each list needs to show everything. */
int cli_top_lists_queues_height(const struct cli_top_model *m);
int cli_top_lists_workers_height(const struct cli_top_model *m);
int cli_top_lists_failures_height(const struct cli_top_model *m);
