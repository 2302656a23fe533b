/*
 * Os_socket: options of listening TCP sockets; accepted connections inherit them.
 */
#pragma once

/* Detect after a minute that a peer has disappeared without closing its connection. Connections
 * that wait for their client, or for data to send to it, have no other timeout. */
void os_socket_watch_peers(int fd);

/* The same for a peer that does not accept the bytes sent to it. */
void os_socket_limit_unread(int fd);
