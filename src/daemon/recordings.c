// SPDX-License-Identifier: BSD-2-Clause
/*
 * Keeps the recordings: how many there may be, where their traces go, what counts as used there, and what the log says.
 */

#include "daemon/recordings.h"

#include "base/clock.h"
#include "base/create.h"
#include "base/usual-ring.h"
#include "daemon/daemon.h"
#include "daemon/log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The least that a trace may be kept to, and the time between two lines about losses. */
#define TRACE_BYTES_MIN UINT64_C(1048576)
#define PAUSE_NS        UINT64_C(10000000000)

/* A trace, in it snapshots, in them files. */
enum { DEPTH = 3 };

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Bytes on the disk of what is in folder, which is closed. */
static uint64_t bytes_in(int folder, int depth, size_t *entries)
{
	DIR *stream = folder < 0 ? NULL : fdopendir(folder);
	const struct dirent *entry;
	uint64_t bytes = 0;

	if (!stream && folder >= 0)
		close(folder);
	while (stream && (entry = readdir(stream))) {
		struct stat status;

		if (is_dots(entry->d_name) || fstatat(dirfd(stream), entry->d_name, &status, AT_SYMLINK_NOFOLLOW))
			continue;
		if (entries)
			++*entries;
		if (S_ISREG(status.st_mode))
			bytes += (uint64_t)status.st_blocks * 512;
		else if (S_ISDIR(status.st_mode) && depth > 1)
			bytes += bytes_in(
				openat(dirfd(stream), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
				depth - 1, NULL);
	}
	if (stream)
		closedir(stream);
	return bytes;
}

void recordings_usage(const struct recordings *recordings, uint64_t *bytes, size_t *traces)
{
	*traces = 0;
	*bytes = recordings->folder
			 ? bytes_in(open(recordings->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), DEPTH, traces)
			 : 0;
}

int recordings_open(struct recordings *recordings, const struct options *options)
{
	const char *why;
	int folder;

	recordings->folder = options->recordings;
	recordings->bytes_max = options->recordings_max_bytes;
	if (!recordings->folder)
		return 0;
	folder = create_folder(recordings->folder, 0600, NULL, &why);
	if (folder < 0) {
		log_line(LOG_LEVEL_ERROR, "cannot record to %s: %s", recordings->folder, why);
		return folder;
	}

	struct stat status;
	bool is_own = fstat(folder, &status) == 0 && daemon_trusts(&status) && !(status.st_mode & 0077);

	close(folder);
	if (is_own)
		return 0;
	log_line(LOG_LEVEL_ERROR, "cannot record to %s: the directory is accessible to others (chmod 700)",
		 recordings->folder);
	return -EPERM;
}

void recordings_close(struct recordings *recordings)
{
	struct asterism_recording_stats stats;

	for (size_t i = 0; i < RECORDINGS_MAX; i++)
		if (recordings->items[i].engine)
			recordings_stop(recordings, &recordings->items[i], &stats);
}

bool recordings_is_name(const char *name)
{
	size_t length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-");

	return length > 0 && length < RECORDINGS_NAME_BYTES && name[length] == 0;
}

size_t recordings_count(const struct recordings *recordings, bool of_user, uid_t user)
{
	size_t count = 0;

	for (size_t i = 0; i < RECORDINGS_MAX; i++)
		count += recordings->items[i].engine && (!of_user || recordings->items[i].owner == user);
	return count;
}

struct daemon_recording *recordings_find(struct recordings *recordings, const char *name)
{
	for (size_t i = 0; i < RECORDINGS_MAX; i++)
		if (recordings->items[i].engine && strcmp(recordings->items[i].name, name) == 0)
			return &recordings->items[i];
	return NULL;
}

uint64_t recordings_lost(const struct asterism_recording_stats *stats)
{
	return stats->overwritten + stats->unwritten + stats->dropped + stats->unread + stats->missed;
}

/* What may still be written: what runs counts as large as it may become. */
static uint64_t room_of(const struct recordings *recordings, size_t *traces)
{
	uint64_t used, reserved = 0;

	recordings_usage(recordings, &used, traces);
	for (size_t i = 0; i < RECORDINGS_MAX; i++) {
		struct asterism_recording_stats stats = { .size = sizeof stats };
		const struct daemon_recording *recording = &recordings->items[i];

		if (!recording->engine || asterism_recording_stats(recording->engine, &stats))
			continue;
		if (recording->max_bytes > stats.bytes)
			reserved += recording->max_bytes - stats.bytes;
	}
	used += reserved;
	return used < recordings->bytes_max ? recordings->bytes_max - used : 0;
}

static int refuse_room(const struct recordings *recordings, uint64_t room, uint64_t wanted,
		       char why[RECORDINGS_WHY_BYTES])
{
	snprintf(why, RECORDINGS_WHY_BYTES,
		 "%" PRIu64 " KiB are needed, but of the %" PRIu64 " MiB of --recordings-max only %" PRIu64
		 " KiB are free: remove traces from the directory of --recordings",
		 wanted >> 10, recordings->bytes_max >> 20, room >> 10);
	return -EDQUOT;
}

bool recordings_has_room(const struct recordings *recordings, const struct daemon_recording *recording,
			 char why[RECORDINGS_WHY_BYTES])
{
	size_t traces;
	uint64_t room = room_of(recordings, &traces);

	return room >= recording->ring_bytes || refuse_room(recordings, room, recording->ring_bytes, why) == 0;
}

/* How large the trace may become, in *max_bytes; a flight recording needs room when it writes. */
static int take_room(const struct recordings *recordings, const struct recordings_order *order, uint64_t *max_bytes,
		     char *why)
{
	size_t traces;
	uint64_t room = room_of(recordings, &traces), usual = recordings->bytes_max / 4;

	if (traces >= RECORDINGS_KEPT_MAX) {
		snprintf(why, RECORDINGS_WHY_BYTES,
			 "the directory of --recordings already has %zu traces, the limit: remove some", traces);
		return -EDQUOT;
	}
	*max_bytes = order->flight ? 0 : order->max_bytes ? order->max_bytes : usual < room ? usual : room;
	if (order->max_bytes && order->max_bytes < TRACE_BYTES_MIN) {
		snprintf(why, RECORDINGS_WHY_BYTES, "a trace needs at least %" PRIu64 " KiB: use a larger --max-size",
			 TRACE_BYTES_MIN >> 10);
		return -EDQUOT;
	}
	if (!order->flight && (*max_bytes > room || *max_bytes < TRACE_BYTES_MIN))
		return refuse_room(recordings, room, *max_bytes > room ? *max_bytes : TRACE_BYTES_MIN, why);
	return 0;
}

static uint64_t processors(void)
{
	return (uint64_t)sysconf(_SC_NPROCESSORS_CONF);
}

/* The rings of all CPUs: what is asked for, or the usual as far as --memory-max has room. */
static uint64_t rings_of(const struct daemon *daemon, const struct recordings_order *order)
{
	uint64_t ring = order->ring_bytes, bytes;

	if (ring)
		return ring * processors();
	ring = usual_ring_bytes(usual_ring_available_bytes(), processors());
	while (ring > USUAL_RING_BYTES_MIN && !budget_has_room(&daemon->budget, ring * processors(), &bytes))
		ring /= 2;
	return ring * processors();
}

static void name_by_time(char name[RECORDINGS_NAME_BYTES])
{
	time_t now = time(NULL);
	struct tm when;

	gmtime_r(&now, &when);
	strftime(name, RECORDINGS_NAME_BYTES, "%Y%m%dT%H%M%SZ", &when);
}

static int refuse_session(const struct daemon *daemon, int result, char *why)
{
	const char *error = asterism_session_error(daemon->session);

	snprintf(why, RECORDINGS_WHY_BYTES, "%s", *error ? error : strerror(-result));
	return result;
}

static int start_engine(struct daemon *daemon, const struct recordings_order *order, struct daemon_recording *recording,
			char *why)
{
	char path[PATH_MAX];
	const struct asterism_recording_options options = {
		.size = sizeof options,
		.path = path,
		.flight = order->flight,
		.events = *order->events ? order->events : NULL,
		.ring_bytes = recording->ring_bytes / processors(),
		.max_bytes = recording->max_bytes,
		.last_ns = order->last_ns,
	};
	int result;

	if (snprintf(path, sizeof path, "%s/%s", daemon->recordings.folder, recording->name) >= (int)sizeof path) {
		snprintf(why, RECORDINGS_WHY_BYTES, "the directory's name is too long");
		return -ENAMETOOLONG;
	}
	/* Also an empty folder is somebody's. */
	if (access(path, F_OK) == 0) {
		snprintf(why, RECORDINGS_WHY_BYTES, "a trace named %s already exists", recording->name);
		return -EEXIST;
	}
	result = asterism_recording_start(daemon->session, &options, &recording->engine);
	return result ? refuse_session(daemon, result, why) : 0;
}

static struct daemon_recording *free_recording_place(struct recordings *recordings)
{
	for (size_t i = 0; i < RECORDINGS_MAX; i++)
		if (!recordings->items[i].engine)
			return &recordings->items[i];
	return NULL;
}

int recordings_start(struct daemon *daemon, const struct recordings_order *order, struct daemon_recording **started,
		     char why[RECORDINGS_WHY_BYTES])
{
	struct recordings *recordings = &daemon->recordings;
	struct daemon_recording *place = free_recording_place(recordings);
	struct daemon_recording recording = { .owner = order->owner,
					      .flight = order->flight,
					      .ring_bytes = rings_of(daemon, order),
					      .started_ns = clock_now_ns() };
	uint64_t bytes;
	int result;

	if (!place) {
		snprintf(why, RECORDINGS_WHY_BYTES, "%d recordings are already running: stop one", RECORDINGS_MAX);
		return -EDQUOT;
	}
	if (*order->name)
		snprintf(recording.name, sizeof recording.name, "%s", order->name);
	else
		name_by_time(recording.name);
	if (!budget_has_room(&daemon->budget, recording.ring_bytes, &bytes)) {
		snprintf(why, RECORDINGS_WHY_BYTES,
			 "its rings would raise the daemon's memory to %" PRIu64 " KiB, above --memory-max",
			 bytes >> 10);
		return -EDQUOT;
	}
	result = take_room(recordings, order, &recording.max_bytes, why);
	if (!result)
		result = start_engine(daemon, order, &recording, why);
	if (result)
		return result;
	recordings->begun++;
	*place = recording;
	*started = place;
	log_line(LOG_LEVEL_INFO, "recording %s: started by user %u", place->name, (unsigned)place->owner);
	return 0;
}

/* What a flight recording holds at its end is not thrown away. */
static void write_recording_end(const struct recordings *recordings, struct daemon_recording *recording)
{
	char why[RECORDINGS_WHY_BYTES];

	if (!recording->flight)
		return;
	if (!recordings_has_room(recordings, recording, why))
		log_line(LOG_LEVEL_WARNING, "recording %s: the last snapshot was not written: %s", recording->name,
			 why);
	else if (asterism_recording_snapshot(recording->engine, "end") < 0)
		log_line(LOG_LEVEL_WARNING, "recording %s: the last snapshot was not written completely",
			 recording->name);
}

void recordings_stop(struct recordings *recordings, struct daemon_recording *recording,
		     struct asterism_recording_stats *stats)
{
	struct asterism_recording_stats end = { .size = sizeof end };

	write_recording_end(recordings, recording);
	asterism_recording_finish(recording->engine);
	recordings_look(recordings, UINT64_MAX);
	asterism_recording_stats(recording->engine, &end);
	asterism_recording_stop(recording->engine);
	recording->engine = NULL;
	recordings->events += end.events;
	recordings->lost += recordings_lost(&end);
	log_line(LOG_LEVEL_INFO, "recording %s: ended with %" PRIu64 " events, %" PRIu64 " lost", recording->name,
		 end.events, recordings_lost(&end));
	*stats = end;
}

/* One line says how many, and why, as far as there is one reason above others. */
static void tell_losses(struct daemon_recording *recording, uint64_t now_ns)
{
	struct asterism_recording_stats stats = { .size = sizeof stats };

	if (asterism_recording_stats(recording->engine, &stats) || recordings_lost(&stats) <= recording->told_lost)
		return;
	if (recording->told_ns && now_ns - recording->told_ns < PAUSE_NS)
		return;
	log_line(LOG_LEVEL_WARNING,
		 "recording %s: %" PRIu64 " events lost so far (%" PRIu64 " came too fast, %" PRIu64
		 " could not be written, %" PRIu64 " did not fit, %" PRIu64 " could not be read, %" PRIu64
		 " were missed by the kernel)",
		 recording->name, recordings_lost(&stats), stats.overwritten, stats.unwritten, stats.dropped,
		 stats.unread, stats.missed);
	recording->told_lost = recordings_lost(&stats);
	recording->told_ns = now_ns;
}

void recordings_look(struct recordings *recordings, uint64_t now_ns)
{
	for (size_t i = 0; i < RECORDINGS_MAX; i++) {
		struct daemon_recording *recording = &recordings->items[i];
		const struct asterism_diag *news;
		const struct asterism_message *message;

		if (!recording->engine)
			continue;
		news = asterism_recording_news(recording->engine);
		for (size_t j = 0; (message = asterism_diag_get(news, j)); j++) {
			log_line(message->severity == ASTERISM_ERROR ? LOG_LEVEL_ERROR : LOG_LEVEL_WARNING,
				 "recording %s: %s", recording->name, message->text);
			if (message->severity == ASTERISM_ERROR)
				snprintf(recording->error, sizeof recording->error, "%s", message->text);
		}
		tell_losses(recording, now_ns);
	}
}
