/*
 * Cli_explain: corvo explain: why a job is in its state.
 */
#pragma once

struct cli;

int cli_explain_run(struct cli *cli);
