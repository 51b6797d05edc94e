// SPDX-License-Identifier: BSD-2-Clause
/*
 * In the place of the kernel's executor where rules wait for nothing that the kernel raises: nothing is loaded, and no
 * privilege is needed. It knows who is in scope by looking at who somebody's ancestors are when that is asked, so it
 * does not know of processes whose parents have ended before.
 */

#include "session/executor/kinds.h"

#include "base/alloc.h"
#include "base/proc.h"
#include "program/query.h"

#include <unistd.h>

enum { ANCESTORS_MAX = 64 };

struct bare {
	struct executor executor; /* first */
	enum ebpf_scope scope;
	pid_t *pids;
	size_t count, capacity;
};

static int bare_add(struct executor *executor, pid_t pid)
{
	struct bare *bare = (struct bare *)executor;
	uint64_t birth;

	if (proc_birth(pid, &birth))
		return -ESRCH;
	if (alloc_grow(&bare->pids, &bare->capacity, bare->count, sizeof *bare->pids))
		return -ENOMEM;
	bare->pids[bare->count++] = pid;
	return 0;
}

static bool was_added(const struct bare *bare, pid_t pid)
{
	for (size_t i = 0; i < bare->count; i++)
		if (bare->pids[i] == pid)
			return true;
	return false;
}

static bool bare_has(const struct executor *executor, pid_t pid)
{
	const struct bare *bare = (const struct bare *)executor;
	struct proc_stat stat;

	if (bare->scope == EBPF_SCOPE_ALL)
		return pid != getpid();
	if (bare->scope == EBPF_SCOPE_PIDS)
		return was_added(bare, pid);
	for (int i = 0; i < ANCESTORS_MAX && pid > 0; i++) {
		if (was_added(bare, pid))
			return true;
		if (proc_stat(pid, 0, &stat))
			return false;
		pid = stat.parent;
	}
	return false;
}

static int bare_fd(const struct executor *executor)
{
	(void)executor;
	return -1;
}

static int bare_poll(struct executor *executor, uint64_t *wait_ns)
{
	(void)executor;
	*wait_ns = UINT64_MAX;
	return 0;
}

static int bare_finish(struct executor *executor)
{
	(void)executor;
	return 0;
}

static void bare_count(const struct executor *executor, struct session_totals *totals)
{
	(void)executor;
	(void)totals;
}

static void expect(void *context, uint32_t rule, uint64_t due)
{
	(void)context;
	(void)rule;
	(void)due;
}

static int add_nothing(void *context, uint32_t rule, uint64_t until, struct aggregate_table *table)
{
	(void)context;
	(void)rule;
	(void)until;
	(void)table;
	return 0;
}

static void bare_source(const struct executor *executor, struct aggregate_source *source)
{
	(void)executor;
	*source = (struct aggregate_source){ .expect = expect, .share = add_nothing, .take = add_nothing };
}

static void bare_free(struct executor *executor)
{
	alloc_free(((struct bare *)executor)->pids);
	alloc_free(executor);
}

static const struct executor_kind executor_bare = {
	.name = "bare",
	.free = bare_free,
	.add = bare_add,
	.has = bare_has,
	.fd = bare_fd,
	.poll = bare_poll,
	.finish = bare_finish,
	.count = bare_count,
	.source = bare_source,
};

/* Whether all that a rule waits for comes from applications or other rules. */
static bool is_fed(const struct program *program, const struct program_rule *rule, struct event_catalog *catalog)
{
	if (rule->flags & PROGRAM_RULE_OVER_ALL)
		return false;
	for (uint32_t i = 0; i < rule->over_count; i++) {
		const struct program_type *type = &program->types[program_over(program, rule)[i]];
		const struct event_type *known = event_catalog_find(catalog, program_text(program, type->name));

		if (!known || known->hook_count)
			return false;
	}
	return true;
}

bool bare_does(const struct executor_options *options)
{
	for (uint32_t i = 0; i < options->program->rule_count; i++)
		if ((!options->rules || options->rules[i]) &&
		    !is_fed(options->program, &options->program->rules[i], options->catalog))
			return false;
	return !options->recorder && !options->filter;
}

int bare_open(const struct executor_options *options, struct asterism_diag *diag, struct executor **made)
{
	struct bare *bare = alloc_zero(1, sizeof *bare);

	if (!bare)
		return diag_no_memory(diag);
	bare->executor.kind = &executor_bare;
	bare->scope = options->scope;
	*made = &bare->executor;
	return 0;
}
