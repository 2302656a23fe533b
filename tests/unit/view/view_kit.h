/*
 * View_kit: an engine with a view in the same folder, and functions that ask a question and wait
 * for its end.
 */
#pragma once

#include "lib/engine_kit.h"
#include "view/view.h"
#include "view/view_search.h"
#include "view/view_words.h"

enum {
    VIEW_KIT_FEED_IDS = 1024,         /* above this, everything is compared */
    VIEW_KIT_PATIENCE_MS = 600 * 1000 /* longer than anything takes on a busy machine */
};

struct view_kit {
    struct engine_kit *engine;
    struct view_config config;
    struct view *view; /* NULL while it is closed */
    struct arena *arena;
    uv_sem_t done;
    struct err err; /* of the last question */
    uint64_t lag;
};

/* configure may change the view's settings, or be NULL. */
struct view_kit *view_kit_open(void (*configure)(struct view_config *config));
void view_kit_close(struct view_kit *k);

void view_kit_start_view(struct view_kit *k);
void view_kit_stop_view(struct view_kit *k);

/* Run fn inside a question and wait for its end. Sets k->err and k->lag. */
void view_kit_ask(struct view_kit *k, bool text,
                  void (*fn)(struct view_kit *k, struct view_reader *r, void *data), void *data);

/* These questions must succeed. The ids are valid until view_kit_forget. */
void view_kit_search(struct view_kit *k, struct view_search *s);
uint64_t view_kit_count(struct view_kit *k, const struct view_filter *f);
void view_kit_words(struct view_kit *k, struct view_words *w);
void view_kit_forget(struct view_kit *k);

/* Fail the test unless the view, including the words, corresponds to the documents. */
void view_kit_check(struct view_kit *k);

struct view_status view_kit_status(struct view_kit *k);
/* Rebuild the view. Returns the error code. */
enum err_code view_kit_rebuild(struct view_kit *k);

/* Copy the files of the view as they are at this moment; and put the copies back, while the view is
 * closed. A start then finds what a crash would have left. */
void view_kit_keep_image(struct view_kit *k);
void view_kit_use_image(struct view_kit *k);

struct os_file_path view_kit_path(const struct view_kit *k);
