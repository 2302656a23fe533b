/*
 * Command_names: what the protocol of a request calls the fields of a job, for error messages.
 *
 * The names travel with the command that the request becomes. They are not encoded.
 */
#pragma once

#include <stdbool.h>

struct command_names {
    const char *jobs; /* the list of an enqueue */
    const char *acks; /* the list of an ack */
    const char *payload, *result, *checkpoint;
    /* "job 2 payload too large" (http-api.md 7.2), not "jobs[2]: payload too large" */
    bool numbers_payloads;
};

extern const struct command_names command_names_http;

/* The names of the HTTP API for NULL. */
const struct command_names *command_names_or_http(const struct command_names *names);
