/*
 * Os_choice: replaces a folder while the old one is in use.
 *
 *   <dir>/<name>          the folder, unless
 *   <dir>/<name>.choice   contains the name of another one that exists:
 *   <dir>/<name>.<n>
 *
 * If a folder cannot be renamed while it is in use, write the new one next to it and choose that; a
 * later start renames it to the usual name.
 */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "base/err.h"
#include "os/os_file.h"

/* Return the folder in use. */
struct os_file_path os_choice_read(const char *dir, const char *name);

/* Choose <dir>/<chosen>; chosen begins with name and a dot. Durable on return. */
ATTR_NODISCARD enum err_code os_choice_write(const char *dir, const char *name, const char *chosen,
                                             struct err *err);

/* Does this entry of dir belong to the choice: another folder, or the choice file? */
bool os_choice_is_part(const char *name, const char *entry);
