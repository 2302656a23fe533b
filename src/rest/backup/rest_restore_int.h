/*
 * Rest_restore: the spool of a restore. The uploaded backup is stored in a file in the data
 * directory, checked while it arrives, and read back element by element.
 *
 * The file is unlinked as soon as it is open, so nothing remains of it however the process ends.
 * Memory is bounded by one element. Every function waits for the disk: call them on a thread of the
 * pool, one at a time.
 */
#pragma once

#include "backup/backup_verify.h"
#include "rest/backup/rest_backup_int.h"

struct rest_restore_spool;

/* free_min: what must stay free on the disk. NULL, with err, when there can be no file. */
struct rest_restore_spool *rest_restore_spool__open(const char *dir, uint64_t free_min,
                                                    struct err *err);
void rest_restore_spool__free(struct rest_restore_spool *s); /* NULL is fine */

/* The next bytes of the backup. */
ATTR_NODISCARD enum err_code rest_restore_spool__append(struct rest_restore_spool *s,
                                                        struct str bytes, struct err *err);
/* There are no more: is it a backup? */
ATTR_NODISCARD enum err_code rest_restore_spool__end(struct rest_restore_spool *s, struct err *err);
const struct backup_verify *rest_restore_spool__report(const struct rest_restore_spool *s);

struct rest_restore_element {
    bool end; /* there are no more */
    enum rest_restore_what what;
    const char *list; /* its name */
    uint64_t index;   /* in it */
    struct str text;  /* valid until the next call */
};

/* Begin to read elements, from the first on; of the jobs alone, or of all lists in the order in
 * which they are restored. */
void rest_restore_spool__rewind(struct rest_restore_spool *s, bool only_jobs);
ATTR_NODISCARD enum err_code rest_restore_spool__next(struct rest_restore_spool *s,
                                                      struct rest_restore_element *out,
                                                      struct err *err);
