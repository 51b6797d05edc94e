// SPDX-License-Identifier: BSD-2-Clause
/* Follows a sensor registry, and asks it for sensors. */

#include "sensor/stream/follow.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "sensor/pattern.h"
#include "sensor/directory.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum {
	OPEN_WAIT_MS = 2000,      /* for what the directory has to tell at first */
	NEWS_MAX = 4096,          /* of one look */
	PATIENCE_NS = 2000000000, /* until it is told that a sensor is waited for */
	TRIES = 20,               /* to find one that begins to serve at the same time */
	AGAIN_NS = 1000000000,    /* between two attempts to find a directory that has gone */
};

struct follow {
	struct follow_options options;
	struct sensor_directory *directory; /* own; NULL: another one serves */
	struct sensor_observer *observer;   /* NULL: it has gone */
	size_t asked;                       /* of the wants: how many the directory has been asked for */
	uint64_t next_try_ns, begin_ns;
	bool told_waiting, is_lost; /* the directory */
	int epoll_fd;
};

static int watch_followed(struct follow *follow, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	return epoll_ctl(follow->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

/* Asks for the next name, if there is one more: one at a time, as the directory wants it. */
static int ask_for_next_name(struct follow *follow)
{
	const struct stream_wants *wants = follow->options.wants;
	uint32_t flags = follow->options.flags ? follow->options.flags : SENSOR_FOLLOW | SENSOR_OPEN | SENSOR_AREAS;
	size_t next = follow->asked++;

	return next < wants->count ? sensor_observer_ask(follow->observer, wants->items[next].name, flags) : 0;
}

/* Which types it has nobody knows. */
static bool is_process_wanted(const struct follow *follow, const struct sensor_process *process)
{
	const struct stream_wants *wants = follow->options.wants;

	for (size_t i = 0; i < wants->count; i++)
		if (sensor_pattern_means_program(wants->items[i].name, process->comm, process->path))
			return true;
	return false;
}

static int take_notice(struct follow *follow, const struct sensor_notice *notice)
{
	const struct follow_options *options = &follow->options;

	switch (notice->kind) {
	case SENSOR_PROCESS:
		return options->on_process(options->context, notice);
	case SENSOR_TYPE:
		return options->on_type(options->context, notice);
	case SENSOR_ENDED:
		options->on_ended(options->context, notice->number);
		return 0;
	case SENSOR_LEFT_OUT:
		return is_process_wanted(follow, notice->process) ? options->on_left_out(options->context, notice) : 0;
	case SENSOR_END:
		follow->is_lost = false;
		return ask_for_next_name(follow);
	default:
		return 0;
	}
}

/* Told once, until one has answered again. */
static void lose_directory(struct follow *follow, int error)
{
	static const char hint[] =
		"start asterismd or 'asterism sensors --serve'; events raised before that are not seen";
	struct asterism_diag *diag = follow->options.diag;

	if (!follow->is_lost && (error == -EPIPE || error == -ECONNRESET))
		diag_add(diag, ASTERISM_WARNING, NULL, hint,
			 "the sensor registry has ended: applications raise no events until another one runs");
	else if (!follow->is_lost)
		diag_add(diag, ASTERISM_WARNING, NULL, hint, "unexpected answer from the sensor registry: %s",
			 sensor_observer_reason(follow->observer, error));
	follow->is_lost = true;
	sensor_observer_close(follow->observer);
	follow->observer = NULL;
	follow->next_try_ns = clock_now_ns() + AGAIN_NS;
	if (follow->options.on_gone)
		follow->options.on_gone(follow->options.context);
}

/* Takes what the directory has told by now. Returns the first failure; everything is taken all the same. */
static int take_news(struct follow *follow)
{
	struct sensor_notice notice;
	int result, failed = 0;

	for (int i = 0; follow->observer && i < NEWS_MAX; i++) {
		result = sensor_observer_next(follow->observer, 0, &notice);
		if (result == 0)
			return failed;
		if (result < 0) {
			lose_directory(follow, result);
			return failed;
		}
		result = take_notice(follow, &notice);
		failed = failed ? failed : result;
	}
	return failed;
}

static void find_directory_again(struct follow *follow, uint64_t now)
{
	if (follow->observer || now < follow->next_try_ns)
		return;
	follow->next_try_ns = now + AGAIN_NS;
	if (sensor_observer_open(NULL, NULL, NULL, &follow->observer)) {
		follow->observer = NULL;
		return;
	}
	follow->asked = 0;
	int result = watch_followed(follow, sensor_observer_fd(follow->observer));

	if (!result)
		result = ask_for_next_name(follow);
	if (result)
		lose_directory(follow, result);
}

/* Said once: whoever is there by now is told of. */
static void tell_waiting(struct follow *follow, uint64_t now)
{
	if (follow->told_waiting || now - follow->begin_ns < PATIENCE_NS)
		return;
	follow->told_waiting = true;
	for (size_t i = 0; i < follow->options.wants->count && !follow->options.is_quiet; i++)
		if (!follow->options.wants->items[i].announced)
			diag_add(follow->options.diag, ASTERISM_NOTE, NULL, NULL,
				 "waiting: no observed process has declared %s yet",
				 follow->options.wants->items[i].name);
}

/*
 * Asks for all, and waits for the answers, so that what is started now finds its sensors watched. One that takes its
 * time goes on being asked later, and so does one that our own thread serves elsewhere, as asterismd's.
 */
static int ask_all(struct follow *follow)
{
	struct sensor_notice notice;
	int result = ask_for_next_name(follow);

	if (!follow->directory && sensor_observer_is_own(follow->observer))
		return result;
	for (int waited = 0; result >= 0 && follow->asked <= follow->options.wants->count && waited < OPEN_WAIT_MS;) {
		result = follow->directory ? sensor_directory_dispatch(follow->directory) : 0;
		if (!result)
			result = sensor_observer_next(follow->observer, 1, &notice);
		waited += result == 0;
		if (result == 1)
			result = take_notice(follow, &notice);
	}
	return result < 0 ? result : 0;
}

/* Returns 0; -ENOENT: nobody serves. */
static int observe_directory(struct follow *follow, const char *path, struct asterism_diag *diag)
{
	int result = sensor_observer_open(path, NULL, diag, &follow->observer);

	if (!result)
		result = watch_followed(follow, sensor_observer_fd(follow->observer));
	return result ? result : ask_all(follow);
}

/* Returns 0, -EADDRINUSE: another one began to serve just now; -errno. */
static int serve_followed(struct follow *follow, struct asterism_diag *diag)
{
	static const struct sensor_directory_options usual;
	struct asterism_diag *said = asterism_diag_new();
	int result = sensor_directory_open(&usual, said, &follow->directory);

	if (result != -EADDRINUSE)
		diag_take(diag, said);
	asterism_diag_free(said);
	return result;
}

static int find_directory(struct follow *follow, struct asterism_diag *diag)
{
	int result = -EADDRINUSE;

	for (int tries = 0; tries < TRIES && result == -EADDRINUSE; tries++) {
		if (tries)
			nanosleep(&(struct timespec){ .tv_nsec = AGAIN_NS / TRIES }, NULL);
		result = observe_directory(follow, NULL, NULL);
		if (!result)
			return 0;
		if (result != -ENOENT && result != -ECONNREFUSED)
			break;
		result = serve_followed(follow, diag);
		if (result && result != -EADDRINUSE)
			return result;
	}
	if (result && !follow->directory)
		return diag_error(diag, NULL, result, "cannot query the sensor registry: %s",
				  follow->observer ? sensor_observer_reason(follow->observer, result)
						   : strerror(-result));
	if (!result)
		result = watch_followed(follow, sensor_directory_fd(follow->directory));
	return result ? result : observe_directory(follow, sensor_directory_path(follow->directory), diag);
}

int follow_new(const struct follow_options *options, struct asterism_diag *diag, struct follow **made)
{
	struct follow *follow = alloc_zero(1, sizeof *follow);
	int result;

	if (!follow)
		return diag_no_memory(diag);
	follow->options = *options;
	follow->begin_ns = clock_now_ns();
	follow->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (follow->epoll_fd < 0)
		result = diag_error(diag, NULL, -errno, "cannot wait for sensors: %s", strerror(errno));
	else
		result = find_directory(follow, diag);
	if (result)
		follow_free(follow);
	else
		*made = follow;
	return result;
}

void follow_free(struct follow *follow)
{
	if (!follow)
		return;
	sensor_observer_close(follow->observer);
	sensor_directory_close(follow->directory);
	if (follow->epoll_fd >= 0)
		close(follow->epoll_fd);
	alloc_free(follow);
}

int follow_fd(const struct follow *follow)
{
	return follow->epoll_fd;
}

int follow_serve(struct follow *follow)
{
	int result = follow->directory ? sensor_directory_dispatch(follow->directory) : 0;
	uint64_t now = clock_now_ns();

	find_directory_again(follow, now);
	if (!result)
		result = take_news(follow);
	tell_waiting(follow, now);
	return result;
}
