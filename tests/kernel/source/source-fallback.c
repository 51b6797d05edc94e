// SPDX-License-Identifier: BSD-2-Clause
/*
 * The same rule twice: once in the kernel, once excluded from it, over the events that the kernel ships to the engine
 * in user space. Both must find what a process did, and nothing else.
 */

#include "live-rules.h"

#include "engine/engine.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ROUNDS = 200, SKIPPED = 77, RULES = 2 };

static const char text[] = "RULE here PATTERN { [sys_enter:a, sys_exit:b] } WHERE { [tid], a.id == 110, b.id == 110 } "
			   "RETURN { b.ret }\n"
			   "RULE there PATTERN { [sys_enter_getppid:a, sys_exit_getppid:b] } WHERE { [tid] } "
			   "RETURN { b.ret }\n";

struct test {
	struct engine *engine;
	uint64_t matches[RULES][2]; /* by rule and executor: 0 kernel, 1 engine */
	uint64_t ts[RULES];         /* of all matches, added up */
	uint64_t events, lost, last_ts, back;
	pid_t child;
	int executor, wrong;
};

static int on_match(void *context, const struct program_match *match)
{
	struct test *test = context;

	test->matches[match->rule][test->executor]++;
	test->ts[match->rule] += match->ts;
	test->wrong += (pid_t)match->pid != test->child || match->tainted;
	return 0;
}

static int on_event(void *context, const struct event_header *record)
{
	struct test *test = context;
	int result;

	test->wrong += record->seq != ++test->events || (pid_t)record->pid != test->child;
	test->back += record->ts < test->last_ts;
	test->last_ts = record->ts;
	test->executor = 1;
	result = engine_feed(test->engine, record);
	test->executor = 0;
	return result;
}

static void on_lost(void *context, uint64_t lost)
{
	struct test *test = context;

	test->lost += lost;
	engine_lose(test->engine, lost);
}

static pid_t start(struct gate *gate)
{
	pid_t pid = gate_fork(gate);

	if (pid)
		return pid;
	gate_wait(gate);
	for (int i = 0; i < ROUNDS; i++) {
		syscall(SYS_getppid);
		syscall(SYS_getuid);
	}
	_exit(0);
}

static int report(const struct ebpf *ebpf, const struct test *test)
{
	uint64_t kernel = test->matches[0][0], engine = test->matches[1][1];
	int failed = kernel != ROUNDS || engine != ROUNDS || test->matches[1][0] || test->wrong || test->lost ||
		     ebpf_lost(ebpf) || test->events < 2 * ROUNDS || test->ts[0] != test->ts[1] ||
		     ebpf_events(ebpf) < test->events + 4 * ROUNDS;

	printf("# kernel %llu, engine %llu of %d matches; %llu events (%llu counted), %llu lost, %d wrong, %llu back, "
	       "times differ by %lld\n",
	       (unsigned long long)kernel, (unsigned long long)engine, ROUNDS, (unsigned long long)test->events,
	       (unsigned long long)ebpf_events(ebpf), (unsigned long long)test->lost, test->wrong,
	       (unsigned long long)test->back, (long long)(test->ts[0] - test->ts[1]));
	printf("%s - the same rule in the kernel and over shipped events\n", failed ? "not ok" : "ok");
	return failed;
}

int main(void)
{
	struct asterism_diag *diag = asterism_diag_new();
	struct session_rules *rules = NULL;
	struct ebpf *ebpf = NULL;
	struct test test = { 0 };
	const bool excluded[RULES] = { false, true };
	struct ebpf_options options = {
		.scope = EBPF_SCOPE_TREE,
		.excluded = excluded,
		.on_match = on_match,
		.on_event = on_event,
		.on_lost = on_lost,
		.context = &test,
		.event_context = &test,
	};
	struct gate gate;
	int status;

	if (geteuid() != 0) {
		printf("skipped: loading programs needs root\n");
		return SKIPPED;
	}
	int result = live_rules_read(text, diag, &rules);

	if (!result)
		result = engine_new(session_rules_program(rules),
				    &(struct engine_options){ .on_match = on_match, .context = &test }, diag,
				    &test.engine);
	if (!result)
		result = ebpf_new(session_rules_program(rules), session_rules_catalog(rules), &options, diag, &ebpf);
	test.child = start(&gate);
	if (!result)
		result = live_rules_watch(ebpf, test.child, &gate, &status);
	else
		gate_close(&gate);
	if (result)
		printf("not ok - %s\n", strerror(-result));
	else
		result = report(ebpf, &test);
	live_rules_remark(diag);
	ebpf_free(ebpf);
	engine_free(test.engine);
	session_rules_free(rules);
	asterism_diag_free(diag);
	return result ? 1 : 0;
}
