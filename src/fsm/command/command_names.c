#include "fsm/command/command_names.h"

#include <stddef.h>

const struct command_names command_names_http = {.jobs = "jobs",
                                                 .acks = "acks",
                                                 .payload = "payload",
                                                 .result = "result",
                                                 .checkpoint = "checkpoint",
                                                 .numbers_payloads = true};

const struct command_names *command_names_or_http(const struct command_names *names)
{
    return names != NULL ? names : &command_names_http;
}
