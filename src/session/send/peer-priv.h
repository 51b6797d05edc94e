/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_SEND_PEER_PRIV_H
#define SESSION_SEND_PEER_PRIV_H

/* Whom events are sent to: a connection that is made again when it breaks, or a file. Nothing here waits, but for the
 * host's name before anything begins. */

#include "base/diag.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct send_peer {
	const char *name; /* borrowed */
	int fd;           /* -1: there is none now */
	bool is_framed, is_socket, is_connecting, was_told;
	struct sockaddr_storage address;
	socklen_t address_bytes;
	uint64_t next_ns; /* when to try again */
};

void peer_init(struct send_peer *peer);
int peer_open(struct send_peer *peer, const char *to, struct asterism_diag *diag);
void peer_fini(struct send_peer *peer);

/* Whether it is there; tries to get it where it is not. */
bool peer_step(struct send_peer *peer, struct asterism_diag *diag);

/* Returns how many bytes were taken, 0 where it takes none now; -errno: it is gone. */
int64_t peer_write(struct send_peer *peer, const char *bytes, size_t length, struct asterism_diag *diag);

/* Until something can be written, so many ms at most. */
void peer_wait(const struct send_peer *peer, int wait_ms);

#endif
