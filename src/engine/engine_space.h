/*
 * Engine_space: which operations are accepted when disk space, or memory for the log, is low.
 *
 * There are three levels. With enough space, everything is accepted. When space is low, commands
 * that add jobs or records are refused; claims, acks, heartbeats and commands that remove jobs are
 * accepted. When the disk is full, only commands that remove data are accepted. Below half of the
 * minimum, a reserve file is deleted to make room for the last two groups. It is created again when
 * there is space.
 *
 * Data in RocksDB's memory has yet to be written to disk, so it counts as used.
 *
 * This header is the pure part: numbers in, a level out. engine_space_watch.c measures and acts,
 * on the core thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "fsm/command/command.h"

enum engine_space_level {
    ENGINE_SPACE_FINE,
    ENGINE_SPACE_LOW,  /* no new jobs */
    ENGINE_SPACE_FULL, /* only operations that remove data */
};

/* The effect of an operation on disk space, ordered from refused last to refused first. */
enum engine_space_use {
    ENGINE_SPACE_FREES,   /* deletes, clears, purges */
    ENGINE_SPACE_GOES_ON, /* claims, acks, heartbeats: need little space */
    ENGINE_SPACE_ADDS,
};

enum engine_space_use engine_space_use(const struct command *c);

/* Is an operation of this kind accepted at this level? */
bool engine_space_allows(enum engine_space_level level, enum engine_space_use use);

/* Measured values. */
struct engine_space_seen {
    uint64_t free_bytes;       /* on the disk */
    uint64_t min_bytes;        /* the setting */
    uint64_t unwritten_bytes;  /* in RocksDB's memory */
    uint64_t compaction_bytes; /* what a compaction may write before it deletes its input */
    bool refused;              /* the disk was full when the log was written */
    uint64_t log_bytes;        /* of the log in memory */
    uint64_t log_bytes_max;    /* at which everything is refused */
};

/* Free bytes needed to accept everything, to accept claims and acks, and to keep the reserve. */
uint64_t engine_space_low_mark(const struct engine_space_seen *s);
uint64_t engine_space_full_mark(const struct engine_space_seen *s);
uint64_t engine_space_spend_mark(const struct engine_space_seen *s);

/* May compactions run? paused: whether they are paused now. */
bool engine_space_has_room_to_compact(const struct engine_space_seen *s, bool paused);

/* The purpose of a reserve file. */
enum engine_space_reserve {
    ENGINE_SPACE_TO_RUN,   /* acks and deletions */
    ENGINE_SPACE_TO_START, /* a start on a disk that is full to the last byte */
    ENGINE_SPACE_RESERVES
};

/* The size of a reserve file. */
uint64_t engine_space_reserve_bytes(uint64_t min_bytes, enum engine_space_reserve which);

/* The current level. A level better than `before` needs some additional space, so that the level
 * does not flap. */
enum engine_space_level engine_space_judge(const struct engine_space_seen *s,
                                           enum engine_space_level before);

/* For the status: the level and the values that determine it. */
struct engine_space_status {
    enum engine_space_level level;
    struct engine_space_seen seen;
    uint64_t reserve_bytes[ENGINE_SPACE_RESERVES]; /* sizes of the reserve files; 0: none */
};

/* Why operations are refused; ERR_OK if none are. */
enum err_code engine_space_reason(const struct engine_space_status *s, struct err *err);
