/*
 * Server: the composition root: settings in, a running server out.
 *
 * Start order: settings, log, engine (which replays and waits until it may take writes), view, API,
 * HTTP.
 * Stop order, on SIGTERM or SIGINT, is the reverse: stop accepting, let requests finish for
 * shutdown-timeout, stop the engine, exit 0. A second signal ends the process at once; SIGHUP reads
 * the TLS files again.
 */
#pragma once

/* Run until a signal says stop. Returns the exit code of the process. */
int server_main(int argc, char **argv, char **environment);
