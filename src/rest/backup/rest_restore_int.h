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

/* Create the file. free_min is the space that must stay free on the disk. NULL, with err, on
 * failure. */
struct rest_restore_spool *rest_restore_spool__open(const char *dir, uint64_t free_min,
                                                    struct err *err);
void rest_restore_spool__free(struct rest_restore_spool *s); /* NULL is allowed */

/* Append and check the next bytes of the backup. */
ATTR_NODISCARD enum err_code rest_restore_spool__append(struct rest_restore_spool *s,
                                                        struct str bytes, struct err *err);
/* Call after the last bytes. Fails if they are not a complete backup. */
ATTR_NODISCARD enum err_code rest_restore_spool__end(struct rest_restore_spool *s, struct err *err);
const struct backup_verify *rest_restore_spool__report(const struct rest_restore_spool *s);

struct rest_restore_element {
    bool end; /* end of the elements; the other members are unset */
    enum rest_restore_what what;
    const char *list; /* name of its list */
    uint64_t index;   /* position in the list */
    struct str text;  /* valid until the next call */
};

/* Start reading from the first element: of the jobs only, or of all lists in the order of a
 * restore. */
void rest_restore_spool__rewind(struct rest_restore_spool *s, bool only_jobs);
ATTR_NODISCARD enum err_code rest_restore_spool__next(struct rest_restore_spool *s,
                                                      struct rest_restore_element *out,
                                                      struct err *err);
