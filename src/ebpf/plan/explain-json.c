// SPDX-License-Identifier: BSD-2-Clause
/* Writes a plan as JSON. Names are kept once given: programs read them. */

#include "ebpf/plan/explain-priv.h"

#include "event/type.h"
#include "program/query.h"

#include <inttypes.h>

static void put_plan_number(struct text_buffer *out, const char *name, uint64_t number)
{
	text_printf(out, ",\"%s\":%" PRIu64, name, number);
}

static void put_truths(struct text_buffer *out, const void *of, const struct plan_truth *truths)
{
	for (; truths->name; truths++)
		text_printf(out, ",\"%s\":%s", truths->name, plan_is_true(of, truths) ? "true" : "false");
}

/* The statements of the rule, from 0, that are bits of set. */
static void put_bits(struct text_buffer *out, const char *name, uint64_t set)
{
	const char *separator = "";

	text_printf(out, "\"%s\":[", name);
	for (uint32_t i = 0; i < 64; i++)
		if (set >> i & 1) {
			text_printf(out, "%s%u", separator, i);
			separator = ",";
		}
	text_append(out, "]");
}

static void put_acts(struct text_buffer *out, const char *name, const struct plan_acts *acts)
{
	text_printf(out, ",\"%s\":{", name);
	put_bits(out, "done", acts->done);
	text_append(out, ",");
	put_bits(out, "alone", acts->alone);
	text_printf(out, ",\"tells\":%s}", acts->reports ? "true" : "false");
}

static void put_header(struct text_buffer *out, const char *name, uint8_t fields)
{
	const char *separator = "";

	text_printf(out, ",\"%s\":[", name);
	for (uint32_t i = 0; i < EVENT_HEADER_FIELDS; i++)
		if (fields >> i & 1) {
			text_printf(out, "%s\"%s\"", separator, event_header_fields[i].name);
			separator = ",";
		}
	text_append(out, "]");
}

static void put_plan_fields(struct text_buffer *out, const struct plan *plan, const struct plan_event *event,
			    const char *name, const bool *set)
{
	const struct program_type *type = &plan->program->types[event->type];
	const char *separator = "";

	text_printf(out, ",\"%s\":[", name);
	for (uint32_t i = 0; i < type->field_count; i++)
		if (set[i]) {
			text_append(out, separator);
			text_json(out, program_text(plan->program, program_fields(plan->program, type)[i].name));
			separator = ",";
		}
	text_append(out, "]");
}

static void put_walks(struct text_buffer *out, const struct plan *plan, const struct plan_event *event)
{
	const struct plan_rule *rule = &plan->rules[event->rule];

	text_append(out, ",\"walks\":[");
	for (uint32_t i = 0; i < event->walk_count; i++) {
		const struct plan_walk *walk = &event->walks[i];
		uint32_t class = rule->groups[walk->group].class;

		text_printf(out, "%s{\"group\":%u,\"key\":", i ? "," : "", walk->group);
		text_json(out, program_text(plan->program, program_classes(plan->program, rule->rule)[class].label));
		text_append(out, ",\"states\":[");
		for (uint32_t j = 0; j < walk->state_count; j++)
			text_printf(out, "%s%u", j ? "," : "", walk->states[j]);
		text_append(out, "]}");
	}
	text_append(out, "]");
}

static void put_plan_event(struct text_buffer *out, const struct plan *plan, const struct plan_event *event)
{
	const struct program *program = plan->program;

	text_append(out, "{\"type\":");
	text_json(out, program_text(program, program->types[event->type].name));
	put_truths(out, event, plan_event_truths);
	put_walks(out, plan, event);
	text_append(out, ",\"guard\":");
	if (event->guard.is_there) {
		text_append(out, "{\"field\":");
		text_json(out, program_text(program, program->fields[event->guard.field].name));
		text_printf(out, ",\"value\":%d}", event->guard.value);
	} else {
		text_append(out, "null");
	}
	text_printf(out, ",\"scratch\":%s", event->scratch == PROGRAM_NONE ? "false" : "true");
	put_header(out, "header_first", event->header.early);
	put_header(out, "header_then", event->header.late & (uint8_t)~event->header.early);
	put_header(out, "header_at_match", event->header.match & (uint8_t) ~(event->header.early | event->header.late));
	put_plan_fields(out, plan, event, "reads", event->reads);
	put_plan_fields(out, plan, event, "may_be_unread", event->may_be_unread);
	text_append(out, "}");
}

static void put_plan_sums(struct text_buffer *out, const struct plan_sums *sums)
{
	text_printf(out, ",\"adds_up\":%s", sums->here ? "{" : "null");
	if (sums->here) {
		text_printf(out, "\"keys\":%u", sums->keys);
		put_plan_number(out, "key_bytes", sums->key_bytes);
		put_plan_number(out, "row_words", sums->row_words);
		put_plan_number(out, "bucket_bits", sums->bucket_bits);
		put_plan_number(out, "halves", sums->halves);
		text_append(out, "}");
	}
	if (sums->why_not) {
		text_append(out, ",\"delivered_because\":");
		text_json(out, sums->why_not);
	}
}

static void put_plan_events(struct text_buffer *out, const struct plan *plan, uint32_t rule)
{
	const char *separator = "";

	text_append(out, ",\"events\":[");
	for (uint32_t type = 0; type < plan->program->type_count; type++) {
		const struct plan_event *event = plan_event(plan, rule, type);

		if (!event || !event->wants)
			continue;
		text_append(out, separator);
		put_plan_event(out, plan, event);
		separator = ",";
	}
	text_append(out, "]");
}

void plan_explain_json(const struct plan *plan, uint32_t index, const struct program_measures *measures,
		       const char *attached, struct text_buffer *out)
{
	const struct plan_rule *rule = &plan->rules[index];

	text_append(out, "{\"plan\":");
	text_json(out, program_text(plan->program, rule->rule->name));
	text_printf(out, ",\"here\":%s", rule->here ? "true" : "false");
	if (rule->here) {
		put_plan_number(out, "pool", rule->has_runs ? rule->rule->pool : 0);
		put_plan_number(out, "kept_bytes", rule->area_bytes);
		put_plan_number(out, "bucket_bits", rule->bucket_bits);
		put_plan_number(out, "stripe_slots", rule->stripe_slots);
		put_plan_number(out, "inner_bits", rule->inner_bits);
		put_plan_number(out, "kept_events", rule->history.entries);
		put_plan_number(out, "log_events", rule->history.log_entries);
		put_plan_number(out, "groups", rule->group_count);
		put_truths(out, rule, plan_rule_truths);
		put_acts(out, "at_event", &rule->at_event);
		put_acts(out, "at_deadline", &rule->at_deadline);
		if (rule->rule->aggregation)
			put_plan_sums(out, &rule->sums);
		put_plan_events(out, plan, index);
	}
	text_append(out, attached);
	program_order_json(plan->program, index, measures, out);
	text_append(out, "}\n");
}
