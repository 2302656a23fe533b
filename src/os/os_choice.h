/*
 * Os_choice: one folder that takes another's place while the other is in use.
 *
 *   <dir>/<name>          the folder, unless
 *   <dir>/<name>.choice   names another, that exists:
 *   <dir>/<name>.<n>
 *
 * Who may not rename a folder under its user writes the new one beside it, chooses it, and lets a
 * later start give it the usual name.
 */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "base/err.h"
#include "os/os_file.h"

/* The folder that counts. */
struct os_file_path os_choice_read(const char *dir, const char *name);

/* From now on it is <dir>/<chosen>, which begins with the name and a dot; durable on return. */
ATTR_NODISCARD enum err_code os_choice_write(const char *dir, const char *name, const char *chosen,
                                             struct err *err);

/* Does this name in dir belong to a choice: one of the others, or the file? */
bool os_choice_is_part(const char *name, const char *entry);
