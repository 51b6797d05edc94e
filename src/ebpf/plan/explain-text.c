// SPDX-License-Identifier: BSD-2-Clause
/* The text of `explain --plan`. */

#include "ebpf/plan/explain-priv.h"

#include "event/type.h"
#include "program/calls.h"
#include "program/query.h"

/* Begins a line of its own for the first item, else puts a separator. */
static void put_item(struct text_buffer *out, const char **head, const char *separator)
{
	text_append(out, *head ? *head : separator);
	*head = NULL;
}

static void end_items(struct text_buffer *out, const char *head)
{
	if (!head)
		text_append(out, "\n");
}

static void print_truths(struct text_buffer *out, const char *head, const void *of, const struct plan_truth *truths)
{
	for (; truths->name; truths++) {
		if (!truths->words || !plan_is_true(of, truths))
			continue;
		put_item(out, &head, "\n             ");
		text_append(out, truths->words);
	}
	end_items(out, head);
}

static void print_header(struct text_buffer *out, const char *words, uint8_t fields)
{
	const char *head = words;

	for (uint32_t i = 0; i < EVENT_HEADER_FIELDS; i++)
		if (fields >> i & 1) {
			put_item(out, &head, ", ");
			text_append(out, event_header_fields[i].name);
		}
	end_items(out, head);
}

static void print_body(struct text_buffer *out, const struct plan *plan, const struct plan_event *event)
{
	const struct program_type *type = &plan->program->types[event->type];
	const struct program_field *fields = program_fields(plan->program, type);
	const char *head = "    reads    ";

	for (uint32_t i = 0; i < type->field_count; i++)
		if (event->reads[i]) {
			put_item(out, &head, ", ");
			text_printf(out, "%s%s", program_text(plan->program, fields[i].name),
				    event->may_be_unread[i] ? " (may be unread)" : "");
		}
	end_items(out, head);
}

static void print_walks(struct text_buffer *out, const struct plan *plan, const struct plan_event *event)
{
	const struct plan_rule *rule = &plan->rules[event->rule];

	for (uint32_t i = 0; i < event->walk_count; i++) {
		const struct plan_walk *walk = &event->walks[i];
		const struct program_class *class =
			&program_classes(plan->program, rule->rule)[rule->groups[walk->group].class];
		const char *head = walk->state_count == 1 ? " in state " : " in states ";

		text_printf(out, "    finds    %s", walk->key ? program_text(plan->program, class->label) : "itself");
		for (uint32_t j = 0; j < walk->state_count; j++) {
			put_item(out, &head, ", ");
			text_printf(out, "%u", walk->states[j]);
		}
		text_append(out, "\n");
	}
}

static void print_event(struct text_buffer *out, const struct plan *plan, const struct plan_event *event)
{
	const struct program *program = plan->program;

	text_printf(out, "\n  at %s\n",
		    event->type == PROGRAM_TIMER ? "AFTER" : program_text(program, program->types[event->type].name));
	print_walks(out, plan, event);
	if (event->guard.is_there)
		text_printf(out, "    only if  %s == %d\n",
			    program_text(program, program->fields[event->guard.field].name), event->guard.value);
	if (event->type == PROGRAM_TIMER)
		return;
	print_truths(out, "    does     ", event, plan_event_truths);
	if (event->scratch != PROGRAM_NONE)
		text_append(out,
			    "    scratch  values are computed first, and stored in a run once it is known to open\n");
	print_header(out, "    first    ", event->header.early);
	print_header(out, "    then     ", event->header.late & (uint8_t)~event->header.early);
	print_header(out, "    at match ", event->header.match & (uint8_t) ~(event->header.early | event->header.late));
	print_body(out, plan, event);
}

static void print_acts(struct text_buffer *out, const struct plan *plan, const struct plan_rule *rule,
		       const struct plan_acts *acts)
{
	const struct program_statement *statements = program_statements(plan->program, rule->rule);
	const char *head = "in the kernel: ";

	for (uint32_t i = 0; i < rule->rule->statement_count; i++)
		if (acts->done >> i & 1) {
			put_item(out, &head, ", ");
			text_append(out, program_call(plan->program, &statements[i])->name);
		}
	text_printf(out, "%s%s\n", head ? "" : "; ", acts->reports ? "reported to user space" : "not reported");
}

static void print_sums(struct text_buffer *out, const struct plan_rule *rule)
{
	const struct plan_sums *sums = &rule->sums;

	if (sums->why_not)
		text_printf(out, "             matches are sent to user space and aggregated there, because %s\n",
			    sums->why_not);
	if (!sums->here)
		return;
	text_printf(out, "  a match    is aggregated in the kernel: %u keys of %u bytes, %u words per row", sums->keys,
		    sums->key_bytes, sums->row_words);
	if (sums->bucket_bits)
		text_printf(out, ", 2^%u buckets", sums->bucket_bits);
	text_append(out, sums->halves > 1 ? ", twice: one is read while the other is filled\n" : "\n");
	text_append(out, "             matches that do not fit are sent to user space\n");
}

static void print_lock(struct text_buffer *out, const struct plan_rule *rule)
{
	if (rule->wide)
		text_append(out, "  lock       one for the whole rule: an event can touch several buckets\n");
	else if (rule->stripe_slots)
		text_printf(out, "  lock       one per 2^%u buckets\n", rule->inner_bits);
	else
		text_append(out, "  lock       one per bucket\n");
}

/* Of a rule that runs in the kernel. */
static void print_rule(const struct plan *plan, uint32_t index, const char *attached, struct text_buffer *out)
{
	const struct plan_rule *rule = &plan->rules[index];

	if (rule->has_runs) {
		text_printf(out, "  runs       %llu in 2^%u buckets, %u bytes each\n",
			    (unsigned long long)rule->rule->pool, rule->bucket_bits, rule->area_bytes);
		print_lock(out, rule);
	}
	if (rule->history.log_entries)
		text_printf(out, "  events     are stored in a log of %u entries of %u bytes\n",
			    rule->history.log_entries, rule->history.entry_bytes);
	print_truths(out, "  notes      ", rule, plan_rule_truths);
	if (!rule->sums.here) {
		text_append(out, "  a match    ");
		print_acts(out, plan, rule, &rule->at_event);
	}
	print_sums(out, rule);
	if (rule->due && !rule->sums.here) {
		text_append(out, "  when due   ");
		print_acts(out, plan, rule, &rule->at_deadline);
	}
	text_append(out, attached);
	for (uint32_t type = 0; type < plan->program->type_count; type++) {
		const struct plan_event *event = plan_event(plan, index, type);

		if (event && event->wants)
			print_event(out, plan, event);
	}
	if (rule->timed)
		print_event(out, plan, &rule->timer);
}

void plan_explain_text(const struct plan *plan, uint32_t index, const struct program_measures *measures,
		       const char *attached, struct text_buffer *out)
{
	const struct plan_rule *rule = &plan->rules[index];

	text_printf(out, "%s %s (%s)\n", program_sort(rule->rule), program_text(plan->program, rule->rule->name),
		    program_text(plan->program, rule->rule->place));
	if (rule->here)
		print_rule(plan, index, attached, out);
	else
		text_printf(out, "  not compiled for the kernel: the rule does not run there\n%s", attached);
	program_order_text(plan->program, index, measures, out);
}
