/*
 * Cli_top_lists: the three lists of `corvo top`: queues, workers, failures. Each fills its area, a
 * head included, and shows the selected row whatever its number.
 */
#pragma once

#include "cli/top/cli_top_draw.h"

void cli_top_lists_queues(struct cli_top_grid *g, struct cli_top_area a,
                          const struct cli_top_frame *f);
void cli_top_lists_workers(struct cli_top_grid *g, struct cli_top_area a,
                           const struct cli_top_frame *f);
void cli_top_lists_failures(struct cli_top_grid *g, struct cli_top_area a,
                            const struct cli_top_frame *f);

/* The rows that each needs to show all that it has. */
int cli_top_lists_queues_height(const struct cli_top_model *m);
int cli_top_lists_workers_height(const struct cli_top_model *m);
int cli_top_lists_failures_height(const struct cli_top_model *m);
