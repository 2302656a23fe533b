/*
 * Work of the disk that is in progress: operations on the log whose end nobody waits for, and the
 * close, which waits for everything.
 */
#include <stdlib.h>

#include "base/check.h"
#include "cluster/disk_io_int.h"

/* Completes a close when nothing is pending any more. All conditions are listed here. */
void disk_work__maybe_closed(struct disk_io *d)
{
    if (d->closing && !d->timer_open && !d->transport_open && d->wal == NULL && d->jobs == 0) {
        d->close_cb(d->io); /* may free d */
    }
}

static void op_done(struct wal_op *op)
{
    free(op);
}

void disk_work__submit(struct disk_io *d, enum wal_kind kind, uint64_t index)
{
    struct wal_op *op = calloc(1, sizeof *op);
    CHECK(op != NULL);
    *op = (struct wal_op){.kind = kind, .index = index, .done = op_done};
    wal_submit(d->wal, op);
}
