// SPDX-License-Identifier: BSD-2-Clause
/*
 * Two hundred times a unit is loaded, activated, matched, deactivated and unloaded beside one that stays: afterwards
 * the process has the descriptors, maps, programs, links and memory that it had, and the unit that stayed its run.
 */

#include "puppet.h"

#include <asterism/asterism.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SKIPPED = 77, CYCLES = 200, SETTLED = 40, LIMIT_MS = 10000, STEP_MS = 50, GROWTH_KB = 1024 };

static const char pair_text[] = "RULE pair\n"
				"PATTERN { [sys_enter_getppid:a, sys_exit_getppid:b] }\n"
				"WHERE { [tid] }\n"
				"RETURN { b.ret AS ret }\n";
/* A run that is open while all the others come and go. */
static const char long_text[] = "RULE long\n"
				"PATTERN { [sys_exit_getpgid:a, sys_exit_getpgid:b] }\n"
				"WHERE { [tid] }\n";

struct held {
	int descriptors, maps, programs, links;
	long kilobytes;
};

static int matches, long_matches;

static int on_match(void *context, const struct asterism_match *match)
{
	(void)context;
	if (strcmp(asterism_match_rule(match), "long") == 0)
		long_matches++;
	else
		matches++;
	return ASTERISM_CONTINUE;
}

static void count_kind(const char *name, struct held *held)
{
	char path[64], line[128];
	FILE *file;

	snprintf(path, sizeof path, "/proc/self/fdinfo/%.12s", name);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof line, file)) {
		held->maps += strncmp(line, "map_id:", 7) == 0;
		held->links += strncmp(line, "link_id:", 8) == 0;
		held->programs += strncmp(line, "prog_id:", 8) == 0;
	}
	if (file)
		fclose(file);
}

/* What the process holds; programs that a link alone holds show in the link. */
static struct held count(void)
{
	struct held held = { 0 };
	DIR *listing = opendir("/proc/self/fd");
	const struct dirent *entry;
	long pages = 0;
	FILE *file;

	while (listing && (entry = readdir(listing))) {
		held.descriptors++;
		count_kind(entry->d_name, &held);
	}
	if (listing)
		closedir(listing);
	file = fopen("/proc/self/statm", "re");
	if (file) {
		if (fscanf(file, "%*d %ld", &pages) != 1)
			pages = 0;
		fclose(file);
	}
	held.kilobytes = pages * sysconf(_SC_PAGESIZE) / 1024;
	return held;
}

static int fail(struct asterism_session *session, const char *what)
{
	printf("FAIL: %s: %s\n", what, asterism_session_error(session));
	return 1;
}

static int cycle(struct asterism_session *session, const struct puppet *puppet)
{
	struct asterism_rules *rules;
	int before = matches, result = 0;

	if (asterism_rules_load_text(session, pair_text, strlen(pair_text), NULL, &rules) ||
	    asterism_rules_activate(rules))
		return fail(session, "loading");
	if (puppet_call(puppet, 1))
		return fail(session, "the puppet is gone");
	for (int ms = 0; matches == before && result >= 0 && ms < LIMIT_MS; ms += STEP_MS)
		result = asterism_session_wait(session, STEP_MS);
	if (matches != before + 1)
		return fail(session, "no match");
	if (asterism_rules_deactivate(rules))
		return fail(session, "deactivating");
	asterism_rules_unload(rules);
	return 0;
}

#ifdef __SANITIZE_ADDRESS__
enum { FREED_IS_KEPT = 1 }; /* to find its use: memory grows by design */
#else
enum { FREED_IS_KEPT = 0 };
#endif

static int compare(const struct held *before, const struct held *after)
{
	printf("descriptors %d -> %d, maps %d -> %d, programs %d -> %d, links %d -> %d, RSS %ld -> %ld KB\n",
	       before->descriptors, after->descriptors, before->maps, after->maps, before->programs, after->programs,
	       before->links, after->links, before->kilobytes, after->kilobytes);
	return after->descriptors != before->descriptors || after->maps != before->maps ||
	       after->programs != before->programs || after->links != before->links ||
	       (!FREED_IS_KEPT && after->kilobytes > before->kilobytes + GROWTH_KB) || before->maps == 0 ||
	       before->programs == 0;
}

static int run(struct asterism_session *session, const struct puppet *puppet)
{
	struct held before = { 0 }, after;
	struct asterism_rules *rules;

	if (asterism_session_add_process(session, puppet->pid) ||
	    asterism_rules_load_text(session, long_text, strlen(long_text), NULL, &rules) ||
	    asterism_rules_activate(rules) || puppet_call(puppet, PUPPET_OTHER))
		return fail(session, "the unit that stays");
	for (int i = 0; i < CYCLES; i++) {
		if (cycle(session, puppet))
			return 1;
		if (i == SETTLED)
			before = count();
	}
	after = count();
	if (puppet_call(puppet, PUPPET_OTHER))
		return fail(session, "the puppet is gone");
	for (int ms = 0; long_matches == 0 && ms < LIMIT_MS; ms += STEP_MS)
		asterism_session_wait(session, STEP_MS);
	if (long_matches != 1)
		return fail(session, "the run of the unit that stayed");
	return compare(&before, &after);
}

int main(void)
{
	const struct asterism_session_options options = { .size = sizeof options, .on_match = on_match };
	struct asterism_session *session;
	struct puppet puppet;
	int result;

	if (geteuid() != 0) {
		printf("skipped: not root\n");
		return SKIPPED;
	}
	if (puppet_start(&puppet) || asterism_session_open(&options, NULL, &session))
		return 1;
	result = run(session, &puppet);
	asterism_session_free(session);
	puppet_stop(&puppet);
	return result;
}
