// SPDX-License-Identifier: BSD-2-Clause
/* Connects to a peer, and tries again when it is gone. */

#include "session/send/peer-priv.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define AGAIN_NS UINT64_C(500000000)

void peer_init(struct send_peer *peer)
{
	*peer = (struct send_peer){ .fd = -1 };
}

void peer_fini(struct send_peer *peer)
{
	if (peer->fd >= 0)
		close(peer->fd);
}

static int find_host(struct send_peer *peer, const char *text, struct asterism_diag *diag)
{
	const struct addrinfo wanted = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
	const char *colon = strrchr(text, ':');
	struct addrinfo *found;
	char host[256];
	int result;

	if (!colon || colon == text || !colon[1] || (size_t)(colon - text) >= sizeof host)
		return diag_error(diag, NULL, -EINVAL,
				  "invalid address to send to: '%s' (use one like tcp:192.0.2.1:9000)", peer->name);
	snprintf(host, sizeof host, "%.*s", (int)(colon - text), text);
	if (*host == '[' && host[strlen(host) - 1] == ']') {
		memmove(host, host + 1, strlen(host));
		host[strlen(host) - 1] = 0;
	}
	result = getaddrinfo(host, colon + 1, &wanted, &found);
	if (result)
		return diag_error(diag, NULL, -EINVAL, "%s: %s", peer->name, gai_strerror(result));
	memcpy(&peer->address, found->ai_addr, found->ai_addrlen);
	peer->address_bytes = found->ai_addrlen;
	freeaddrinfo(found);
	peer->is_socket = true;
	return 0;
}

static int open_peer_file(struct send_peer *peer, const char *path, struct asterism_diag *diag)
{
	struct termios settings;

	/* A fifo without a reader is opened, too; it takes what fits. */
	peer->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, 0600);
	if (peer->fd < 0)
		return diag_error(diag, NULL, -EINVAL, "cannot write %s: %s", path, strerror(errno));
	if (tcgetattr(peer->fd, &settings) == 0) {
		cfmakeraw(&settings);
		tcsetattr(peer->fd, TCSANOW, &settings);
	}
	return 0;
}

int peer_open(struct send_peer *peer, const char *to, struct asterism_diag *diag)
{
	peer->name = to;
	if (strncmp(to, "tcp:", 4) == 0)
		return find_host(peer, to + 4, diag);
	peer->is_framed = strncmp(to, "serial:", 7) == 0;
	return open_peer_file(peer, peer->is_framed ? to + 7 : to, diag);
}

static void disconnect_peer(struct send_peer *peer, int error, struct asterism_diag *diag)
{
	close(peer->fd);
	peer->fd = -1;
	peer->is_connecting = false;
	peer->next_ns = clock_now_ns() + AGAIN_NS;
	if (!peer->was_told)
		diag_add(diag, ASTERISM_WARNING, NULL,
			 peer->is_socket ? "asterism retries twice a second and counts what is missed"
					 : "nothing more will be sent there",
			 "%s does not accept events: %s", peer->name, strerror(error));
	peer->was_told = true;
}

static void connect_to_peer(struct send_peer *peer, struct asterism_diag *diag)
{
	peer->fd = socket(peer->address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (peer->fd < 0)
		return;
	peer->is_connecting = true;
	if (connect(peer->fd, (const struct sockaddr *)&peer->address, peer->address_bytes) && errno != EINPROGRESS)
		disconnect_peer(peer, errno, diag);
}

bool peer_step(struct send_peer *peer, struct asterism_diag *diag)
{
	struct pollfd fd = { .fd = peer->fd, .events = POLLOUT };
	socklen_t length = sizeof(int);
	int error = 0;

	if (peer->fd < 0 && peer->is_socket && clock_now_ns() >= peer->next_ns)
		connect_to_peer(peer, diag);
	if (peer->fd < 0 || !peer->is_connecting)
		return peer->fd >= 0;
	fd.fd = peer->fd;
	if (poll(&fd, 1, 0) <= 0)
		return false;
	if (getsockopt(peer->fd, SOL_SOCKET, SO_ERROR, &error, &length) || error) {
		disconnect_peer(peer, error ? error : errno, diag);
		return false;
	}
	peer->is_connecting = false;
	if (peer->was_told)
		diag_add(diag, ASTERISM_NOTE, NULL, NULL, "%s accepts events again", peer->name);
	peer->was_told = false;
	return true;
}

int64_t peer_write(struct send_peer *peer, const char *bytes, size_t length, struct asterism_diag *diag)
{
	ssize_t count = peer->is_socket ? send(peer->fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT)
					: write(peer->fd, bytes, length);

	if (count >= 0)
		return count;
	if (errno == EAGAIN || errno == EINTR)
		return 0;
	int error = errno;

	disconnect_peer(peer, error, diag);
	return -error;
}

void peer_wait(const struct send_peer *peer, int wait_ms)
{
	struct pollfd fd = { .fd = peer->fd, .events = POLLOUT };

	poll(&fd, 1, wait_ms);
}
