#include <fcntl.h>
#include <stdlib.h>

#include "base/check.h"
#include "os/os_file.h"
#include "rest/backup/rest_restore_int.h"

enum { BLOCK_BYTES = 256 << 10 };

/* The lists of a backup, in the order in which they are restored: limits of queues hold before
 * there are jobs, reports of jobs are added to sums, and schedules fire into queues that are
 * complete. */
static const struct {
    const char *key;
    enum rest_restore_what what;
} lists[] = {
    {"queues", REST_RESTORE_QUEUE},
    {"batches", REST_RESTORE_BATCH},
    {"usage_sums", REST_RESTORE_SUM},
    {"jobs", REST_RESTORE_JOB},
    {"schedules", REST_RESTORE_SCHEDULE},
    {"webhooks", REST_RESTORE_WEBHOOK},
    {"approval_policies", REST_RESTORE_POLICY},
    {"budgets", REST_RESTORE_BUDGET},
};

struct rest_restore_spool {
    int fd;
    uint64_t size;
    uint64_t free_min;
    struct os_file_path dir;
    struct backup_reader reader;
    struct backup_verify report;
    uint64_t begins[COUNT_OF(lists)]; /* offset of the elements of each list; 0: no such list */

    /* reading back */
    bool only_jobs;
    bool open;   /* inside a list */
    size_t list; /* current list */
    uint64_t read_to;
    struct str in; /* unread rest of the block */
    char block[BLOCK_BYTES];
};

struct rest_restore_spool *rest_restore_spool__open(const char *dir, uint64_t free_min,
                                                    struct err *err)
{
    struct os_file_path path = os_file_join(dir, "restore.part");
    int fd;
    if (os_file_open(path.z, O_RDWR | O_CREAT | O_TRUNC, &fd, err) != ERR_OK) {
        return NULL;
    }
    os_file_discard(path.z);
    struct rest_restore_spool *s = calloc(1, sizeof *s);
    CHECK(s != NULL);
    s->fd = fd;
    s->free_min = free_min;
    s->dir = os_file_join(dir, ".");
    backup_reader_init(&s->reader, BACKUP_VERIFY_TEXT_BYTES);
    backup_verify_begin(&s->report);
    return s;
}

void rest_restore_spool__free(struct rest_restore_spool *s)
{
    if (s != NULL) {
        os_file_close(s->fd);
        backup_reader_deinit(&s->reader);
        free(s);
    }
}

/* Check that the backup leaves the space that other writes need. */
static enum err_code check_space(const struct rest_restore_spool *s, size_t len, struct err *err)
{
    uint64_t free_bytes;
    if (os_file_free_bytes(s->dir.z, &free_bytes, err) != ERR_OK) {
        return err->code;
    }
    return free_bytes >= s->free_min + len
               ? ERR_OK
               : err_set(err, ERR_NO_SPACE,
                         "not enough disk space for the backup: %llu bytes arrived, %llu are free",
                         (unsigned long long)s->size, (unsigned long long)free_bytes);
}

static void note_list(struct rest_restore_spool *s)
{
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        if (backup_reader_is_key(&s->reader, str_from_z(lists[i].key))) {
            s->begins[i] = s->reader.at;
        }
    }
}

enum err_code rest_restore_spool__append(struct rest_restore_spool *s, struct str bytes,
                                         struct err *err)
{
    struct iovec iov = {.iov_base = (void *)(uintptr_t)bytes.ptr, .iov_len = bytes.len};
    enum backup_reader_event event = BACKUP_READER_LIST_END;
    if (check_space(s, bytes.len, err) != ERR_OK ||
        os_file_write_at(s->fd, &iov, 1, s->size, err) != ERR_OK) {
        return err->code;
    }
    s->size += bytes.len;
    while (event != BACKUP_READER_MORE) {
        event = backup_reader_next(&s->reader, &bytes, err);
        if (backup_verify_event(&s->report, &s->reader, event, err) != ERR_OK) {
            return err->code;
        }
        if (event == BACKUP_READER_LIST) {
            note_list(s);
        }
    }
    return ERR_OK;
}

enum err_code rest_restore_spool__end(struct rest_restore_spool *s, struct err *err)
{
    return backup_verify_end(&s->report, &s->reader, err);
}

const struct backup_verify *rest_restore_spool__report(const struct rest_restore_spool *s)
{
    return &s->report;
}

/* Reading back */

void rest_restore_spool__rewind(struct rest_restore_spool *s, bool only_jobs)
{
    s->only_jobs = only_jobs;
    s->open = false;
    s->list = 0;
}

static void open_list(struct rest_restore_spool *s)
{
    backup_reader_deinit(&s->reader);
    backup_reader_init(&s->reader, BACKUP_VERIFY_TEXT_BYTES);
    backup_reader_enter_list(&s->reader);
    s->read_to = s->begins[s->list];
    s->in = STR_EMPTY;
    s->open = true;
}

static enum err_code read_block(struct rest_restore_spool *s, struct err *err)
{
    size_t n;
    if (os_file_read_at(s->fd, s->block, sizeof s->block, s->read_to, &n, err) != ERR_OK) {
        return err->code;
    }
    if (n == 0) {
        return err_set(err, ERR_IO, "the copy of the backup in the data directory is incomplete");
    }
    s->read_to += n;
    s->in = str_from(s->block, n);
    return ERR_OK;
}

/* Read the next element of the open list. At its end, s->open becomes false. */
static enum err_code next_of_list(struct rest_restore_spool *s, struct err *err)
{
    for (;;) {
        switch (backup_reader_next(&s->reader, &s->in, err)) {
        case BACKUP_READER_ELEMENT:
            return ERR_OK;
        case BACKUP_READER_LIST_END:
            s->open = false;
            return ERR_OK;
        case BACKUP_READER_MORE:
            if (read_block(s, err) != ERR_OK) {
                return err->code;
            }
            break;
        case BACKUP_READER_ERROR: /* it was valid before, so the file is damaged */
        case BACKUP_READER_MEMBER:
        case BACKUP_READER_LIST:
            return err_set(err, ERR_IO, "the copy of the backup in the data directory is damaged");
        }
    }
}

enum err_code rest_restore_spool__next(struct rest_restore_spool *s,
                                       struct rest_restore_element *out, struct err *err)
{
    for (; s->list < COUNT_OF(lists); s->list++) {
        bool meant = !s->only_jobs || lists[s->list].what == REST_RESTORE_JOB;
        if (!s->open && (!meant || s->begins[s->list] == 0)) {
            continue;
        }
        if (!s->open) {
            open_list(s);
        }
        if (next_of_list(s, err) != ERR_OK) {
            return err->code;
        }
        if (s->open) {
            *out = (struct rest_restore_element){.what = lists[s->list].what,
                                                 .list = lists[s->list].key,
                                                 .index = s->reader.index,
                                                 .text = buf_str(&s->reader.text)};
            return ERR_OK;
        }
    }
    *out = (struct rest_restore_element){.end = true};
    return ERR_OK;
}
