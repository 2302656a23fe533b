#include "server/server_dir.h"

#include "os/os_file.h"

/* Servers of earlier versions lock only this folder. */
static enum err_code try_log(const char *data_dir, struct err *err)
{
    struct os_file_path raft = os_file_join(data_dir, "raft");
    int lock = -1;
    enum err_code code = os_file_lock_dir(raft.z, &lock, err);
    os_file_close(lock);
    return code == ERR_NOT_FOUND ? ERR_OK : code;
}

enum err_code server_dir_take(const char *data_dir, int *out_lock, struct err *err)
{
    ATTR_CLEANUP(os_file_closep) int lock = -1;
    if (os_file_make_dirs(data_dir, err) != ERR_OK ||
        os_file_lock_dir(data_dir, &lock, err) != ERR_OK || try_log(data_dir, err) != ERR_OK) {
        return err->code == ERR_CONFLICT
                   ? err_set(err, ERR_CONFLICT, "another process uses the data directory '%s'",
                             data_dir)
                   : err->code;
    }
    *out_lock = lock;
    lock = -1;
    return ERR_OK;
}
