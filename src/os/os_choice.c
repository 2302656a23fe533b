#include "os/os_choice.h"

#include <stdio.h>
#include <string.h>

static struct os_file_path choice_path(const char *dir, const char *name)
{
    char file[OS_FILE_NAME_MAX + 1];
    (void)snprintf(file, sizeof file, "%s.choice", name);
    return os_file_join(dir, file);
}

bool os_choice_is_part(const char *name, const char *entry)
{
    size_t len = strlen(name);
    return strncmp(entry, name, len) == 0 && entry[len] == '.';
}

struct os_file_path os_choice_read(const char *dir, const char *name)
{
    char chosen[OS_FILE_NAME_MAX + 1] = "";
    struct os_file_path file = choice_path(dir, name);
    struct os_file_info info;
    struct buf bytes;
    struct err err;
    buf_init(&bytes, sizeof chosen - 1);
    if (os_file_read(file.z, &bytes, &err) == ERR_OK && bytes.len > 0) {
        memcpy(chosen, bytes.ptr, bytes.len);
    }
    buf_deinit(&bytes);
    /* Accept only a part of this choice, in this folder. */
    if (os_choice_is_part(name, chosen) && strchr(chosen, '/') == NULL) {
        struct os_file_path path = os_file_join(dir, chosen);
        if (os_file_stat(path.z, &info, &err) == ERR_OK && info.is_dir) {
            return path;
        }
    }
    return os_file_join(dir, name);
}

enum err_code os_choice_write(const char *dir, const char *name, const char *chosen,
                              struct err *err)
{
    struct os_file_path file = choice_path(dir, name);
    if (os_file_replace(file.z, str_from_z(chosen), err) != ERR_OK) {
        return err->code;
    }
    return os_file_flush_dir(dir, err);
}
