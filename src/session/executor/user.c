// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rules in user space: one engine, in the calling thread. A match is handed out before the call returns that completes
 * it; the engine of src/engine is what this adds nothing to.
 */

#include "session/executor/kinds.h"

#include "base/alloc.h"
#include "engine/engine.h"

struct user {
	struct executor executor; /* first */
	struct engine *engine;
	const bool *rules; /* NULL: all */
	uint32_t rule_count;
	uint64_t reported; /* by lose */
};

static int user_feed(struct executor *executor, const struct event_header *record)
{
	return engine_feed(((struct user *)executor)->engine, record);
}

static int user_lose(struct executor *executor, uint64_t lost)
{
	struct user *user = (struct user *)executor;

	user->reported += lost;
	engine_lose(user->engine, lost);
	return 0;
}

static int user_advance(struct executor *executor, uint64_t now_ns)
{
	return engine_advance(((struct user *)executor)->engine, now_ns);
}

static int user_finish(struct executor *executor)
{
	(void)executor;
	return 0;
}

static void user_count(const struct executor *executor, struct session_totals *totals)
{
	const struct user *user = (const struct user *)executor;

	for (uint32_t i = 0; i < totals->rule_count; i++) {
		if (user->rules && !user->rules[i])
			continue;
		engine_stats(user->engine, i, &totals->rules[i]);
		totals->lost += totals->rules[i].lost - user->reported;
	}
}

static void user_look(const struct executor *executor, struct program_rule_stats *rules)
{
	const struct user *user = (const struct user *)executor;

	for (uint32_t i = 0; i < user->rule_count; i++)
		if (!user->rules || user->rules[i])
			engine_stats(user->engine, i, &rules[i]);
}

static void user_count_why(const struct executor *executor, struct program_why *why)
{
	const struct user *user = (const struct user *)executor;

	for (uint32_t i = 0; i < why->program->rule_count; i++)
		if (!user->rules || user->rules[i])
			engine_count_why(user->engine, i, why->rules[i]);
}

static void user_free(struct executor *executor)
{
	engine_free(((struct user *)executor)->engine);
	alloc_free(executor);
}

static int user_open(const struct executor_options *options, struct asterism_diag *diag, struct executor **made)
{
	const struct engine_options engine = { .on_match = options->on_match,
					       .context = options->context,
					       .rules = options->rules,
					       .counts_why = options->counts_why };
	struct user *user;
	int result;

	if (options->input != EXECUTOR_FED)
		return 0;
	user = alloc_zero(1, sizeof *user);
	if (!user)
		return diag_no_memory(diag);
	user->executor.kind = &executor_user;
	user->rules = options->rules;
	user->rule_count = options->program->rule_count;
	result = engine_new(options->program, &engine, diag, &user->engine);
	if (result)
		user_free(&user->executor);
	else
		*made = &user->executor;
	return result;
}

const struct executor_kind executor_user = {
	.name = "user",
	.open = user_open,
	.free = user_free,
	.feed = user_feed,
	.lose = user_lose,
	.advance = user_advance,
	.finish = user_finish,
	.count = user_count,
	.look = user_look,
	.count_why = user_count_why,
};
