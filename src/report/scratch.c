// SPDX-License-Identifier: BSD-2-Clause
/* Makes files without names, and maps them. */

#include "report/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

int scratch_open(void)
{
	const char *chosen = getenv("TMPDIR");
	const char *folders[] = { chosen && *chosen ? chosen : "/var/tmp", "/tmp" };
	int failure = -ENOENT;

	for (size_t i = 0; i < (chosen && *chosen ? 1 : 2); i++) {
		int fd = open(folders[i], O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
		if (fd >= 0)
			return fd;
		failure = -errno;
	}
	return failure;
}

/* Beyond that limit the system would end the process by a signal. */
static bool may_reach(uint64_t end)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || end <= limit.rlim_cur;
}

int scratch_write(int fd, const void *bytes, size_t count, uint64_t at)
{
	if (!may_reach(at + count))
		return -EFBIG;
	for (const char *from = bytes; count != 0;) {
		ssize_t done = pwrite(fd, from, count, (off_t)at);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done < 0 ? -errno : -EIO;
		from += done;
		count -= (size_t)done;
		at += (uint64_t)done;
	}
	return 0;
}

int scratch_read(int fd, void *bytes, size_t count, uint64_t at)
{
	for (char *to = bytes; count != 0;) {
		ssize_t done = pread(fd, to, count, (off_t)at);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done < 0 ? -errno : -EIO;
		to += done;
		count -= (size_t)done;
		at += (uint64_t)done;
	}
	return 0;
}

/* The room is taken at once: behind a mapping, a full disk would end the process. */
void *scratch_map(size_t count)
{
	int fd = may_reach(count) ? scratch_open() : -EFBIG;
	void *map = MAP_FAILED;

	if (fd < 0)
		return NULL;
	if (posix_fallocate(fd, 0, (off_t)count) == 0)
		map = mmap(NULL, count, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return map == MAP_FAILED ? NULL : map;
}

void scratch_unmap(void *map, size_t count)
{
	munmap(map, count);
}

void scratch_rest(void *map, size_t count)
{
	madvise(map, count, MADV_DONTNEED);
}
