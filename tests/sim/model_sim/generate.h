/*
 * Generate: random commands that interact often.
 *
 * There are few queues, keys and workers, so that conflicts are frequent. Ids are mostly of
 * existing jobs in suitable states, with a share of wrong ids, stale tokens and duplicates. The
 * clock prefers the times at which something is due, one nanosecond before and one after. The seed
 * decides everything and selects a profile for the whole run: which operations are frequent, how
 * large entries are, how many jobs exist at a time.
 */
#pragma once

#include "base/arena.h"
#include "fsm/command/command.h"
#include "lib/rng.h"
#include "sim/model_sim/model.h"

/* Number of profiles. Consecutive seeds use different profiles. */
enum { GENERATE_PROFILES = 10 };

struct generate_profile;

struct generate {
    struct rng rng;
    const struct generate_profile *profile;
    const struct model *model;
    struct arena *arena; /* for the commands; the caller resets it */
    struct wall clock;
    struct id gone[16]; /* ids of jobs that no longer exist */
    size_t gone_count;
    struct command_queue follow[8]; /* commands that must be continued in a later entry */
    size_t follow_count, follow_ready;
};

struct generate generate_new(uint64_t seed, const struct model *model, struct arena *arena);

/* For the next entry: its time, the number of commands, whether its events are stored. */
struct wall generate_time(struct generate *g);
size_t generate_count(struct generate *g);
bool generate_events(struct generate *g);

/* Can commands exceed the capacity of an entry? Then each entry has one command. */
bool generate_is_large(const struct generate *g);

/* The next command. */
void generate_command(struct generate *g, struct command *out);

/* Pass the model's result of the command to the generator. */
void generate_answered(struct generate *g, const struct command *c, const struct result *r);

/* The number of operations of this seed, given the average. */
uint64_t generate_operations(uint64_t seed, uint64_t average);
