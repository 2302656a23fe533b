/*
 * Cli_wait: corvo wait: waits until a job reaches a state.
 */
#pragma once

struct cli;

int cli_wait_run(struct cli *cli);
