// SPDX-License-Identifier: BSD-2-Clause
/*
 * Takes descriptors that are handed over, of which none but memfds get among the registry's own. To close one of a file
 * system that a process serves (FUSE) waits for that process, for ever if it likes, and cannot be killed. So what came
 * is taken by a process beside the directory's, the passer, which passes on what is a memfd and has nothing else open
 * should it have to wait with the rest. It is started for the first that is handed over, takes one after the other, and
 * ends when nothing has come for a while: a directory that begins again gets all at once. The directory never waits for
 * it.
 *
 * The passer says of each: the packet, or NO, and after NO, when what came is closed, DONE. One that has not said that
 * when the next comes is left alone, and another takes its place; it is its sender's account until it ends.
 */

#include "sensor/directory-priv.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { IDLE_MS = 5000, PATIENCE_S = 2, INNOCENT = -1 };

/* Kinds that no client sends on this socket. */
enum { NO = SENSOR_KINDS, DONE, NEXT };

static void say_to_passer(int fd, uint32_t kind, int with)
{
	struct sensor_message head = { kind, SENSOR_PROTOCOL_VERSION };
	struct sensor_sending sending = {
		.message = &head, .bytes = sizeof head, .fds = { with }, .fd_count = with >= 0
	};

	sensor_packet_send(fd, &sending);
}

static bool are_memfds(const struct sensor_packet *packet)
{
	for (uint32_t i = 0; i < packet->fd_count; i++) {
		if (fcntl(packet->fds[i], F_GET_SEALS) < 0)
			return false;
	}
	return true;
}

static void pass_one(struct sensor_packet *packet, int from, int to)
{
	if (sensor_packet_receive(from, packet) != 1) {
		say_to_passer(to, NO, -1);
	} else if (are_memfds(packet)) {
		struct sensor_sending sending = { .message = packet->is.bytes,
						  .bytes = packet->length,
						  .fd_count = packet->fd_count };

		for (uint32_t i = 0; i < packet->fd_count; i++)
			sending.fds[i] = packet->fds[i];
		sensor_packet_send(to, &sending);
		sensor_packet_close(packet);
		return;
	} else {
		say_to_passer(to, NO, -1);
	}
	sensor_packet_close(packet);
	say_to_passer(to, DONE, -1);
}

/* Other threads of the directory's process may have held any lock: nothing but system calls here. */
static _Noreturn void pass_on(struct sensor_packet *packet, int fd)
{
	struct pollfd ready = { .fd = 0, .events = POLLIN };

	dup2(fd, 0);
	syscall(SYS_close_range, 1, ~0U, 0);
	while (poll(&ready, 1, IDLE_MS) > 0 && sensor_packet_receive(0, packet) == 1) {
		int client = packet->fd_count ? packet->fds[0] : -1;

		pass_one(packet, client, 0);
		close(client);
	}
	_exit(0);
}

/* Those that have ended are forgotten. Returns how many of them uid has to answer for, or a place for another. */
static uint32_t look_after_left(struct sensor_passers *passers, uint32_t uid, struct sensor_left_passer **place)
{
	uint32_t count = 0;

	for (size_t i = 0; i < SENSOR_PASSERS_LEFT_MAX; i++) {
		struct sensor_left_passer *left = &passers->left[i];

		if (left->pid && waitpid(left->pid, NULL, WNOHANG | __WCLONE) != 0)
			left->pid = 0;
		if (!left->pid)
			*place = left;
		count += left->pid && left->uid == uid;
	}
	return count;
}

static void wake(struct sensor_directory *directory, const struct sensor_passing *passing)
{
	struct sensor_client *client = &directory->clients[passing->client];

	if (client->number != passing->number || !client->is_passing)
		return;
	client->is_passing = false;
	sensor_wait_add(directory, client->fd, SENSOR_TAG_CLIENT + passing->client);
}

/* There is no passer any more; those that waited for it are for the next one. */
static void leave_passers(struct sensor_directory *directory, uint32_t uid)
{
	struct sensor_passers *passers = &directory->passers;
	struct sensor_left_passer *place = NULL;

	if (!passers->pid)
		return;
	look_after_left(passers, 0, &place);
	close(passers->fd);
	if (place && waitpid(passers->pid, NULL, WNOHANG | __WCLONE) == 0)
		*place = (struct sensor_left_passer){ .pid = passers->pid, .uid = uid };
	while (passers->first != passers->last)
		wake(directory, &passers->queue[passers->first++ % SENSOR_CLIENTS_MAX]);
	passers->pid = 0;
	passers->is_closing = false;
}

static int start_passer(struct sensor_directory *directory)
{
	struct sensor_passers *passers = &directory->passers;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	passers->pid = (int)syscall(SYS_clone, 0, NULL, NULL, NULL, NULL); /* without a signal at its end */
	if (passers->pid == 0)
		pass_on(&directory->packet, pair[1]);
	close(pair[1]);
	if (passers->pid < 0) {
		passers->pid = 0;
		close(pair[0]);
		return -EAGAIN;
	}
	passers->fd = pair[0];
	passers->waited_s = 0;
	return sensor_wait_add(directory, pair[0], SENSOR_TAG_PASSER);
}

/* What this client sends next is taken by the passer. Returns 0, or a refusal. */
static int hand_on(struct sensor_directory *directory, struct sensor_client *client)
{
	struct sensor_passers *passers = &directory->passers;
	struct sensor_left_passer *place = NULL;
	int result;

	if (passers->is_closing)
		leave_passers(directory, passers->uid);
	if (look_after_left(passers, client->uid, &place) || !place)
		return sensor_leave_out(directory, client, -EBUSY,
					"cannot close the shared memory that was handed over before");
	result = passers->pid ? 0 : start_passer(directory);
	if (result)
		return sensor_leave_out(directory, client, result, "no process accepts the shared memory");
	say_to_passer(passers->fd, NEXT, client->fd);
	epoll_ctl(directory->epoll_fd, EPOLL_CTL_DEL, client->fd, NULL);
	client->is_passing = true;
	passers->queue[passers->last++ % SENSOR_CLIENTS_MAX] =
		(struct sensor_passing){ (uint32_t)(client - directory->clients), client->number };
	return 0;
}

struct sensor_client *sensor_hand_over_take(struct sensor_directory *directory, int *result)
{
	struct sensor_passers *passers = &directory->passers;
	struct sensor_packet *packet = &directory->packet;
	const struct sensor_passing *passing;
	struct sensor_client *client;

	if (!passers->pid)
		return NULL;
	*result = sensor_packet_receive(passers->fd, packet);
	if (*result == 0)
		return NULL;
	if (*result < 0 && *result != -EMFILE) {
		leave_passers(directory, (uint32_t)INNOCENT);
		return NULL;
	}
	if (*result == 1 && packet->is.head.kind == DONE) {
		passers->is_closing = false;
		return NULL;
	}
	if (passers->first == passers->last)
		return NULL;
	passing = &passers->queue[passers->first++ % SENSOR_CLIENTS_MAX];
	client = &directory->clients[passing->client];
	passers->waited_s = 0;
	if (*result == 1 && packet->is.head.kind == NO) {
		passers->is_closing = true;
		passers->uid = client->number == passing->number ? client->uid : (uint32_t)INNOCENT;
		*result = -EBADMSG;
	}
	if (client->number == passing->number && client->is_passing) {
		wake(directory, passing);
		return client;
	}
	if (*result == 1)
		sensor_packet_close(packet);
	return NULL;
}

void sensor_hand_over_tick(struct sensor_directory *directory)
{
	struct sensor_passers *passers = &directory->passers;
	struct sensor_left_passer *unused;
	const struct sensor_passing *first = &passers->queue[passers->first % SENSOR_CLIENTS_MAX];

	look_after_left(passers, 0, &unused);
	passers->waited_s = passers->first == passers->last ? 0 : passers->waited_s + 1;
	if (!passers->pid || passers->waited_s <= PATIENCE_S)
		return;
	struct sensor_client *client = &directory->clients[first->client];
	bool is_there = client->number == first->number && client->is_passing;
	uint32_t uid = is_there ? client->uid : (uint32_t)INNOCENT;

	kill(passers->pid, SIGKILL);
	leave_passers(directory, uid);
	if (is_there)
		directory->send_away(directory, client);
}

void sensor_hand_over_end(struct sensor_directory *directory)
{
	struct sensor_passers *passers = &directory->passers;
	struct sensor_left_passer *unused;

	if (passers->pid) {
		kill(passers->pid, SIGKILL);
		close(passers->fd);
		waitpid(passers->pid, NULL, (passers->is_closing ? WNOHANG : 0) | __WCLONE);
	}
	look_after_left(passers, 0, &unused);
	passers->pid = 0;
}

int sensor_hand_over_receive(struct sensor_directory *directory, struct sensor_client *client)
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
	return hand_on(directory, client);
}
