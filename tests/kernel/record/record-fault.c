// SPDX-License-Identifier: BSD-2-Clause
/*
 * A recording with one allocation after the other failing: an error each time or none at all, nothing crashed, and
 * nothing on the disk of a recording that did not begin. Of the later ones only some fail where not "every" one is
 * asked for.
 *
 * usage: record-fault CATALOG [every]
 */

#include "base/alloc.h"
#include "session/record/recording.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SKIPPED = 77, EVERY_ONE = 50, RARER = 7, MARKS = 300 };

static char folder[] = "/tmp/asterism-kernel-XXXXXX";

struct rig {
	struct asterism_diag *diag;
	struct recording_options options;
	struct recording *recording;
	unsigned long failing;
	bool every;
	pid_t plant;
	int to_plant, from_plant;
};

/* A process that calls getppid for every byte that it gets, and sends one back. */
static int start_plant(struct rig *rig)
{
	int there[2], back[2];
	char byte;

	if (pipe(there) || pipe(back) || (rig->plant = fork()) < 0)
		return 1;
	if (rig->plant == 0) {
		close(there[1]);
		while (read(there[0], &byte, 1) == 1) {
			syscall(SYS_getppid);
			if (write(back[1], &byte, 1) != 1)
				break;
		}
		_exit(0);
	}
	close(there[0]);
	close(back[1]);
	rig->to_plant = there[1];
	rig->from_plant = back[0];
	return 0;
}

static int make_plant_call(struct rig *rig)
{
	char byte = 0;

	return write(rig->to_plant, &byte, 1) == 1 && read(rig->from_plant, &byte, 1) == 1 ? 0 : -EIO;
}

static int fail(const struct rig *rig, const char *what, int result)
{
	printf("FAIL: %s, allocation %lu: %s: %s, %zu errors told\n", rig->options.flight ? "flight" : "continuous",
	       rig->failing, what, strerror(-result), asterism_diag_count(rig->diag, ASTERISM_ERROR));
	return 1;
}

/* More marks than are kept. */
static void mark(struct recording *recording)
{
	struct recording_mark mark = { .ts = 1, .comm = "fault", .rule = "rule", .values = "{}" };

	for (int i = 0; i < MARKS; i++, mark.ts++)
		recording_mark(recording, &mark);
}

static int record(struct rig *rig)
{
	uint64_t wait_ns;
	int result = recording_attach(rig->recording);

	if (!result)
		result = recording_add(rig->recording, rig->plant);
	if (!result)
		result = make_plant_call(rig);
	if (result)
		return result;
	result = recording_poll(rig->recording, &wait_ns);
	mark(rig->recording);
	if (!result && rig->options.flight)
		result = recording_snapshot(rig->recording, "one", true);
	recording_finish(rig->recording);
	return result;
}

/* Whether something is told that came short of the memory it needed. */
static bool is_short(const struct rig *rig, const struct recording_totals *totals)
{
	return totals->unmarked || totals->unwritten || totals->snapshots_cut ||
	       asterism_diag_count(rig->diag, ASTERISM_ERROR);
}

static int attempt(struct rig *rig)
{
	int result;

	asterism_diag_clear(rig->diag);
	rig->recording = NULL;
	alloc_fail_at(rig->failing);
	result = recording_new(&rig->options, rig->diag, &rig->recording);
	if (!result)
		result = record(rig);
	alloc_fail_at(0);
	return result;
}

/* Removes a directory of files or of such directories. */
static void sweep(const char *path)
{
	DIR *listing = opendir(path);
	const struct dirent *entry;
	char inner[512];

	while (listing && (entry = readdir(listing))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
		if (unlink(inner))
			sweep(inner);
	}
	if (listing)
		closedir(listing);
	rmdir(path);
}

static int run_all(struct rig *rig)
{
	int result;

	for (rig->failing = 1;; rig->failing += rig->every || rig->failing < EVERY_ONE ? 1 : RARER) {
		struct recording_totals totals = { 0 };

		result = attempt(rig);
		bool began = rig->recording != NULL;

		if (result && (result != -ENOMEM || !asterism_diag_count(rig->diag, ASTERISM_ERROR)))
			return fail(rig, "wrong result", result);
		if (began)
			recording_count(rig->recording, &totals);
		recording_free(rig->recording);
		if (!began && access(rig->options.path, F_OK) == 0)
			return fail(rig, "something is left", result);
		if (!result && totals.events == 0)
			return fail(rig, "no events", result);
		sweep(rig->options.path);
		if (!result && !is_short(rig, &totals))
			break;
	}
	printf("%s: %lu allocations\n", rig->options.flight ? "flight" : "continuous", rig->failing);
	return 0;
}

int main(int argc, char **argv)
{
	struct event_catalog *catalog = event_catalog_new();
	struct selection selection = { 0 };
	struct rig rig = { .diag = asterism_diag_new(), .options = { .what = &selection, .scope = EBPF_SCOPE_PIDS } };
	char path[64];
	int failures = 0;

	if (geteuid() != 0) {
		printf("skipped: not root\n");
		return SKIPPED;
	}
	rig.every = argc == 3 && strcmp(argv[2], "every") == 0;
	if (argc != 2 + rig.every || event_catalog_read(catalog, ".", argv[1], rig.diag) ||
	    selection_add(&selection, catalog, "sys_enter_getppid,sys_exit", rig.diag) || !mkdtemp(folder) ||
	    start_plant(&rig))
		return 1;
	snprintf(path, sizeof path, "%s/trace", folder);
	rig.options.path = path;
	for (int flight = 0; flight < 2; flight++) {
		rig.options.flight = flight;
		failures += run_all(&rig);
		sweep(path);
	}
	sweep(folder);
	close(rig.to_plant);
	waitpid(rig.plant, NULL, 0);
	selection_fini(&selection);
	event_catalog_free(catalog);
	asterism_diag_free(rig.diag);
	return failures != 0;
}
