// SPDX-License-Identifier: BSD-2-Clause
/*
 * The sensor registry: serves everyone in order, and disconnects who sends what makes no sense, does not end what it
 * began, or does not take what it asked for.
 */

#include "sensor/directory-priv.h"

#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { EVENTS = 32, ACCEPTS = 32 };

enum { SEND_BYTES = 1 << 20 };

static void send_away(struct sensor_directory *directory, struct sensor_client *client)
{
	struct sensor_known_process *process = client->process;

	if (client->fd < 0)
		return;
	if (client->is_passing)
		client->is_passing = false;
	sensor_client_close(directory, client);
	if (process)
		sensor_process_end(directory, process);
}

/* Also by the groups beside the first one, as they were when it connected. */
static bool is_member(const struct sensor_directory *directory, int fd, gid_t first)
{
	gid_t groups[256];
	socklen_t bytes = sizeof groups;

	if (directory->has_group && first == directory->group)
		return true;
	if (!directory->has_group || getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &bytes))
		return false;
	for (size_t i = 0; i < bytes / sizeof *groups; i++) {
		if (groups[i] == directory->group)
			return true;
	}
	return false;
}

/* Who is not root leaves room for root and for others. */
static struct sensor_client *find_room(struct sensor_directory *directory, uint32_t uid)
{
	struct sensor_client *room = NULL;
	uint32_t free_count = 0, own = 0, most = sensor_process_max(directory, uid) + SENSOR_USER_CLIENTS_MORE;

	for (size_t i = 0; i < SENSOR_CLIENTS_MAX; i++) {
		struct sensor_client *client = &directory->clients[i];

		own += client->fd >= 0 && client->uid == uid;
		free_count += client->fd < 0;
		if (client->fd < 0 && !room)
			room = client;
	}
	return uid == 0 || (own < most && free_count > SENSOR_ROOT_CLIENTS) ? room : NULL;
}

/* That nobody holds where it takes room from whom has most is no reason for others to wait. */
static struct sensor_client *make_client_room(struct sensor_directory *directory, uint32_t uid)
{
	struct sensor_client *room = find_room(directory, uid);

	if (!room && sensor_share_make_room(directory, SENSOR_SHARE_CLIENTS, uid, 1))
		room = find_room(directory, uid);
	return room;
}

/* It may be an application's, or a reader's: what it says first tells, if it has come already. */
static void refuse_connection(struct sensor_directory *directory, const struct sensor_client *client, const char *why)
{
	struct sensor_message head = { 0 };

	if (client->pid && (recv(client->fd, &head, sizeof head, MSG_PEEK | MSG_DONTWAIT) < (ssize_t)sizeof head ||
			    head.kind == SENSOR_REGISTER))
		sensor_left_out_note(directory, client, why);
	sensor_refuse(directory, client, -EDQUOT, why);
}

static void admit_client(struct sensor_directory *directory, int fd)
{
	struct sensor_client *client = NULL;
	struct ucred peer = { 0 };
	socklen_t bytes = sizeof peer;
	int send_bytes = SEND_BYTES;

	if (!getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes))
		client = make_client_room(directory, peer.uid);
	if (!client || sensor_wait_add(directory, fd, SENSOR_TAG_CLIENT + (uint64_t)(client - directory->clients))) {
		refuse_connection(directory,
				  &(struct sensor_client){ .fd = fd, .pid = (uint32_t)peer.pid, .uid = peer.uid },
				  "this user has reached its limit of connections, or all connections are in use");
		close(fd);
		return;
	}
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &send_bytes, sizeof send_bytes);
	*client = (struct sensor_client){
		.fd = fd,
		.number = ++directory->last_client,
		.pid = (uint32_t)peer.pid,
		.uid = peer.uid,
		.gid = peer.gid,
		.sees_all = peer.uid == 0 || is_member(directory, fd, peer.gid),
	};
}

static void count_lack(struct sensor_directory *directory, int error)
{
	directory->stats.lacking++;
	directory->stats.lack = error;
}

/* Without a descriptor for it a connection would wait, and wake us, for ever. */
static void turn_away(struct sensor_directory *directory)
{
	count_lack(directory, -errno);
	close(directory->spare_fd);
	int fd = accept4(directory->listen_fd, NULL, NULL, SOCK_CLOEXEC);

	if (fd >= 0)
		close(fd);
	directory->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void accept_all(struct sensor_directory *directory)
{
	for (int i = 0; i < ACCEPTS; i++) {
		int fd = accept4(directory->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0 && (errno == EMFILE || errno == ENFILE))
			turn_away(directory);
		if (fd < 0)
			return;
		admit_client(directory, fd);
	}
}

static int handle(struct sensor_directory *directory, struct sensor_client *client)
{
	if (directory->packet.is.head.kind == SENSOR_OBSERVE || client->progress)
		return sensor_observer_handle(directory, client);
	return sensor_application_handle(directory, client);
}

/* The packet, if there is one, is the client's; else result is what came instead. */
static int step_client(struct sensor_directory *directory, struct sensor_client *client, int result)
{
	if (result > 0) {
		result = handle(directory, client);
		sensor_packet_close(&directory->packet);
		result = result ? result : 1;
		client->idle_s = 0;
	}
	if (result >= 0 || client->fd < 0)
		return result;
	directory->stats.malformed += result == -EBADMSG;
	directory->stats.slow += result == -EAGAIN;
	if (result == -EMFILE || result == -ENFILE || result == -ENOMEM)
		count_lack(directory, result);
	send_away(directory, client);
	return result;
}

static void serve_sensor_client(struct sensor_directory *directory, struct sensor_client *client)
{
	for (int i = 0; i < SENSOR_STEPS && client->fd >= 0 && !client->is_passing; i++) {
		if (step_client(directory, client, sensor_hand_over_receive(directory, client)) <= 0)
			break;
	}
}

static void take_passed(struct sensor_directory *directory)
{
	struct sensor_client *client;
	int result = 1;

	for (int i = 0; i < SENSOR_STEPS && result; i++) {
		result = 0;
		client = sensor_hand_over_take(directory, &result);
		if (client)
			step_client(directory, client, result);
	}
}

/* Whether what the client should do is due: to register, to map, to take what waits for it. */
static bool is_late(struct sensor_client *client)
{
	bool is_waited_for = client->is_blocked || (!client->progress && !client->process) ||
			     (client->process && client->process->state == SENSOR_IS_MAPPING);

	client->idle_s = is_waited_for ? client->idle_s + 1 : 0;
	return client->idle_s > SENSOR_PATIENCE_S;
}

/* Whether what is at our path is our socket. */
static bool is_in_place(const struct sensor_directory *directory)
{
	struct sensor_place_id now;

	return sensor_place_identify(directory->path, &now) && now.device == directory->place.device &&
	       now.inode == directory->place.inode;
}

static void tick(struct sensor_directory *directory)
{
	uint64_t count;

	if (read(directory->timer_fd, &count, sizeof count) != sizeof count)
		return;
	sensor_memory_tick(directory->clock);
	sensor_hand_over_tick(directory);
	directory->stats.is_replaced = !is_in_place(directory);
	for (size_t i = 0; i < SENSOR_CLIENTS_MAX; i++) {
		struct sensor_client *client = &directory->clients[i];

		if (client->fd < 0 || !is_late(client))
			continue;
		directory->stats.slow++;
		send_away(directory, client);
	}
}

/* The process behind it is gone, whoever still has its socket; if it is not another's place by now. */
static void end_process(struct sensor_directory *directory, struct sensor_known_process *process)
{
	struct pollfd gone = { .fd = process->pid_fd, .events = POLLIN };

	if (process->client && process->pid_fd >= 0 && poll(&gone, 1, 0) == 1)
		send_away(directory, process->client);
}

int sensor_directory_dispatch(struct sensor_directory *directory)
{
	struct epoll_event events[EVENTS];
	int count = epoll_wait(directory->epoll_fd, events, EVENTS, 0);

	if (count < 0)
		return errno == EINTR ? 0 : -errno;
	for (int i = 0; i < count; i++) {
		uint64_t tag = events[i].data.u64;

		if (tag == SENSOR_TAG_LISTEN)
			accept_all(directory);
		else if (tag == SENSOR_TAG_TIMER)
			tick(directory);
		else if (tag == SENSOR_TAG_PASSER)
			take_passed(directory);
		else if (tag >= SENSOR_TAG_PROCESS)
			end_process(directory, &directory->processes[tag - SENSOR_TAG_PROCESS]);
		else if (tag - SENSOR_TAG_CLIENT < SENSOR_CLIENTS_MAX &&
			 directory->clients[tag - SENSOR_TAG_CLIENT].fd >= 0)
			serve_sensor_client(directory, &directory->clients[tag - SENSOR_TAG_CLIENT]);
	}
	sensor_observers_tell(directory);
	return 0;
}

static int open_timer(struct sensor_directory *directory)
{
	struct itimerspec second = { .it_interval.tv_sec = 1, .it_value.tv_sec = 1 };

	directory->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (directory->timer_fd < 0 || timerfd_settime(directory->timer_fd, 0, &second, NULL))
		return -errno;
	return sensor_wait_add(directory, directory->timer_fd, SENSOR_TAG_TIMER);
}

static int find_directory_group(struct sensor_directory *directory, struct asterism_diag *diag)
{
	const char *name = directory->options.group;
	const struct group *group = name ? getgrnam(name) : NULL;

	if (name && !group)
		return diag_error(diag, NULL, -EINVAL, "unknown group '%s'", name);
	directory->has_group = group != NULL;
	directory->group = group ? group->gr_gid : 0;
	return 0;
}

static int open_socket(struct sensor_directory *directory, struct asterism_diag *diag)
{
	int result = sensor_place_own(directory->options.path, directory->path);

	if (result) {
		diag_add(diag, ASTERISM_ERROR, NULL, "set XDG_RUNTIME_DIR or " SENSOR_SOCKET_VARIABLE,
			 result == -ENOENT ? "no path is known for the sensor registry's socket"
					   : "the socket's path is too long");
		return result;
	}
	directory->listen_fd = sensor_place_listen(directory->path);
	if (directory->listen_fd == -EPERM)
		return diag_error(diag, NULL, -EPERM,
				  "refusing to create the socket %s: its parent directory belongs to or is writable by "
				  "other users, "
				  "who could replace it",
				  directory->path);
	if (directory->listen_fd == -EEXIST)
		return diag_error(diag, NULL, -EEXIST, "%s exists and is not an asterism socket: remove it",
				  directory->path);
	if (directory->listen_fd == -EADDRINUSE)
		return diag_error(diag, NULL, -EADDRINUSE, "a sensor registry is already running at %s",
				  directory->path);
	if (directory->listen_fd < 0)
		return diag_error(diag, NULL, directory->listen_fd, "cannot open the socket %s: %s", directory->path,
				  strerror(-directory->listen_fd));
	sensor_place_identify(directory->path, &directory->place);
	return sensor_wait_add(directory, directory->listen_fd, SENSOR_TAG_LISTEN);
}

static uint64_t quarter_of_memory(void)
{
	return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 4;
}

int sensor_directory_open(const struct sensor_directory_options *options, struct asterism_diag *diag,
			  struct sensor_directory **opened)
{
	struct sensor_directory *directory = alloc_zero(1, sizeof *directory);
	int result;

	if (!directory)
		return diag_no_memory(diag);
	directory->options = *options;
	directory->send_away = send_away;
	directory->bytes_max = options->all_bytes_max ? options->all_bytes_max : quarter_of_memory();
	directory->listen_fd = directory->timer_fd = directory->clock_fd = -1;
	directory->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	for (size_t i = 0; i < SENSOR_CLIENTS_MAX; i++)
		directory->clients[i].fd = -1;
	directory->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	result = directory->epoll_fd < 0 ? -errno : 0;
	if (!result)
		result = sensor_memory_clock(directory);
	if (!result)
		result = open_timer(directory);
	if (result)
		diag_error(diag, NULL, result, "cannot start the sensor registry: %s", strerror(-result));
	else if (!(result = find_directory_group(directory, diag)))
		result = open_socket(directory, diag);
	if (result)
		sensor_directory_close(directory);
	else
		*opened = directory;
	return result;
}

static void close_client_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

void sensor_directory_close(struct sensor_directory *directory)
{
	if (!directory)
		return;
	if (directory->listen_fd >= 0 && is_in_place(directory))
		unlink(directory->path);
	close_client_fd(directory->listen_fd);
	close_client_fd(directory->spare_fd);
	sensor_hand_over_end(directory);
	for (size_t i = 0; i < SENSOR_CLIENTS_MAX; i++)
		send_away(directory, &directory->clients[i]);
	for (size_t i = 0; i < SENSOR_PROCESSES_MAX; i++) {
		if (directory->processes[i].state != SENSOR_NO_PROCESS)
			sensor_process_free(directory, &directory->processes[i]);
	}
	if (directory->clock)
		munmap(directory->clock, SENSOR_PAGE_BYTES);
	close_client_fd(directory->clock_fd);
	close_client_fd(directory->timer_fd);
	close_client_fd(directory->epoll_fd);
	alloc_free(directory);
}

const char *sensor_directory_path(const struct sensor_directory *directory)
{
	return directory->path;
}

int sensor_directory_fd(const struct sensor_directory *directory)
{
	return directory->epoll_fd;
}

void sensor_directory_stats(const struct sensor_directory *directory, struct sensor_directory_stats *stats)
{
	*stats = directory->stats;
	stats->processes = 0;
	for (size_t i = 0; i < SENSOR_PROCESSES_MAX; i++)
		stats->processes += directory->processes[i].state == SENSOR_IS_READY;
}
