// SPDX-License-Identifier: BSD-2-Clause
/*
 * Opens the control socket, for root and the members of one group. A socket that a daemon has left behind is replaced,
 * one that somebody listens at is not.
 */

#include "daemon/clients.h"

#include "daemon/log.h"

#include <errno.h>
#include <grp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 64 };

static int fail_listening(const char *path, int error)
{
	log_line(LOG_LEVEL_ERROR, "cannot open the socket %s: %s", path, strerror(error));
	return -error;
}

/* Whether somebody listens there; a socket without a listener is removed. */
static bool is_listened(const struct sockaddr_un *address)
{
	struct stat status;
	bool taken;
	int fd;

	if (lstat(address->sun_path, &status) || !S_ISSOCK(status.st_mode))
		return false;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return false;
	taken = connect(fd, (const struct sockaddr *)address, sizeof *address) == 0 || errno == EAGAIN;
	close(fd);
	if (!taken)
		unlink(address->sun_path);
	return taken;
}

/* It cannot be opened before its group is right. */
static int bind_to(int fd, const struct sockaddr_un *address, const struct group *group)
{
	mode_t mask = umask(0177);
	int result = bind(fd, (const struct sockaddr *)address, sizeof *address) ? -errno : 0;

	umask(mask);
	if (result)
		return result;
	if (group && chown(address->sun_path, (uid_t)-1, group->gr_gid))
		return -errno;
	if (chmod(address->sun_path, group ? 0660 : 0600))
		return -errno;
	return listen(fd, BACKLOG) ? -errno : 0;
}

int clients_open(struct clients *clients, const char *path, const char *group_name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const struct group *group = group_name ? getgrnam(group_name) : NULL;
	int result;

	for (size_t i = 0; i < CLIENTS_MAX; i++)
		clients->items[i].fd = -1;
	clients->listen_fd = -1;
	clients->path = path;
	if (group_name && !group) {
		log_line(LOG_LEVEL_ERROR, "unknown group '%s'", group_name);
		return -EINVAL;
	}
	if (strlen(path) >= sizeof address.sun_path)
		return fail_listening(path, ENAMETOOLONG);
	strcpy(address.sun_path, path);
	if (is_listened(&address)) {
		log_line(LOG_LEVEL_ERROR, "another daemon is listening at %s", path);
		return -EADDRINUSE;
	}
	clients->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (clients->listen_fd < 0)
		return fail_listening(path, errno);
	result = bind_to(clients->listen_fd, &address, group);
	if (!result)
		return 0;
	close(clients->listen_fd);
	clients->listen_fd = -1;
	return fail_listening(path, -result);
}
