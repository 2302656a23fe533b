/*
 * Cli_explain: corvo explain, why a job is where it is.
 */
#pragma once

struct cli;

int cli_explain_run(struct cli *cli);
