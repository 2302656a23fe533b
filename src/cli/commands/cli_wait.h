/*
 * Cli_wait: corvo wait, until a job is in a state.
 */
#pragma once

struct cli;

int cli_wait_run(struct cli *cli);
