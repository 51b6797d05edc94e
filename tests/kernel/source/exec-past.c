// SPDX-License-Identifier: BSD-2-Clause
/*
 * What is told of an execve whose strings nobody has touched where the kernel tells of it only when it has succeeded,
 * as before Linux 6.10: in the kernel, over shipped events and in a recording. Both ways must tell the same.
 */

#include "live-rules.h"

#include "engine/engine.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SKIPPED = 77, RULES = 4, CALLS = 5 };

/*
 * Both executors, by the name that is wanted: %1$s the call's type, %2$s the name. Who it was and another argument are
 * as before.
 */
static const char text[] =
	"RULE named PATTERN { sys_enter_%1$s:e } WHERE { e.comm == \"untouched-struc\", e.argv != 0, "
	"e.filename == \"%2$s\" }\n"
	"RULE begun PATTERN { [sys_enter_%1$s:e, sched_process_exec:x] } WHERE { [pid], e.filename == \"%2$s\" }\n"
	"RULE named_there PATTERN { sys_enter_%1$s:e } WHERE { e.comm == \"untouched-struc\", e.argv != 0, "
	"e.filename == \"%2$s\" }\n"
	"RULE begun_there PATTERN { [sys_enter_%1$s:e, sched_process_exec:x] } WHERE { [pid], e.filename == \"%2$s\" "
	"}\n";

/* Calls of the program, and what must be found. */
static const struct {
	const char *call, *name;
	bool is_at, is_other_thread;
} calls[CALLS] = { { "execve", "/bin/true", false, false },
		   { "execveat", "/bin/true", true, false },
		   { "execin", "true", true, false },
		   { "execfd", "", true, false },
		   { "execthread", "/bin/true", false, true } };

struct test {
	struct engine *engine;
	bool is_other_thread;
	uint64_t matches[RULES], lost;
	pid_t child;
	int wrong;
};

static int on_match(void *context, const struct program_match *match)
{
	struct test *test = context;
	bool is_named = match->rule % 2 == 0;

	test->matches[match->rule]++;
	test->wrong += (pid_t)match->pid != test->child || match->tainted;
	if (is_named)
		test->wrong += strcmp(match->comm, "untouched-struc") != 0 ||
			       ((pid_t)match->tid != test->child) != test->is_other_thread;
	return 0;
}

static int on_event(void *context, const struct event_header *record)
{
	return engine_feed(((struct test *)context)->engine, record);
}

static void on_lost(void *context, uint64_t lost)
{
	((struct test *)context)->lost += lost;
}

/* The rules for one call. */
static int read_rules(size_t index, struct session_rules **rules, struct asterism_diag *diag)
{
	char all[sizeof text + 256];

	snprintf(all, sizeof all, text, calls[index].is_at ? "execveat" : "execve", calls[index].name);
	return live_rules_read(all, diag, rules);
}

static pid_t start(const char *program, const char *call, struct gate *gate)
{
	pid_t pid = gate_fork(gate);

	if (pid)
		return pid;
	gate_wait(gate);
	execl(program, program, call, (char *)NULL);
	_exit(3);
}

static int report(const struct ebpf *ebpf, const struct test *test, const char *call)
{
	struct program_rule_stats stats;
	uint64_t unread = 0;
	int failed = test->wrong || test->lost || ebpf_lost(ebpf);

	for (uint32_t i = 0; i < RULES; i++)
		failed += test->matches[i] != 1;
	for (uint32_t i = 0; i < RULES / 2; i++) {
		ebpf_stats(ebpf, i, &stats);
		unread += stats.unread;
	}
	failed += unread != 0;
	printf("# %s: %llu %llu %llu %llu matches, %llu unread, %llu lost, %d wrong\n", call,
	       (unsigned long long)test->matches[0], (unsigned long long)test->matches[1],
	       (unsigned long long)test->matches[2], (unsigned long long)test->matches[3], (unsigned long long)unread,
	       (unsigned long long)test->lost, test->wrong);
	printf("%s - %s\n", failed ? "not ok" : "ok", call);
	return failed;
}

/* One call of the program. */
static int try_call(size_t index, const char *program, bool past)
{
	struct asterism_diag *diag = asterism_diag_new();
	struct session_rules *rules = NULL;
	struct test test = { .is_other_thread = calls[index].is_other_thread };
	const bool excluded[RULES] = { false, false, true, true }, here[RULES] = { false, false, true, true };
	struct engine_options engine = { .on_match = on_match, .context = &test, .rules = here };
	struct ebpf_options options = {
		.scope = EBPF_SCOPE_TREE,
		.excluded = excluded,
		.on_match = on_match,
		.on_event = on_event,
		.on_lost = on_lost,
		.context = &test,
		.event_context = &test,
		.past_exec = past,
	};
	struct ebpf *ebpf = NULL;
	struct gate gate;
	int status = 0, result = read_rules(index, &rules, diag);

	if (!result)
		result = engine_new(session_rules_program(rules), &engine, diag, &test.engine);
	if (!result)
		result = ebpf_new(session_rules_program(rules), session_rules_catalog(rules), &options, diag, &ebpf);
	test.child = start(program, calls[index].call, &gate);
	if (!result)
		result = live_rules_watch(ebpf, test.child, &gate, &status);
	else
		gate_close(&gate);
	if (!result && status)
		result = -ECHILD;
	if (result)
		printf("not ok - %s: %s\n", calls[index].call, strerror(-result));
	else
		result = report(ebpf, &test, calls[index].call);
	live_rules_remark(diag);
	ebpf_free(ebpf);
	engine_free(test.engine);
	session_rules_free(rules);
	asterism_diag_free(diag);
	return result != 0;
}

int main(int count, char **args)
{
	int failed = 0;

	if (geteuid() != 0) {
		printf("skipped: loading programs needs root\n");
		return SKIPPED;
	}
	for (int past = 0; past < 2 && count == 2; past++)
		for (size_t i = 0; i < CALLS; i++)
			failed += try_call(i, args[1], past);
	return failed || count != 2 ? 1 : 0;
}
