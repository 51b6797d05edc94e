/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SENSOR_CLIENT_STATE_H
#define SENSOR_CLIENT_STATE_H

/*
 * What an application's side of sensors keeps. Three kinds of memory: the library's own; what threads write with, which
 * a child of fork finds zeroed, so that it never writes to its parent's rings; and what is shared with the directory.
 */

#include "sensor/client/sensor.h"
#include "sensor/key.h"
#include "sensor/protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

#ifndef F_ADD_SEALS
#define F_ADD_SEALS   (1024 + 9)
#define F_GET_SEALS   (1024 + 10)
#define F_SEAL_SHRINK 2
#define F_SEAL_GROW   4
#endif

#ifndef MREMAP_FIXED
#define MREMAP_MAYMOVE 1
#define MREMAP_FIXED   2
#endif

#define ASTERISM_CLIENT_FUNCTION static __attribute__((unused))

/* How long the program's start waits for an answer, and the helper, with the lock in its hands. */
#ifndef ASTERISM_CLIENT_START_MS
#define ASTERISM_CLIENT_START_MS  200
#define ASTERISM_CLIENT_HELPER_MS 250
#endif

enum {
	ASTERISM_CLIENT_PAUSE_MS = 1000, /* until the helper looks for a directory again */
	ASTERISM_CLIENT_CHILD_MS = 10,   /* children of fork mostly end soon, as something else */
	ASTERISM_CLIENT_BORROWED = 4,    /* one ring of so many is lent, the others are threads' own */
	ASTERISM_CLIENT_TYPES = 64,      /* that are told of at a time */
	ASTERISM_CLIENT_TEXT_MAX = SENSOR_MESSAGE_BYTES_MAX / 2,
	ASTERISM_CLIENT_FD_MIN = 512, /* above what programs close that close everything, if there is room */
};

/* What threads write with; wiped in a child. */
struct asterism_client_writers {
	uint64_t is_ready; /* the area is there */
	uint32_t clock;
	uint32_t own; /* rings that threads keep: the first ones */
	struct sensor_shape shape;
	char *area;
	struct sensor_slot *slots;
	struct asterism_sensor_writer items[SENSOR_SLOTS_MAX];
};

/* A descriptor of ours that programs may close behind our back, and use the number for something else. */
struct asterism_client_fd {
	int fd; /* -1: none */
	dev_t device;
	ino_t inode;
};

/* One that has been told of, or will be: its text is kept for a directory that comes later. */
struct asterism_client_type {
	char *text;
	uint32_t users; /* sensors that have it; 0: it is absent */
	uint8_t told_absent;
	uint8_t fault; /* enum sensor_fault, as the directory says */
};

struct asterism_client {
	pthread_mutex_t lock; /* of everything but writers */
	struct asterism_sensor *sensors;
	struct asterism_sensor *announcer; /* of types that are registered at run time; NULL: none have been */
	struct asterism_client_type types[SENSOR_TYPES_MAX];
	uint32_t type_count, told_count;
	struct asterism_client_writers *writers;
	struct asterism_client_fd socket, area_fd;
	void *area; /* as it was mapped last, maybe by the parent */
	uint64_t area_bytes;
	uint32_t *gates, *next_gates; /* next: of a directory that has not heard of all types yet */
	pthread_key_t key;
	pid_t pid; /* whose all this is */
	uint32_t first_pause_ms;
	uint64_t missed;    /* events that found no memory to be counted in */
	uint32_t inherited; /* in a child: types that its parent had told of, whose gates and area are still mapped */
	int is_unanswered;  /* a directory is there, and did not answer in time */
	int has_key, has_helper, is_off, has_waited;
	int wishes_nothing; /* the shape that it wished was refused */
	int is_always;      /* a flight recorder, also where no directory is */
	int filters;        /* whether calls were filtered at the beginning */
};

/* What a thread that has no ring of its own writes in its name. */
struct asterism_client_self {
	struct ring_borrower by;
	int is_claiming;
};

static struct asterism_client asterism_client;
static struct asterism_sensor_writer asterism_client_nobody;
static __thread struct asterism_client_self asterism_client_self __attribute__((tls_model("initial-exec")));

#ifdef __cplusplus
extern "C" {
#endif
const uint32_t asterism_sensor_closed = 0;
uint64_t asterism_sensor_scratch[ASTERISM_SENSOR_SCRATCHES][SENSOR_PAYLOAD_UNITS_MAX];
__thread struct asterism_sensor_writer *asterism_sensor_writer __attribute__((tls_model("initial-exec"))) =
	&asterism_client_nobody;
#ifdef __cplusplus
}
#endif

ASTERISM_CLIENT_FUNCTION void asterism_client_pause(uint32_t ms)
{
	struct timespec pause;

	pause.tv_sec = ms / 1000;
	pause.tv_nsec = (long)(ms % 1000) * 1000000;
	nanosleep(&pause, NULL);
}

/* Puts fd into ours, where nobody is in its way. */
ASTERISM_CLIENT_FUNCTION void asterism_client_keep(struct asterism_client_fd *ours, int fd)
{
	struct stat status;
	int high = fcntl(fd, F_DUPFD_CLOEXEC, ASTERISM_CLIENT_FD_MIN);

	if (high >= 0) {
		close(fd);
		fd = high;
	}
	ours->fd = fd;
	if (fstat(fd, &status))
		memset(&status, 0, sizeof status);
	ours->device = status.st_dev;
	ours->inode = status.st_ino;
}

ASTERISM_CLIENT_FUNCTION int asterism_client_is_ours(const struct asterism_client_fd *ours)
{
	struct stat status;

	return ours->fd >= 0 && !fstat(ours->fd, &status) && status.st_dev == ours->device &&
	       status.st_ino == ours->inode;
}

ASTERISM_CLIENT_FUNCTION void asterism_client_drop(struct asterism_client_fd *ours)
{
	if (asterism_client_is_ours(ours))
		close(ours->fd);
	ours->fd = -1;
}

/* Whether the program has put itself in a filter of calls since: what it forbids would end it, maybe. */
ASTERISM_CLIENT_FUNCTION int asterism_client_is_confined(const struct asterism_client *client)
{
	return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != client->filters;
}

#endif
