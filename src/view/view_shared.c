/*
 * What the writer and the readers share: the watermarks, the file while it is replaced, and the
 * report of a damaged file.
 */
#include "base/check.h"
#include "log/log.h"
#include "os/os_clock.h"
#include "view/view_db_int.h"
#include "view/view_int.h"

void view__publish(struct view *v, const struct view_status *status, uint64_t complete,
                   uint64_t words_complete)
{
    uv_mutex_lock(&v->lock);
    v->status = *status;
    v->complete = complete;
    v->words_complete = words_complete;
    view_pace__turned(&v->flood, engine_feed_waiting(v->feed), os_clock_mono());
    uv_cond_broadcast(&v->moved);
    uv_mutex_unlock(&v->lock);
}

void view__shut(struct view *v)
{
    uv_mutex_lock(&v->lock);
    v->swapping = true;
    while (v->running > 0) {
        uv_cond_wait(&v->moved, &v->lock);
    }
    uv_mutex_unlock(&v->lock);
    for (unsigned i = 0; i < v->config.readers; i++) {
        view_db__close(TAKE(v->readers[i].db));
    }
}

void view__reopen(struct view *v, bool usable)
{
    uv_mutex_lock(&v->lock);
    v->swapping = false;
    v->usable = usable;
    uv_cond_broadcast(&v->moved);
    uv_mutex_unlock(&v->lock);
}

static void report_damage(struct view *v)
{
    if (!atomic_exchange(&v->damage.out, true)) {
        bool posted = mailbox_post(v->damage.box, &v->damage.msg);
        CHECK(posted);
    }
}

enum err_code view__asked(struct view_reader *r, enum err_code code, struct err *err)
{
    if (code == ERR_CORRUPT) {
        log_error("search index damaged", LOG_Z("error", err->msg));
        report_damage(r->view);
        return err_set(err, ERR_SEARCH, "the search index is damaged and is being rebuilt");
    }
    return code == ERR_IO || code == ERR_NO_SPACE ? err_set(err, ERR_SEARCH, "the search failed")
                                                  : code;
}
