/*
 * What happens to a whole run: it ends, or a request of it fails.
 */
#include <stdio.h>
#include <unistd.h>

#include "base/check.h"
#include "load/load_int.h"
#include "log/log.h"

enum { ERRORS_SHOWN = 3, ERRORS_EVERY = 1000 };

void load_run__raise(int fd)
{
    uint64_t one = 1;
    ssize_t n = write(fd, &one, sizeof one);
    CHECK(n == sizeof one);
}

void load_stop(struct load_run *run)
{
    if (!atomic_exchange(&run->stop, true)) {
        load_run__raise(run->stop_fd);
    }
}

void load_run__check_over(struct load_run *run)
{
    if (run->phase == LOAD_ENQUEUE || atomic_load(&run->producers_left) > 0) {
        return;
    }
    if (atomic_load(&run->acked) + atomic_load(&run->dropped) >= atomic_load(&run->enqueued)) {
        load_stop(run);
    }
}

void load_run__refuse(struct load_thread *t, struct str reason)
{
    if (!t->refused) {
        t->refused = true;
        (void)snprintf(t->reason, sizeof t->reason, STR_FMT, STR_ARG(reason));
    }
    load_stop(t->run);
}

void load_run__remark(struct load_thread *t, const char *reason)
{
    uint64_t number = atomic_fetch_add(&t->run->errors, 1) + 1;
    if (!t->refused) {
        (void)snprintf(t->reason, sizeof t->reason, "%s", reason);
    }
    if (number <= ERRORS_SHOWN || number % ERRORS_EVERY == 0) {
        log_warn("request failed", LOG_Z("why", reason), LOG_U64("number", number));
    }
}
