// SPDX-License-Identifier: BSD-2-Clause
/*
 * Everything a program does with the library, with one descriptor more each time until there are enough: an error with
 * a sentence each time, nothing printed by anybody, no limit changed.
 */

#include "puppet.h"

#include <asterism/asterism.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SKIPPED = 77, DESCRIPTORS_MAX = 100, LIMIT_MS = 10000, STEP_MS = 50 };

/* One in the kernel and one, for its pattern, in user space. */
static const char text[] = "RULE one PATTERN { [sys_exit_getppid:a] }\n"
			   "RULE two PATTERN { [sys_exit_getppid:a] } WHERE { a.comm LIKE \"*api*\" }\n";

static int matches;

static int on_match(void *context, const struct asterism_match *match)
{
	(void)context;
	(void)match;
	matches++;
	return ASTERISM_CONTINUE;
}

static int use(struct asterism_session *session, const struct puppet *puppet)
{
	char *const command[] = { "true", NULL };
	struct asterism_rules *rules;
	int result = asterism_session_add_process(session, puppet->pid);

	if (!result)
		result = asterism_rules_load_text(session, text, sizeof text - 1, NULL, &rules);
	if (!result)
		result = asterism_rules_activate(rules);
	if (!result)
		result = asterism_session_launch(session, command, NULL);
	if (!result && puppet_call(puppet, 1))
		result = -EIO;
	for (int ms = 0; result >= 0 && matches < 2 && ms < LIMIT_MS; ms += STEP_MS)
		result = asterism_session_wait(session, STEP_MS);
	return result < 0 ? result : 0;
}

/* With so many descriptors. Returns 0, 1 where something failed as it should, -1 as it should not. */
static int attempt(const struct puppet *puppet, rlim_t descriptors)
{
	const struct asterism_session_options options = { .size = sizeof options, .on_match = on_match };
	const struct rlimit before = { descriptors, DESCRIPTORS_MAX };
	struct asterism_diag *diag = asterism_diag_new();
	struct asterism_session *session = NULL;
	char said[512] = "";
	int result;

	setrlimit(RLIMIT_NOFILE, &before);
	result = asterism_session_open(&options, diag, &session);
	if (result && asterism_diag_count(diag, ASTERISM_ERROR))
		snprintf(said, sizeof said, "%s", asterism_diag_get(diag, 0)->text);
	if (!result) {
		result = use(session, puppet);
		snprintf(said, sizeof said, "%s", asterism_session_error(session));
	}
	asterism_session_free(session);
	asterism_diag_free(diag);
	if (result && !*said) {
		printf("FAIL: %d descriptors: %s, and nothing said\n", (int)descriptors, strerror(-result));
		return -1;
	}
	return result ? 1 : 0;
}

static int is_other_mask(const sigset_t *a, const sigset_t *b)
{
	for (int signal = 1; signal < SIGRTMAX; signal++) {
		if (sigismember(a, signal) != sigismember(b, signal))
			return 1;
	}
	return 0;
}

static int is_untouched(const struct rlimit *locked, const sigset_t *mask, int stderr_fd)
{
	struct rlimit limit;
	struct stat status;
	sigset_t now;

	sigprocmask(SIG_SETMASK, NULL, &now);
	getrlimit(RLIMIT_MEMLOCK, &limit);
	if (limit.rlim_cur != locked->rlim_cur || limit.rlim_max != locked->rlim_max)
		printf("FAIL: RLIMIT_MEMLOCK was changed\n");
	else if (is_other_mask(&now, mask))
		printf("FAIL: the signal mask was changed\n");
	else if (fstat(stderr_fd, &status) || status.st_size != 0)
		printf("FAIL: something was printed to standard error\n");
	else
		return 1;
	return 0;
}

int main(void)
{
	struct puppet puppet;
	struct rlimit locked;
	sigset_t mask;
	FILE *printed;
	int result = 1;
	rlim_t descriptors;

	if (geteuid() != 0) {
		printf("skipped: not root\n");
		return SKIPPED;
	}
	printed = tmpfile();
	if (!printed || puppet_start(&puppet) || dup2(fileno(printed), STDERR_FILENO) < 0)
		return 1;
	sigprocmask(SIG_SETMASK, NULL, &mask);
	getrlimit(RLIMIT_MEMLOCK, &locked);
	for (descriptors = 4; descriptors < DESCRIPTORS_MAX && result == 1; descriptors++)
		result = attempt(&puppet, descriptors);
	puppet_stop(&puppet);
	if (result == 0)
		printf("%d descriptors are enough\n", (int)descriptors - 1);
	else
		printf("FAIL: %d descriptors are not enough\n", DESCRIPTORS_MAX);
	rewind(printed);
	for (char line[256]; fgets(line, sizeof line, printed);)
		printf("printed: %s", line);
	return result == 0 && is_untouched(&locked, &mask, fileno(printed)) ? 0 : 1;
}
