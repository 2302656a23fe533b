/*
 * Input besides the arguments: files, standard input, and confirmations.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/check.h"
#include "cli/cli_int.h"
#include "os/os_file.h"

enum { CHUNK_BYTES = 64 * 1024, ANSWER_BYTES_MAX = 64 };

int cli_read_file(struct cli *cli, struct str path, struct str *out)
{
    struct buf bytes;
    struct err err;
    const char *z = arena_strz(cli->arena, path);
    CHECK(z != NULL);
    if (str_eq(path, STR("-"))) {
        return cli_read_stdin(cli, out);
    }
    buf_init(&bytes, CLI_INPUT_BYTES);
    enum err_code code = os_file_read(z, &bytes, &err);
    *out = arena_str(cli->arena, buf_str(&bytes));
    buf_deinit(&bytes);
    return code == ERR_OK ? CLI_OK : cli_fail(cli, "%s", err.msg);
}

/* Check that files can be created in the directory of the path. */
static int check_directory(struct cli *cli, struct str path)
{
    const char *slash = memrchr(path.ptr, '/', path.len);
    size_t len = slash == NULL ? 0 : (size_t)(slash - path.ptr);
    struct str dir = slash == NULL ? STR(".") : len == 0 ? STR("/") : str_from(path.ptr, len);
    const char *z = arena_strz(cli->arena, dir);
    CHECK(z != NULL);
    struct err err;
    if (access(z, W_OK | X_OK) == 0) {
        return CLI_OK;
    }
    (void)err_from_errno(&err, z);
    return cli_fail(cli, "cannot write '" STR_FMT "': %s", STR_ARG(path), err.msg);
}

int cli_target(struct cli *cli, struct str path, const char **out_path, bool *out_special)
{
    enum { SUFFIX_BYTES = 8 }; /* of the name of the temporary file */
    struct os_file_info info = {0};
    struct err err;
    if (path.len == 0 || path.len + SUFFIX_BYTES >= OS_FILE_PATH_MAX) {
        return cli_fail(cli, "a file name must have 1 to %d bytes",
                        OS_FILE_PATH_MAX - SUFFIX_BYTES - 1);
    }
    *out_path = arena_strz(cli->arena, path);
    CHECK(*out_path != NULL);
    bool exists = os_file_stat(*out_path, &info, &err) == ERR_OK;
    *out_special = exists && !info.is_regular;
    if (info.is_dir) {
        return cli_fail(cli, "'" STR_FMT "' is a directory", STR_ARG(path));
    }
    return *out_special ? CLI_OK : check_directory(cli, path);
}

/* Write directly: a rename would replace a device or a pipe with a file. */
static int write_through(struct cli *cli, const char *path, struct str bytes)
{
    FILE *to = fopen(path, "we");
    bool good = to != NULL && fwrite(bytes.ptr, 1, bytes.len, to) == bytes.len;
    good = to != NULL && fclose(to) == 0 && good;
    return good ? CLI_OK : cli_fail(cli, "cannot write '%s'", path);
}

int cli_write_file(struct cli *cli, struct str path, struct str bytes)
{
    const char *z = NULL;
    bool special = false;
    struct err err;
    int code = cli_target(cli, path, &z, &special);
    if (code != CLI_OK) {
        return code;
    }
    if (special) {
        return write_through(cli, z, bytes);
    }
    return os_file_replace(z, bytes, &err) == ERR_OK ? CLI_OK : cli_fail(cli, "%s", err.msg);
}

/* Read from standard input or until a signal. Returns the number of bytes, 0 at the end of the
 * input, -1 after a failure, which has been printed, and -2 after a signal. */
static ssize_t read_some(struct cli *cli, char *room, size_t size)
{
    struct pollfd fds[2] = {{.fd = STDIN_FILENO, .events = POLLIN},
                            {.fd = cli->signal_fd, .events = POLLIN}};
    while (poll(fds, cli->signal_fd >= 0 ? 2 : 1, -1) < 0) {
        if (errno != EINTR) {
            break;
        }
    }
    if (fds[1].revents != 0) {
        return -2;
    }
    ssize_t n = read(STDIN_FILENO, room, size);
    if (n < 0) {
        (void)cli_fail(cli, "cannot read standard input");
    }
    return n < 0 ? -1 : n;
}

int cli_read_stdin(struct cli *cli, struct str *out)
{
    struct buf bytes;
    ssize_t n = 1;
    buf_init(&bytes, CLI_INPUT_BYTES);
    while (n > 0) {
        char *room = buf_reserve(&bytes, CHUNK_BYTES);
        if (room == NULL) {
            buf_deinit(&bytes);
            return cli_fail(cli, "standard input is larger than %d bytes", CLI_INPUT_BYTES);
        }
        n = read_some(cli, room, CHUNK_BYTES);
        bytes.len += n > 0 ? (size_t)n : 0;
    }
    *out = arena_str(cli->arena, buf_str(&bytes));
    buf_deinit(&bytes);
    if (n == -2) {
        return cli_interrupted(cli);
    }
    return n == 0 ? CLI_OK : CLI_FAILED;
}

int cli_spool_stdin(struct cli *cli, int *out_fd)
{
    char *bytes = malloc(CHUNK_BYTES);
    struct iovec piece = {.iov_base = bytes};
    FILE *file = tmpfile();
    uint64_t size = 0;
    ssize_t n = 1;
    struct err err = {0};
    CHECK(bytes != NULL);
    if (file == NULL) {
        free(bytes);
        return cli_fail(cli, "cannot create a temporary file for standard input");
    }
    while (n > 0 && err.code == ERR_OK) {
        n = read_some(cli, bytes, CHUNK_BYTES);
        piece.iov_len = n > 0 ? (size_t)n : 0;
        if (os_file_write_at(fileno(file), &piece, 1, size, &err) == ERR_OK) {
            size += piece.iov_len;
        }
    }
    *out_fd = n == 0 && err.code == ERR_OK ? dup(fileno(file)) : -1;
    (void)fclose(file);
    free(bytes);
    if (n == -2) {
        return cli_interrupted(cli);
    }
    if (err.code != ERR_OK) {
        return cli_fail(cli, "%s", err.msg);
    }
    return *out_fd >= 0 ? CLI_OK : CLI_FAILED;
}

bool cli_confirmed(struct cli *cli, bool if_silent, const char *question, int *out_code)
{
    char line[ANSWER_BYTES_MAX];
    *out_code = CLI_FAILED;
    if (cli_bool(cli, "yes")) {
        return true;
    }
    if (!cli->in_is_terminal || !cli->err_is_terminal) {
        if (!if_silent) {
            (void)fputs("Error: ", cli->err);
            cli_print_pattern(cli, cli->err, question, STR_EMPTY);
            cli_note(cli, " Use --yes to confirm.\n");
        }
        return if_silent;
    }
    cli_print_pattern(cli, cli->err, question, STR_EMPTY);
    cli_note(cli, " [y/N] ");
    ssize_t n = read_some(cli, line, sizeof line);
    if (n == -2) {
        *out_code = cli_interrupted(cli);
        return false;
    }
    struct str answer = str_trim(str_from(line, n > 0 ? (size_t)n : 0));
    if (str_eq_nocase(answer, STR("y")) || str_eq_nocase(answer, STR("yes"))) {
        return true;
    }
    cli_note(cli, "Nothing was changed.\n");
    return false;
}
