// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides whose descriptors get among the directory's own: none but memfds. To close one of a file system that a
 * process serves (FUSE) waits for that process, for ever if it likes, and cannot be killed. So what came is looked at
 * by a process beside the directory's, which passes on what is a memfd, and has nothing else open should it have to
 * wait with the rest. There are few of them: where all wait, nothing is handed over any more.
 */

#include "sensor/directory-priv.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_MS = 200 };

static bool are_memfds(const struct sensor_packet *packet)
{
	for (uint32_t i = 0; i < packet->fd_count; i++) {
		if (fcntl(packet->fds[i], F_GET_SEALS) < 0)
			return false;
	}
	return true;
}

/* Other threads of the directory's process may have held any lock: nothing but system calls here. */
static _Noreturn void pass_on(struct sensor_packet *packet, int from, int to)
{
	int own_from = fcntl(from, F_DUPFD, 3), own_to = fcntl(to, F_DUPFD, 3);

	dup2(own_from, 0);
	dup2(own_to, 1);
	syscall(SYS_close_range, 2, ~0U, 0);
	if (sensor_packet_receive(0, packet) == 1 && are_memfds(packet)) {
		struct sensor_sending sending = { .message = packet->is.bytes,
						  .bytes = packet->length,
						  .fd_count = packet->fd_count };

		for (uint32_t i = 0; i < packet->fd_count; i++)
			sending.fds[i] = packet->fds[i];
		sensor_packet_send(1, &sending);
	}
	shutdown(1, SHUT_WR);
	_exit(0);
}

/* A place for a process; those that have ended give way. NULL: all wait. */
static int *find_place(struct sensor_directory *directory)
{
	for (size_t i = 0; i < SENSOR_PASSERS_MAX; i++) {
		int *pid = &directory->passers[i];

		if (!*pid || waitpid(*pid, NULL, WNOHANG | __WCLONE) != 0) {
			*pid = 0;
			return pid;
		}
	}
	return NULL;
}

static int receive_beside(struct sensor_directory *directory, int fd)
{
	int *pid = find_place(directory), pair[2], result;
	struct pollfd ready = { .events = POLLIN };

	if (!pid)
		return -EBADMSG;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	*pid = (int)syscall(SYS_clone, 0, NULL, NULL, NULL, NULL); /* without a signal at its end */
	if (*pid == 0)
		pass_on(&directory->packet, fd, pair[1]);
	close(pair[1]);
	ready.fd = pair[0];
	result = *pid > 0 && poll(&ready, 1, PATIENCE_MS) == 1 ? sensor_packet_receive(pair[0], &directory->packet) : 0;
	close(pair[0]);
	if (*pid < 0)
		*pid = 0;
	else if (result != 1)
		kill(*pid, SIGKILL);
	return result == 1 || result == -EMFILE ? result : -EBADMSG;
}

int sensor_hand_over_receive(struct sensor_directory *directory, const struct sensor_client *client)
{
	struct sensor_message head = { 0 };
	struct iovec part = { &head, sizeof head };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	if (recvmsg(client->fd, &message, MSG_PEEK | MSG_DONTWAIT) < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -EPIPE;
	if (!(message.msg_flags & MSG_CTRUNC))
		return sensor_packet_receive(client->fd, &directory->packet);
	if (head.kind != SENSOR_REGISTER || client->process || client->progress)
		return -EBADMSG; /* what was never taken is closed by the kernel, without a wait */
	return receive_beside(directory, client->fd);
}
