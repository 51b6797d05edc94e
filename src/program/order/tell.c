// SPDX-License-Identifier: BSD-2-Clause
/* Reports the order in which a rule asks its conditions. */

#include "program/order/order-priv.h"

#include "base/alloc.h"
#include "program/query.h"
#include "program/why/report.h"

#include <errno.h>
#include <inttypes.h>

/* Each list of conditions with an order: those of one transition on the event, or on the run. */
typedef void each_list(struct text_buffer *out, const struct program_asking *asking,
		       const struct program_ranked *ranked, uint32_t count);

static void each(struct program_asking *asking, struct text_buffer *out, each_list *tell)
{
	const struct program_state *states = program_states(asking->program, asking->rule);
	struct program_ranked ranked[PROGRAM_WHY_CONDITIONS_MAX];

	for (asking->state = 0; asking->state < asking->rule->state_count; asking->state++) {
		const struct program_state *state = &states[asking->state];

		for (uint32_t i = 0; i < 2 * state->transition_count; i++) {
			asking->transition = &program_transitions(asking->program, state)[i / 2];
			asking->is_hold = i % 2;
			uint32_t count = program_order_ask(asking, ranked);

			if (count > 1)
				tell(out, asking, ranked, count);
		}
	}
}

static const char *state_label(const struct program_asking *asking)
{
	return program_text(asking->program, program_states(asking->program, asking->rule)[asking->state].label);
}

static void put_asked_event(struct text_buffer *out, const struct program_asking *asking)
{
	program_why_event(asking->program, asking->rule, asking->transition, out);
}

static void put_asked_condition(struct text_buffer *out, const struct program_asking *asking,
				const struct program_ranked *ranked)
{
	program_why_condition(asking->program, asking->rule, asking->transition, ranked->node, out);
}

static void put_reason(struct text_buffer *out, const struct program_ranked *ranked)
{
	if (ranked->stays) {
		text_append(out, "may divide by zero, stays where it is");
		return;
	}
	text_printf(out, "cost %u", ranked->cost);
	if (ranked->asked)
		text_printf(out, ", true %.3g %% of %" PRIu64, 100.0 * (double)ranked->was_true / (double)ranked->asked,
			    ranked->asked);
}

static void list_text(struct text_buffer *out, const struct program_asking *asking, const struct program_ranked *ranked,
		      uint32_t count)
{
	text_append(out, "\n  asks at ");
	put_asked_event(out, asking);
	text_printf(out, " in %s%s\n", state_label(asking), asking->is_hold ? ", of the run" : "");
	for (uint32_t i = 0; i < count; i++) {
		text_append(out, "    ");
		put_asked_condition(out, asking, &ranked[i]);
		text_append(out, "  (");
		put_reason(out, &ranked[i]);
		text_append(out, ")\n");
	}
}

void program_order_text(const struct program *program, uint32_t rule, const struct program_measures *measures,
			struct text_buffer *out)
{
	struct program_asking asking = { .program = program, .rule = &program->rules[rule], .measures = measures };

	each(&asking, out, list_text);
}

/* What was written into draft as a JSON string. */
static void put_draft_json(struct text_buffer *out, struct text_buffer *draft)
{
	char *text = NULL;

	if (text_take(draft, &text))
		out->failure = -ENOMEM;
	else
		text_json(out, text);
	alloc_free(text);
}

static void list_json(struct text_buffer *out, const struct program_asking *asking, const struct program_ranked *ranked,
		      uint32_t count)
{
	struct text_buffer draft = { 0 };

	text_append(out, out->bytes[out->length - 1] == '[' ? "{\"state\":" : ",{\"state\":");
	text_json(out, state_label(asking));
	text_append(out, ",\"event\":");
	put_asked_event(&draft, asking);
	put_draft_json(out, &draft);
	text_printf(out, ",\"of\":\"%s\",\"conditions\":[", asking->is_hold ? "hold" : "fit");
	for (uint32_t i = 0; i < count; i++) {
		text_append(out, i ? ",{\"condition\":" : "{\"condition\":");
		put_asked_condition(&draft, asking, &ranked[i]);
		put_draft_json(out, &draft);
		text_printf(out, ",\"cost\":%u,\"stays\":%s,\"asked\":%" PRIu64 ",\"true\":%" PRIu64 "}",
			    ranked[i].cost, ranked[i].stays ? "true" : "false", ranked[i].asked, ranked[i].was_true);
	}
	text_append(out, "]}");
}

void program_order_json(const struct program *program, uint32_t rule, const struct program_measures *measures,
			struct text_buffer *out)
{
	struct program_asking asking = { .program = program, .rule = &program->rules[rule], .measures = measures };

	text_append(out, ",\"asks\":[");
	each(&asking, out, list_json);
	text_append(out, "]");
}
