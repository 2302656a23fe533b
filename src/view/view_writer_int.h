/*
 * View_writer: shared by the files of the writer thread: view_writer.c (what to do next) and
 * view_file.c (the file).
 */
#pragma once

#include "view/view_int.h"
#include "view/view_pace_int.h"

struct view_writer {
    struct view *view;
    uv_thread_t thread;
    uv_loop_t loop;
    struct mailbox box;
    uv_timer_t timer;        /* to collect changes, to rest, or to retry */
    uv_timer_t words_timer;  /* the same for the full-text index */
    uv_timer_t shrink_timer; /* look for unused pages */
    uv_sem_t started;
    struct msg stop_msg;
    struct msg hurry_msg;
    atomic_bool hurry_out; /* the message was sent */
    atomic_bool hurry_words;
    struct msg space_msg;
    atomic_bool space_out;
    struct msg step_msg; /* to itself: continue after other messages */
    bool step_out;

    sqlite3 *db;
    struct view_rows rows;
    bool ready;             /* db and rows can be used */
    bool build_next;        /* the file cannot be used */
    bool compare_next;      /* the file is older than the start of the feed… */
    uint64_t compare_index; /* …which is at this entry */

    struct engine_take take;
    struct view_batch *batch; /* the jobs of a turn, while they are written */
    bool taking, holding;     /* a take is in progress; its jobs are not written yet */
    bool look;                /* the feed has ids */
    uint64_t due;             /* ids that can be taken now… */
    uint64_t ripening;        /* …and after the delay for collecting changes */
    bool lingering, yielding, resting;
    struct view_pace pace;
    bool stopping;
    bool words_behind, words_due;
    unsigned turns;
    uint64_t turns_total;
    bool shrink_due; /* look for unused pages */
    enum view_shrink shrink;
    unsigned shrink_turns; /* turns since the last step */
    struct mono drain_end; /* end of the time to write the rest when stopping */
    bool ended;
    uint64_t complete, words_complete;
    struct view_rebuild *rebuilds;
    struct view_status status;
};

/* view_file.c */

void view_file__close(struct view_writer *w);
void view_file__end(struct view_writer *w); /* the same, flushed, while no question runs */
ATTR_NODISCARD enum err_code view_file__open(struct view_writer *w, struct err *err);
void view_file__remove(const struct os_file_path *path); /* with the other files of SQLite */
/* Replace the old file by the new one, while no question runs. */
ATTR_NODISCARD enum err_code view_file__swap(struct view_writer *w, struct err *err);
/* Can the file be used from the start of the feed? With the same index and state hash it can. An
 * older one must be compared with the documents. A newer one, or one with another hash, belongs to
 * another history. */
ATTR_NODISCARD enum err_code view_file__use(struct view_writer *w, uint64_t index, uint64_t hash,
                                            struct err *err);
/* SQLite can restart its log only while nobody reads. If the log is larger than max, wait until no
 * question runs and let none start meanwhile. */
void view_file__trim_log(struct view_writer *w, uint64_t max);
