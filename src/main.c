/*
 * Picks what to run: the server, or a command.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "server/server.h"

extern char **environ;

static const char usage[] = "corvo: a background-job server\n\n"
                            "usage:\n"
                            "  corvo server [--help] [settings]   run the server\n"
                            "  corvo --help                       this text\n";

int main(int argc, char **argv)
{
    if (argc >= 2 && strcmp(argv[1], "server") == 0) {
        return server_main(argc - 2, argv + 2, environ);
    }
    bool asked = argc >= 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
    (void)fputs(usage, asked ? stdout : stderr);
    return asked ? 0 : 2;
}
