// SPDX-License-Identifier: BSD-2-Clause
/*
 * Creates output files: whom they belong to, and which files are never replaced. Everything is judged by the
 * descriptor, after it is open and before anything is changed, so that no file can be exchanged in between.
 */

#include "base/create.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { OPENING = O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC };

/* Who begins reader and writer of a pipe together may have the reader a little later. */
enum { READER_PAUSES = CREATE_READER_MS / 10 };

static const struct timespec reader_pause = { .tv_nsec = 10 * 1000 * 1000 };

static const char no_output[] = "it is not a regular file, pipe or character device";

static int fail_creation(int error, const char **why)
{
	switch (error) {
	case ELOOP:
		*why = "it is a symbolic link, and links are not followed: name its target";
		break;
	default:
		*why = strerror(error);
	}
	return -error;
}

/* Closes fd. */
static int refuse_created(int fd, int error, const char *text, const char **why)
{
	close(fd);
	*why = text ? text : strerror(error);
	return -error;
}

/* The descriptor of this process that path names, or -1. */
static int own_descriptor(const char *path)
{
	static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
	const char *digits = NULL;

	if (strcmp(path, "/dev/stdout") == 0)
		return STDOUT_FILENO;
	if (strcmp(path, "/dev/stderr") == 0)
		return STDERR_FILENO;
	for (size_t i = 0; i < sizeof folders / sizeof *folders && !digits; i++)
		if (strncmp(path, folders[i], strlen(folders[i])) == 0)
			digits = path + strlen(folders[i]);
	if (!digits || !*digits || digits[strspn(digits, "0123456789")] || strlen(digits) > 9)
		return -1;
	return atoi(digits);
}

/*
 * Whether it blocks is part of what a descriptor shares with others, so who wants another answer needs a description
 * of their own; sockets have none to be had.
 */
static int open_descriptor(int number, const struct create_how *how, const char **why)
{
	char path[32];
	int fd = -1;

	snprintf(path, sizeof path, "/proc/self/fd/%d", number);
	if (how->flags)
		fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC | how->flags);
	if (fd < 0)
		fd = fcntl(number, F_DUPFD_CLOEXEC, 3);
	return fd < 0 ? fail_creation(errno, why) : fd;
}

/* A file system without modes, or without owners, has its own way to say who may read. */
static void set_mode(int fd, const struct stat *status, mode_t mode)
{
	if ((status->st_mode & 07777) != mode)
		fchmod(fd, mode);
}

/* What was there already. */
static int take_existing_file(int fd, const struct create_how *how, mode_t mode, const char **why)
{
	struct stat status;

	if (fstat(fd, &status))
		return refuse_created(fd, errno, NULL, why);
	if (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode))
		return fd;
	if (!S_ISREG(status.st_mode))
		return refuse_created(fd, EINVAL, no_output, why);
	if (status.st_uid != geteuid())
		return refuse_created(fd, EEXIST, "it belongs to another user and will not be overwritten", why);
	if (status.st_nlink > 1)
		return refuse_created(fd, EMLINK, "it has more than one hard link and will not be overwritten", why);
	if (how->flags & O_APPEND)
		return fd;
	set_mode(fd, &status, mode);
	return ftruncate(fd, 0) ? refuse_created(fd, errno, NULL, why) : fd;
}

static int settle_mode(int fd, mode_t mode, const char **why)
{
	struct stat status;

	if (fstat(fd, &status))
		return refuse_created(fd, errno, NULL, why);
	set_mode(fd, &status, mode);
	return fd;
}

static bool is_file_of_type(const char *path, mode_t type)
{
	struct stat status;

	return lstat(path, &status) == 0 && (status.st_mode & S_IFMT) == type;
}

/*
 * What is there already: opened without waiting for a reader, or for a line to be connected. With O_CREAT the kernel's
 * own protection against others' files and pipes in /tmp holds, too.
 */
static int open_existing(const char *path, const struct create_how *how, mode_t mode, const char **why)
{
	bool waits = !(how->flags & O_NONBLOCK);
	int flags = OPENING | O_CREAT | O_NONBLOCK | how->flags, fd = open(path, flags, mode);

	for (int i = 0; fd < 0 && errno == ENXIO && waits && is_file_of_type(path, S_IFIFO) && i < READER_PAUSES; i++) {
		nanosleep(&reader_pause, NULL);
		fd = open(path, flags, mode);
	}
	if (fd < 0) {
		fd = fail_creation(errno, why);
		if (fd == -ENXIO && is_file_of_type(path, S_IFIFO))
			*why = "no process is reading this pipe: start its reader first";
		else if (fd == -ENXIO && is_file_of_type(path, S_IFSOCK))
			*why = no_output;
		return fd;
	}
	if (waits && fcntl(fd, F_SETFL, how->flags))
		return refuse_created(fd, errno, NULL, why);
	return take_existing_file(fd, how, mode, why);
}

int create_in(int folder, const char *name, mode_t mode, const char **why)
{
	int fd = openat(folder, name, OPENING | O_CREAT | O_EXCL, mode ? mode : CREATE_MODE);

	return fd < 0 ? fail_creation(errno, why) : settle_mode(fd, mode ? mode : CREATE_MODE, why);
}

int create_file(const char *path, const struct create_how *how, const char **why)
{
	mode_t mode = how->mode ? how->mode : CREATE_MODE;
	int number = own_descriptor(path), fd;

	if (number >= 0)
		return open_descriptor(number, how, why);
	fd = open(path, OPENING | O_CREAT | O_EXCL | how->flags, mode);
	if (fd >= 0)
		return settle_mode(fd, mode, why);
	return errno == EEXIST ? open_existing(path, how, mode, why) : fail_creation(errno, why);
}

/* Without slashes at its end, behind which a link would be followed after all. */
static bool strip(const char *path, char stripped[PATH_MAX])
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		length--;
	if (length >= PATH_MAX)
		return false;
	memcpy(stripped, path, length);
	stripped[length] = 0;
	return true;
}

int create_is_empty(int folder)
{
	int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *listing = copy >= 0 ? fdopendir(copy) : NULL;
	const struct dirent *entry;
	int result = 1;

	if (!listing) {
		result = -errno;
		if (copy >= 0)
			close(copy);
		return result;
	}
	while (result == 1 && (entry = readdir(listing)))
		result = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
	closedir(listing);
	return result;
}

int create_folder(const char *path, mode_t mode, bool *made, const char **why)
{
	char stripped[PATH_MAX];
	struct stat status;
	bool is_new;
	int fd;

	mode = mode ? mode : CREATE_MODE;
	mode |= (mode & 0444) >> 2;
	if (!strip(path, stripped))
		return fail_creation(ENAMETOOLONG, why);
	is_new = mkdir(stripped, mode) == 0;
	if (made)
		*made = is_new;
	if (!is_new && errno != EEXIST)
		return fail_creation(errno, why);
	fd = open(stripped, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOTDIR && lstat(stripped, &status) == 0 && S_ISLNK(status.st_mode))
		errno = ELOOP;
	if (fd < 0)
		return fail_creation(errno, why);
	if (fstat(fd, &status))
		return refuse_created(fd, errno, NULL, why);
	if (!is_new && status.st_uid != geteuid())
		return refuse_created(fd, EEXIST, "it belongs to another user", why);
	if (is_new || create_is_empty(fd) == 1)
		set_mode(fd, &status, mode);
	return fd;
}
