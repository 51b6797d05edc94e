// SPDX-License-Identifier: BSD-2-Clause
/*
 * In the place of the kernel's executor where rules wait for nothing that the kernel raises: nothing is loaded, and no
 * privilege is needed. It knows who is in scope as base/kin.h does, and of one that has ended what it is told.
 */

#include "session/executor/kinds.h"

#include "base/alloc.h"
#include "base/kin.h"
#include "program/query.h"

#include <unistd.h>

struct bare {
	struct executor executor; /* first */
	enum ebpf_scope scope;
	struct kin *kin;
};

static int bare_add(struct executor *executor, pid_t pid)
{
	return kin_add(((struct bare *)executor)->kin, pid);
}

static bool bare_has(const struct executor *executor, pid_t pid)
{
	const struct bare *bare = (const struct bare *)executor;

	if (bare->scope == EBPF_SCOPE_ALL)
		return pid != getpid();
	return kin_has(bare->kin, pid, bare->scope == EBPF_SCOPE_TREE);
}

static bool bare_had(const struct executor *executor, pid_t parent)
{
	return ((const struct bare *)executor)->scope == EBPF_SCOPE_TREE && bare_has(executor, parent);
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

static void expect_bare_due(void *context, uint32_t rule, uint64_t due)
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
	*source = (struct aggregate_source){ .expect = expect_bare_due, .share = add_nothing, .take = add_nothing };
}

static void bare_free(struct executor *executor)
{
	kin_free(((struct bare *)executor)->kin);
	alloc_free(executor);
}

static const struct executor_kind executor_bare = {
	.name = "bare",
	.free = bare_free,
	.add = bare_add,
	.has = bare_has,
	.had = bare_had,
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
	bare->kin = kin_new();
	bare->scope = options->scope;
	if (!bare->kin) {
		alloc_free(bare);
		return diag_no_memory(diag);
	}
	*made = &bare->executor;
	return 0;
}
