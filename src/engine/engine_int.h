/*
 * Engine_int: shared by the engine's files. struct engine belongs to the core thread, unless noted.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include <uv.h>

#include "base/limits.h"
#include "base/map.h"
#include "core/cron.h"
#include "engine/engine.h"
#include "engine/engine_ask.h"
#include "engine/engine_cluster_int.h"
#include "engine/engine_history.h"
#include "engine/engine_now.h"
#include "engine/engine_purge.h"
#include "os/os_file.h"
#include "raftlog/snapshots.h"

/* A log entry proposed by this node, with its ops. */
struct engine_entry {
    struct node_propose propose;
    struct engine *engine;
    struct engine_entry *next; /* in the order of proposal */
    struct engine_op *ops;
    int64_t proposed_ns; /* on the monotonic clock */
    bool applied;
    bool given_up; /* its ops were already answered */
};

/* The parked claims of one queue. */
struct engine_waitlist {
    struct map_node node; /* by queue name */
    struct engine_waiter *first, *last;
    uint32_t woken;                /* claims submitted from here that have not returned */
    struct heap_node throttle_end; /* when the throttle or daily budget that blocks them ends */
    bool maybe_ready;              /* something may have become claimable */
    struct engine_waitlist *maybe_ready_next;
    char name[];
};

/* A parked claim in one waitlist. */
struct engine_waiter {
    struct engine_op *op;
    struct engine_waitlist *waitlist;
    struct engine_waiter *next, *prev;
};

struct engine_park {
    struct map waitlists;
    struct engine_waitlist *maybe_ready;
    bool all_maybe_ready;      /* a limit that concerns all queues changed */
    struct heap ends;          /* engine_op.end */
    struct heap throttle_ends; /* engine_waitlist.throttle_end */
    uv_timer_t timer;
    uint64_t next_ticket, count;
};

/* Maximum number of schedules fired together. Many are due at full minutes. */
enum { ENGINE_FIRES = LIMIT_ENTRY_OPS };

/* Commands that the engine itself submits when they are due. */
struct engine_timers {
    uv_timer_t timer;
    struct engine_op tick;
    struct engine_op *fires;          /* ENGINE_FIRES of them; NULL until a schedule is due */
    struct machine_due_schedule *due; /* room for ENGINE_FIRES */
    struct engine_op purge_op;
    struct engine_purge purge;
    bool tick_busy;
    bool renewing, renew_busy, renew_more; /* leases, before the first tick (engine_renew.c) */
    unsigned renew_steps;
    int64_t renew_ns;    /* no further step before this time */
    uint32_t fires_busy; /* number of fires in progress */
    uint64_t ticks, tick_errors;
    int64_t armed_ns; /* time that the timer is set for */
    struct map zones; /* by name */
};

/* Data of engine_space_watch.c. */
struct engine_space {
    uv_timer_t timer;
    struct engine_space_status status;
    bool no_reserve; /* the file system does not support reserves */
    void (*told)(void *data, bool low);
    void *told_data;
    uv_work_t work;
    bool tidying, tidy_urgent;
    uint64_t tidy_free_bytes;
    bool compaction_paused;
    pthread_mutex_t state_lock;      /* held while the pool uses or the core replaces the store */
    struct snapshots_cursor checked; /* used by the pool while it runs, as is check_err */
    struct err check_err;            /* the damage found; ERR_OK: none */
    bool snapshot_damaged;
    int64_t tidied_ms;         /* when tidying last began; monotonic clock */
    int64_t snapshot_after_ms; /* earliest time of the next snapshot request */
};

/* Data of engine_ask.c. */
struct engine_ask {
    struct engine_proof *under_way, *waiting; /* answered by the current entry; by the next entry */
    struct node_propose entry;
    bool busy;
    /* read by any thread */
    atomic_uint_fast64_t applied;
    atomic_bool has_peers;
};

/* Responses collected for one mailbox. */
struct engine_replies {
    struct mailbox *box; /* NULL: none */
    struct msg *first, *last;
    uint64_t ops, bytes; /* still counted as pending until posted */
};

enum { ENGINE_REPLIES = 8 }; /* the usual number of network threads */

struct engine {
    struct engine_config config;
    struct os_file_path state_dir, raft_dir;
    unsigned exchanges; /* replacements of the state since the start */
    uv_thread_t thread;
    uv_loop_t loop;
    struct mailbox box;
    struct node *node;
    struct machine *machine;
    struct arena *reading; /* to check whether entries can be read */

    struct engine_op *pending_first, **pending_last;
    struct engine_entry *entries_first, **entries_last;
    unsigned entry_count;
    struct engine_park park;
    struct engine_timers timers;
    struct engine_now now;
    struct engine_space space;
    struct engine_ask ask;
    struct engine_cluster cluster;
    struct engine_feed *feeds;
    struct engine_notifier *notifiers;
    struct engine_push *push;   /* receiver for deliveries; NULL: none */
    struct engine_taken *taken; /* receiver for taken jobs; NULL: none */
    struct engine_replies replies[ENGINE_REPLIES];
    uint64_t entries_total;
    uint64_t costs[COMMAND_TYPE_LAST + 1]; /* recent cost of each type of command, in bytes */
    struct engine_times queue_times, apply_times;
    struct engine_history history; /* of this node */
    bool leads;
    bool stopping; /* new operations are refused */
    bool given_up; /* the same, but the node keeps running: see engine_last_call */

    /* read by any thread */
    atomic_uint_fast64_t pending_ops;
    atomic_uint_fast64_t pending_bytes;
    atomic_uint_fast64_t applied_ops;
    atomic_uint_fast64_t overload_total;
    atomic_bool leads_now, stands_now;
    atomic_int_fast64_t time_off_ns; /* engine__now minus the clock of this boot */

    /* opening and closing */
    uv_sem_t opened; /* the core thread has a result for engine_open */
    struct err open_err;
    bool open_failed, open_answered;
    bool node_closing;
    bool handing_over;   /* transferring leadership before the node is closed */
    uv_timer_t patience; /* limits the wait: opening, for a leader; closing, for pending entries */
    struct msg stop_msg;
    struct msg last_call_msg;
    uint32_t last_call_ms;
};

/* engine.c: close the node if the engine is stopping and no operation is in progress */
void engine__maybe_stopped(struct engine *e);

/* engine_core.c */
/* Run a function on the core thread and wait for it. From any other thread, while the engine is
 * open. */
void engine__visit(struct engine *e, void (*run)(void *data), void *data);

/* The server time; see engine_now.h. */
struct wall engine__now(struct engine *e);

/* engine_pipe.c: from submission to the log and back */
void engine_pipe__enqueue(struct engine *e, struct engine_op *op);
void engine_pipe__pump(struct engine *e);
void engine_pipe__applied(struct engine *e, uint64_t index);
void engine_pipe__add(struct engine *e, struct engine_op *op); /* append it to the pending ops */
void engine_pipe__refuse_all(struct engine *e, enum err_code code);
void engine_pipe__refuse_unfit(struct engine *e); /* pending ops that the space level forbids */

/* Return the ops of entries that are still in progress, without a result. */
void engine_pipe__give_up(struct engine *e);
/* An op of the engine's own, whose done runs on the core thread. */
void engine_pipe__submit_own(struct engine *e, struct engine_op *op, const struct command *c);

/* engine_park.c: claims that wait for a job */
void engine_park__open(struct engine *e);
void engine_park__close(struct engine *e);
/* A claim has arrived: park it, or return true to let it into the pipeline. */
bool engine_park__admit(struct engine *e, struct engine_op *op);
/* The machine found no job for a claim. True if it was parked again. */
bool engine_park__again(struct engine *e, struct engine_op *op);
/* A claim has left the pipeline, for any reason. */
void engine_park__returned(struct engine *e, struct engine_op *op);
void engine_park__ready(struct engine *e, struct str queue); /* empty: all of them */
void engine_park__wake(struct engine *e); /* submit the claims that may now succeed */
void engine_park__cancel(struct engine *e, struct engine_op *op);
/* This many jobs are about to be added to the queue with this hash, or, if opened, the queue is
 * resumed: append the claims that can take them to the list at *last. Returns its new end. */
struct engine_op **engine_park__send_along(struct engine *e, uint64_t queue, uint32_t jobs,
                                           bool opened, struct engine_op **last);
void engine_park__release_all(struct engine *e, enum err_code code);

/* engine_ask.c: proofs of leadership; needed only with other nodes */
void engine_ask__close(struct engine *e);   /* fail the waiting proofs */
void engine_ask__applied(struct engine *e); /* an entry was applied, or the state replaced */

/* engine_timers.c: due times */
void engine_timers__open(struct engine *e);
void engine_timers__close(struct engine *e);
void engine_timers__look(struct engine *e); /* submit due work and set the timer */
void engine_timers__stop(struct engine *e);

/* engine_renew.c: extend the leases that could not be renewed, after this node became leader */
void engine_renew__begin(struct engine *e);
int64_t engine_renew__go_on(struct engine *e, struct wall now); /* returns when to call it again */

/* engine_space_watch.c: limits on operations while space is low */
void engine_space__before_open(struct engine *e); /* free the reserve if the start needs it */
void engine_space__open(struct engine *e);
void engine_space__start(struct engine *e); /* once the node is open */
void engine_space__close(struct engine *e);
void engine_space__free(struct engine *e); /* after the loop has ended */
void engine_space__look(struct engine *e);

/* engine_feed.c */
void engine_feed__changed(struct engine *e, struct id id);
void engine_feed__replaced(struct engine *e); /* the whole state was replaced */
void engine_feed__tell(struct engine *e);

/* engine_push.c */
void engine_push__ready(struct engine *e);
void engine_push__gone(struct engine *e, struct id id);
void engine_push__lost(struct engine *e, const struct job *j, bool last);

/* engine_notifier.c */
void engine_notifier__look(struct engine *e);  /* an entry was applied: report its events */
void engine_notifier__leads(struct engine *e); /* this node became leader, or is no longer leader */
