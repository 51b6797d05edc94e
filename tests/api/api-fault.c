// SPDX-License-Identifier: BSD-2-Clause
/*
 * Everything a program does with the library, with every allocation failing in turn: an error each time or none at all,
 * and then everything works. Also that failures leave nothing behind: the same descriptors are open as before.
 */

#include "base/alloc.h"
#include "puppet.h"

#include <asterism/asterism.h>

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SKIPPED = 77, EVERY_ONE = 400, RARER = 23, LIMIT_MS = 10000, STEP_MS = 50 };

static const char pair_text[] = "RULE pair\n"
				"PATTERN { [sys_enter_getppid:a, sys_exit_getppid:b] }\n"
				"WHERE { [tid] }\n"
				"DO { CALL Count(\"pairs\"); CALL Message(\"pair\") }\n"
				"RETURN { b.ret AS ret, a.comm AS who }\n";
/* In user space, for its pattern: the engine's allocations count, too. */
static const char user_text[] =
	"RULE one PATTERN { [sys_exit_getppid:a] } WHERE { a.comm LIKE \"*api*\" }\n"
	"RULE two PATTERN { [sys_exit_getppid:a] } WHERE { a.comm LIKE \"*api*\" } RETURN { a.ret }\n";

struct rig {
	struct puppet puppet;
	struct asterism_session *session;
	struct asterism_rules *first;
	unsigned long failing;
	int matches;
	int json_error;
};

static int on_match(void *context, const struct asterism_match *match)
{
	struct rig *rig = context;
	char *text = NULL;
	int length = asterism_match_json_text(match, &text);

	if (length < 0)
		rig->json_error = length;
	free(text);
	rig->matches++;
	return ASTERISM_CONTINUE;
}

static int load_and_activate(struct rig *rig, const char *text)
{
	struct asterism_rules *rules = NULL;
	int result = asterism_rules_load_text(rig->session, text, strlen(text), NULL, &rules);

	if (!result)
		result = asterism_rules_activate(rules);
	rig->first = rig->first ? rig->first : rules;
	return result;
}

static int use(struct rig *rig)
{
	char *const command[] = { "true", NULL };
	int result = asterism_session_add_process(rig->session, rig->puppet.pid);

	if (!result)
		result = load_and_activate(rig, pair_text);
	if (!result)
		result = load_and_activate(rig, user_text);
	if (!result)
		result = asterism_session_launch(rig->session, command, NULL);
	if (!result && puppet_call(&rig->puppet, 1))
		result = -EIO;
	for (int ms = 0; result >= 0 && rig->matches < 3 && ms < LIMIT_MS; ms += STEP_MS)
		result = asterism_session_wait(rig->session, STEP_MS);
	if (result >= 0)
		result = asterism_rules_tallies(rig->first);
	if (result >= 0 && result != 1)
		return -EIO;
	return result < 0 ? result : 0;
}

static int attempt(struct rig *rig, struct asterism_diag *diag)
{
	const struct asterism_session_options options = { .size = sizeof options,
							  .on_match = on_match,
							  .context = rig };
	const struct asterism_diag *reported = diag;
	int result;

	rig->matches = 0;
	rig->first = NULL;
	asterism_diag_clear(diag);
	alloc_fail_at(rig->failing);
	result = asterism_session_open(&options, diag, &rig->session);
	if (!result) {
		result = use(rig);
		reported = asterism_session_diag(rig->session);
	}
	alloc_fail_at(0);
	if (result && (result != -ENOMEM || !asterism_diag_count(reported, ASTERISM_ERROR))) {
		printf("FAIL: allocation %lu: %s, %zu errors told\n", rig->failing, strerror(-result),
		       asterism_diag_count(reported, ASTERISM_ERROR));
		return -1;
	}
	if (rig->session)
		asterism_session_free(rig->session);
	rig->session = NULL;
	return result;
}

static int count_descriptors(void)
{
	DIR *listing = opendir("/proc/self/fd");
	int count = 0;

	while (listing && readdir(listing))
		count++;
	if (listing)
		closedir(listing);
	return count;
}

int main(void)
{
	struct asterism_diag *diag = asterism_diag_new();
	struct rig rig = { .failing = 1 };
	int before, result;

	if (geteuid() != 0) {
		printf("skipped: not root\n");
		return SKIPPED;
	}
	if (!diag || puppet_start(&rig.puppet))
		return 1;
	before = count_descriptors();
	while ((result = attempt(&rig, diag)) == -ENOMEM) {
		if (count_descriptors() != before) {
			printf("FAIL: allocation %lu: %d descriptors, %d before\n", rig.failing, count_descriptors(),
			       before);
			return 1;
		}
		rig.failing += rig.failing < EVERY_ONE ? 1 : RARER;
	}
	puppet_stop(&rig.puppet);
	asterism_diag_free(diag);
	if (result)
		return 1;
	printf("%lu allocations, %d matches\n", rig.failing, rig.matches);
	return rig.matches == 3 && !rig.json_error && count_descriptors() == before - 2 ? 0 : 1;
}
