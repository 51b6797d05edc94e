// SPDX-License-Identifier: BSD-2-Clause
/* Recordings of a session: what they observe, who looks after them, and what they are asked. */

#include "api/api-priv.h"

#include "api/sized.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "session/live/cgroups.h"
#include "session/record/recording.h"
#include "session/record/selection.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PATIENCE_NS UINT64_C(1000000000)

enum { NAME_CHARACTERS_MAX = 64 };

struct asterism_recording {
	struct asterism_session *session;
	struct asterism_recording *next;
	struct asterism_recording_options options;
	struct event_catalog *catalog;
	struct selection what;
	struct asterism_diag *diag, *news; /* what the engine says; what was handed out */
	struct recording *engine;
	char *path;
	bool has_ended;
};

/*
 * Who gives the text may be a client, and we root: a sensor may be named by a file, which must not be opened because
 * they say so.
 */
static int refuse_sensors(const char *text, struct asterism_diag *diag)
{
	if (!text || !selection_names_sensors(text))
		return 0;
	return diag_error(diag, NULL, -EINVAL,
			  "the library does not record application sensors: use 'asterism record'");
}

/* Adds what text asks for. */
static int select_events(struct asterism_recording *recording, const char *text, struct selection *selection)
{
	struct asterism_diag *diag = recording->session->diag;
	int result = refuse_sensors(text, diag);

	if (!result && (!text || *text == SELECTION_EXCLUDES))
		result = selection_add_usual(selection, recording->catalog, selection_default, diag);
	return result || !text ? result : selection_add(selection, recording->catalog, text, diag);
}

static int open_recording_engine(struct asterism_recording *recording)
{
	struct asterism_session *session = recording->session;
	const struct asterism_recording_options *options = &recording->options;
	const struct recording_options engine = {
		.path = recording->path,
		.mode = options->mode,
		.flight = options->flight != 0,
		.what = &recording->what,
		.is_masked = true,
		.scope = api_scope_of(session),
		.filter = live_filter_get(session->filter),
		.ring_bytes = options->ring_bytes,
		.max_bytes = options->max_bytes,
		.last_ns = options->last_ns,
	};
	int result = recording_new(&engine, recording->diag, &recording->engine);

	if (!result)
		result = recording_attach(recording->engine);
	for (size_t i = 0; i < session->processes.count && !result; i++) {
		result = recording_add(recording->engine, session->processes.items[i].pid);
		result = result == -ESRCH ? 0 : result;
	}
	if (!result)
		result = live_loop_watch(&session->loop, recording_fd(recording->engine), LIVE_WAKE_RULES,
					 session->diag);
	diag_take(session->diag, recording->diag);
	return result;
}

static void free_recording(struct asterism_recording *recording)
{
	recording_free(recording->engine);
	selection_fini(&recording->what);
	event_catalog_free(recording->catalog);
	asterism_diag_free(recording->diag);
	asterism_diag_free(recording->news);
	alloc_free(recording->path);
	alloc_free(recording);
}

static int check_recording_options(const struct asterism_recording_options *options, struct asterism_diag *diag)
{
	if (!options->path)
		return diag_error(diag, NULL, -EINVAL, "no path was given for the trace");
	if (options->flight && options->max_bytes)
		return diag_error(diag, NULL, -EINVAL,
				  "max_bytes does not apply to a flight recording: its memory limits it");
	if (!options->flight && options->last_ns)
		return diag_error(diag, NULL, -EINVAL, "last_ns applies to flight recordings only");
	return 0;
}

static int open_recording(struct asterism_recording *recording)
{
	struct asterism_diag *diag = recording->session->diag;
	int result = check_recording_options(&recording->options, diag);

	if (result)
		return result;
	recording->diag = asterism_diag_new();
	recording->news = asterism_diag_new();
	recording->path = alloc_text(recording->options.path);
	if (!recording->diag || !recording->news || !recording->path)
		return diag_no_memory(diag);
	result = session_catalog_new(diag, &recording->catalog);
	if (!result)
		result = select_events(recording, recording->options.events, &recording->what);
	if (!result && !recording->what.count)
		result = diag_error(diag, NULL, -EINVAL, "nothing would be recorded");
	if (!result)
		live_cgroups_warn_recorded(&recording->what, diag);
	return result ? result : open_recording_engine(recording);
}

int asterism_recording_start(struct asterism_session *session, const struct asterism_recording_options *options,
			     struct asterism_recording **started)
{
	struct asterism_recording *recording;
	int result;

	asterism_diag_clear(session->diag);
	recording = alloc_zero(1, sizeof *recording);
	if (!recording)
		return diag_no_memory(session->diag);
	recording->session = session;
	if (!options || sized_take(&recording->options, sizeof recording->options, options))
		result = sized_refuse(session->diag, "options", options, sizeof recording->options);
	else if (!started)
		result = diag_error(session->diag, NULL, -EINVAL, "the recording to return is NULL");
	else
		result = open_recording(recording);
	if (result) {
		free_recording(recording);
		return result;
	}
	recording->next = session->recordings;
	session->recordings = recording;
	live_loop_arm(&session->loop, 0);
	*started = recording;
	return 0;
}

void asterism_recording_finish(struct asterism_recording *recording)
{
	recording_finish(recording->engine);
	recording->has_ended = true;
}

static int check_runs(const struct asterism_recording *recording)
{
	asterism_diag_clear(recording->session->diag);
	return recording->has_ended ? diag_error(recording->session->diag, NULL, -EINVAL, "the recording has ended")
				    : 0;
}

void asterism_recording_stop(struct asterism_recording *recording)
{
	struct asterism_session *session;

	if (!recording)
		return;
	session = recording->session;
	asterism_diag_clear(session->diag);
	for (struct asterism_recording **link = &session->recordings; *link; link = &(*link)->next) {
		if (*link == recording) {
			*link = recording->next;
			break;
		}
	}
	live_loop_forget(&session->loop, recording_fd(recording->engine));
	recording_finish(recording->engine);
	diag_take(session->diag, recording->diag);
	free_recording(recording);
}

/* What is taken now, where text changes that, is what it begins with. */
static int select_more(struct asterism_recording *recording, const char *text, struct selection *wanted)
{
	struct asterism_diag *diag = recording->session->diag;
	const struct event_type *type;
	int result = 0;

	for (size_t i = 0; !result && (type = recording_type(recording->engine, i)); i++)
		result = selection_add(wanted, recording->catalog, type->name, diag);
	while (!result && *text) {
		size_t length = strcspn(text, ",");
		char item[256];

		if (length >= sizeof item)
			return diag_error(diag, NULL, -EINVAL, "an event name is too long");
		snprintf(item, sizeof item, "%.*s", (int)length, text);
		result = selection_add(wanted, recording->catalog, *item == SELECTION_ADDS ? item + 1 : item, diag);
		text += length + (text[length] == ',');
	}
	return result;
}

int asterism_recording_mask(struct asterism_recording *recording, const char *events)
{
	struct asterism_session *session = recording->session;
	struct selection wanted = { 0 };
	int result = check_runs(recording);

	if (result)
		return result;
	if (!events || !*events)
		return diag_error(session->diag, NULL, -EINVAL, "no events were named");
	result = refuse_sensors(events, session->diag);
	if (result)
		return result;
	if (*events == SELECTION_ADDS || *events == SELECTION_EXCLUDES)
		result = select_more(recording, events, &wanted);
	else
		result = selection_add(&wanted, recording->catalog, events, session->diag);
	if (!result)
		result = recording_mask(recording->engine, &wanted);
	selection_fini(&wanted);
	diag_take(session->diag, recording->diag);
	return result;
}

int asterism_recording_flush(struct asterism_recording *recording)
{
	struct asterism_diag *diag = recording->session->diag;
	int result = check_runs(recording);

	if (result)
		return result;
	result = recording_await(recording->engine, clock_now_ns() + PATIENCE_NS);
	if (result == -EINPROGRESS)
		return diag_error(diag, NULL, -EBUSY,
				  "writes are stalled; buffered events will be written when the disk responds again");
	return result ? diag_error(diag, NULL, result, "the trace does not contain everything recorded so far: %s",
				   strerror(-result))
		      : 0;
}

static bool is_recording_name(const char *name)
{
	size_t length = name ? strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") : 0;

	return length && length <= NAME_CHARACTERS_MAX && !name[length];
}

int asterism_recording_snapshot(struct asterism_recording *recording, const char *name)
{
	struct asterism_diag *diag = recording->session->diag;
	struct recording_totals before, after;
	int result = check_runs(recording);

	if (result)
		return result;
	if (!recording->options.flight)
		return diag_error(
			diag, NULL, -EINVAL,
			"cannot take a snapshot: this is not a flight recording, its trace is written continuously");
	if (!is_recording_name(name))
		return diag_error(diag, NULL, -EINVAL,
				  "invalid snapshot name: use 1 to 64 letters, digits, '-' and '_'");
	recording_count(recording->engine, &before);
	result = recording_snapshot(recording->engine, name, false);
	if (!result && recording_await(recording->engine, clock_now_ns() + PATIENCE_NS) == -EINPROGRESS)
		result = -EBUSY;
	if (result == -EBUSY)
		return diag_error(diag, NULL, result,
				  "writes are stalled; the previous snapshot is still waiting to be written");
	if (result)
		return diag_no_memory(diag);
	recording_count(recording->engine, &after);
	if (after.snapshots_cut == before.snapshots_cut)
		return (int)after.snapshots;
	recording_poll(recording->engine, &(uint64_t){ 0 });
	diag_take(diag, recording->diag);
	return diag_error(diag, NULL, -EIO, "the snapshot could not be written completely");
}

int asterism_recording_stats(const struct asterism_recording *recording, struct asterism_recording_stats *stats)
{
	struct recording_totals totals;

	recording_count(recording->engine, &totals);

	struct asterism_recording_stats own = {
		.events = totals.events,
		.bytes = totals.bytes,
		.deleted_bytes = totals.deleted_bytes,
		.overwritten = totals.overwritten,
		.unwritten = totals.unwritten,
		.dropped = totals.dropped,
		.unread = totals.unread,
		.missed = totals.missed,
		.calls_32bit = totals.calls_32bit,
		.snapshots = totals.snapshots,
		.snapshots_cut = totals.snapshots_cut,
		.io_uring = totals.io_uring,
		.masked = recording_masks(recording->engine),
	};

	while (recording_type(recording->engine, own.types))
		own.types++;
	return sized_give(stats, &own, sizeof own);
}

const char *asterism_recording_type(const struct asterism_recording *recording, size_t index)
{
	const struct event_type *type = recording_type(recording->engine, index);

	return type ? type->name : NULL;
}

const struct asterism_diag *asterism_recording_news(struct asterism_recording *recording)
{
	asterism_diag_clear(recording->news);
	diag_take(recording->news, recording->diag);
	return recording->news;
}

int api_recordings_enter(struct asterism_session *session, pid_t pid)
{
	int result = 0;

	for (struct asterism_recording *recording = session->recordings; recording && !result;
	     recording = recording->next)
		result = recording_add(recording->engine, pid);
	return result ? diag_error(session->diag, NULL, result, "cannot record process %d: %s", (int)pid,
				   strerror(-result))
		      : 0;
}

void api_recordings_poll(struct asterism_session *session, uint64_t *wait_ns)
{
	for (struct asterism_recording *recording = session->recordings; recording; recording = recording->next) {
		uint64_t wait_for_recording = UINT64_MAX;

		/* What fails is among its news. */
		recording_poll(recording->engine, &wait_for_recording);
		*wait_ns = wait_for_recording < *wait_ns ? wait_for_recording : *wait_ns;
	}
}
