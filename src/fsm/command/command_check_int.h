/*
 * Shared by the files of command_check.
 */
#pragma once

#include "fsm/command/command_check.h"
#include "fsm/command/command_names.h"
#include "fsm/command/field_int.h"

/* command_check_job.c */
ATTR_NODISCARD enum err_code command_check__payload(const struct field_place *at,
                                                    struct str payload, bool is_json,
                                                    const struct command_names *names,
                                                    const struct command_limits *limits,
                                                    struct err *err);
ATTR_NODISCARD enum err_code command_check__new(const struct field_place *at,
                                                const struct command_new *new,
                                                const struct command_names *names,
                                                const struct command_limits *limits,
                                                struct err *err);
/* The job that is enqueued when a batch ends. */
ATTR_NODISCARD enum err_code command_check__callback(struct str queue, struct str payload,
                                                     const struct command_limits *limits,
                                                     struct err *err);

/* command_check_record.c */
ATTR_NODISCARD enum err_code command_check__schedule_put(const struct command *c,
                                                         const struct command_limits *limits,
                                                         struct err *err);
ATTR_NODISCARD enum err_code command_check__webhook_put(const struct command *c,
                                                        const struct command_limits *limits,
                                                        struct err *err);
ATTR_NODISCARD enum err_code command_check__policy_put(const struct command *c,
                                                       const struct command_limits *limits,
                                                       struct err *err);

/* command_check_restore.c */
ATTR_NODISCARD enum err_code command_check__restore(const struct command *c,
                                                    const struct command_limits *limits,
                                                    struct err *err);
