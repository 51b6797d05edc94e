// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds where the socket of a registry is, and sets who can open it. At root's everybody may: applications of all users
 * register there, and who sees what is decided by who they are.
 */

#include "sensor/place.h"

#include "sensor/protocol.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 64 };

static bool put_place_path(char path[SENSOR_PLACE_BYTES], const char *folder, const char *name)
{
	int length = snprintf(path, SENSOR_PLACE_BYTES, "%s%s%s", folder, *folder && *name ? "/" : "", name);

	return length > 0 && length < SENSOR_PLACE_BYTES;
}

bool sensor_place_get(int index, char path[SENSOR_PLACE_BYTES])
{
	const char *given = sensor_socket_path(getenv(SENSOR_SOCKET_VARIABLE)), *folder = getenv("XDG_RUNTIME_DIR");

	if (given)
		return index == 0 && put_place_path(path, given, "");
	if (index == 0)
		return put_place_path(path, SENSOR_SOCKET_SYSTEM, "");
	return index == 1 && folder && put_place_path(path, folder, SENSOR_SOCKET_USER);
}

int sensor_place_own(const char *given, char path[SENSOR_PLACE_BYTES])
{
	const char *folder = getenv("XDG_RUNTIME_DIR");

	if (!given)
		given = sensor_socket_path(getenv(SENSOR_SOCKET_VARIABLE));
	if (!given && geteuid() == 0)
		given = SENSOR_SOCKET_SYSTEM;
	if (given)
		return put_place_path(path, given, "") ? 0 : -ENAMETOOLONG;
	if (!folder)
		return -ENOENT;
	return put_place_path(path, folder, SENSOR_SOCKET_USER) ? 0 : -ENAMETOOLONG;
}

static int address_of(const char *path, struct sockaddr_un *address)
{
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof address->sun_path)
		return -ENAMETOOLONG;
	strcpy(address->sun_path, path);
	return 0;
}

int sensor_place_connect(const char *path)
{
	struct sockaddr_un address;
	int result = address_of(path, &address), fd;

	if (result)
		return result;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
		return fd;
	result = -errno;
	close(fd);
	return result;
}

bool sensor_place_is_trusted(int fd)
{
	struct ucred peer;
	socklen_t bytes = sizeof peer;

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) && (peer.uid == 0 || peer.uid == geteuid());
}

bool sensor_place_identify(const char *path, struct sensor_place_id *id)
{
	struct stat status;

	if (lstat(path, &status))
		return false;
	*id = (struct sensor_place_id){ status.st_dev, status.st_ino };
	return true;
}

/* Removes a socket that nobody listens at. -EADDRINUSE: somebody does; -EEXIST: it is something else. */
static int clear_socket_place(const char *path)
{
	struct stat status;
	int fd;

	if (lstat(path, &status))
		return 0;
	if (!S_ISSOCK(status.st_mode))
		return -EEXIST;
	fd = sensor_place_connect(path);
	if (fd >= 0)
		close(fd);
	if (fd >= 0 || fd == -EAGAIN)
		return -EADDRINUSE;
	return unlink(path) ? -EEXIST : 0;
}

static void make_folder(const char *folder)
{
	if (!mkdir(folder, 0700) && !geteuid())
		chmod(folder, 0755);
}

/* Who can put another socket there would be the directory to others. */
static int check_folder(const char *folder)
{
	struct stat status;

	if (stat(folder, &status))
		return -errno;
	if (status.st_uid && status.st_uid != geteuid())
		return -EPERM;
	return status.st_mode & S_IWOTH && !(status.st_mode & S_ISVTX) ? -EPERM : 0;
}

static int prepare_folder(const char *path)
{
	char folder[SENSOR_PLACE_BYTES];
	char *slash;

	snprintf(folder, sizeof folder, "%s", path);
	slash = strrchr(folder, '/');
	if (!slash || slash == folder)
		return 0;
	*slash = 0;
	make_folder(folder);
	return check_folder(folder);
}

int sensor_place_listen(const char *path)
{
	mode_t mode = geteuid() ? 0600 : 0666, mask;
	struct sockaddr_un address;
	int result = address_of(path, &address), fd;

	if (result || (result = prepare_folder(path)) || (result = clear_socket_place(path)))
		return result;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	/* The file takes the socket's mode: changed by its path it could be somebody else's file by then. */
	mask = umask(0);
	result = fchmod(fd, mode) || bind(fd, (const struct sockaddr *)&address, sizeof address) ? -errno : 0;
	umask(mask);
	if (!result && listen(fd, BACKLOG))
		result = -errno;
	if (!result)
		return fd;
	close(fd);
	return result;
}
