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
    uv_timer_t timer;        /* linger, give way, or try again */
    uv_timer_t words_timer;  /* the same for the words */
    uv_timer_t shrink_timer; /* time to look for unused pages */
    uv_sem_t started;
    struct msg stop_msg;
    struct msg hurry_msg;
    atomic_bool hurry_out; /* the message is on its way */
    atomic_bool hurry_words;
    struct msg damage_msg;
    atomic_bool damage_out;
    struct msg space_msg;
    atomic_bool space_out;
    struct msg step_msg; /* to itself: go on after other messages had their turn */
    bool step_out;

    sqlite3 *db;
    struct view_rows rows;
    bool ready;             /* db and rows can be used */
    bool build_next;        /* the file is of no use */
    bool compare_next;      /* it is behind where the feed began… */
    uint64_t compare_index; /* …which was here */

    struct engine_take take;
    struct view_batch *batch; /* of a turn, while it is written */
    bool taking, holding;     /* a take is under way; its jobs are not written yet */
    bool look;                /* the feed has something */
    uint64_t due;             /* ids that may be taken now… */
    uint64_t ripening;        /* …and those that may when it has lingered */
    bool lingering, yielding, resting;
    struct view_pace pace;
    bool stopping;
    bool words_behind, words_due;
    unsigned turns;
    uint64_t turns_total;
    bool shrink_due; /* time to look for unused pages */
    enum view_shrink shrink;
    unsigned shrink_turns; /* turns since the last step */
    struct mono drain_end; /* then it stops, written or not */
    bool ended;
    uint64_t complete, words_complete;
    struct view_rebuild *rebuilds;
    struct view_status status;
};

/* view_file.c */

void view_file__close(struct view_writer *w);
void view_file__end(struct view_writer *w); /* the same, with nobody looking, and flushed */
ATTR_NODISCARD enum err_code view_file__open(struct view_writer *w, struct err *err);
void view_file__remove(const struct os_file_path *path); /* with what SQLite puts beside it */
/* Put the new file where the old one was, with nobody looking. */
ATTR_NODISCARD enum err_code view_file__swap(struct view_writer *w, struct err *err);
/* Is the file what it should be where the feed began? The same index and the same state: go on.
 * Behind: it is to be compared. Ahead, or at the same place with another state: of another
 * history. */
ATTR_NODISCARD enum err_code view_file__use(struct view_writer *w, uint64_t index, uint64_t hash,
                                            struct err *err);
/* SQLite can only begin its log anew at a moment when nobody reads. Where there is no such moment
 * for long, and the log has more bytes than these, one is made. */
void view_file__trim_log(struct view_writer *w, uint64_t max);
