/*
 * Os_socket: options of TCP sockets that listen; those that are accepted inherit them.
 */
#pragma once

/* A host that vanishes without a word is noticed after a minute: what waits for its client, or for
 * something to tell it, has no other time-out. */
void os_socket_watch_peers(int fd);

/* So are bytes that it does not take. */
void os_socket_limit_unread(int fd);
