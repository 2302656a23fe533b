#include "os/os_zone.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#include "os/os_file.h"

enum { NAME_MAX_BYTES = 64 };

static const char zone_folder[] = "/usr/share/zoneinfo";

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '+' || c == '-';
}

/* Letters, digits and _+-, separated by single slashes. Names of zones begin with a capital
 * letter; other files in the folder ("localtime", "posix/…", "zone.tab") do not. */
static bool is_zone_name(struct str name)
{
    if (name.len == 0 || name.len > NAME_MAX_BYTES || name.ptr[0] < 'A' || name.ptr[0] > 'Z') {
        return false;
    }
    for (size_t i = 0; i < name.len; i++) {
        bool slash = name.ptr[i] == '/' && name.ptr[i - 1] != '/' && i + 1 < name.len;
        if (!slash && !is_name_char(name.ptr[i])) {
            return false;
        }
    }
    return true;
}

static enum err_code refuse(struct str name, struct err *err)
{
    name.len = name.len > NAME_MAX_BYTES ? NAME_MAX_BYTES : name.len;
    return err_set(err, ERR_VALIDATION, "time zone '" STR_FMT "' is not known", STR_ARG(name));
}

enum err_code os_zone_read(struct str name, struct buf *out, struct err *err)
{
    char path[sizeof zone_folder + 1 + NAME_MAX_BYTES];
    struct os_file_info info;
    if (!is_zone_name(name)) {
        return refuse(name, err);
    }
    (void)snprintf(path, sizeof path, "%s/" STR_FMT, zone_folder, STR_ARG(name));
    enum err_code code = os_file_stat(path, &info, err);
    /* In "Europe/Berlin/Mitte", a component is a file. */
    if (code == ERR_NOT_FOUND || (code != ERR_OK && err->sys == ENOTDIR)) {
        return refuse(name, err);
    }
    if (code != ERR_OK) {
        return code;
    }
    return info.is_dir ? refuse(name, err) : os_file_read(path, out, err);
}
