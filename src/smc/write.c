// SPDX-License-Identifier: BSD-2-Clause
/* Writes the machine: the states that are ever reached, each transition with its line of the source. */

#include "smc/smc-priv.h"

#include <string.h>

static const char *base_name(const char *file)
{
	const char *slash = strrchr(file, '/');

	return slash ? slash + 1 : file;
}

static void write_source(struct text_buffer *text, const struct smc_word *word)
{
	text_append(text, " // ");
	text_append_as(text, base_name(word->at.source->file), TEXT_WORDS);
	text_printf(text, ":%u %s\n", word->at.line, word->text);
}

static const char *event_where(struct smc_work *work, const struct smc_leg *leg)
{
	const char *where;

	if (!leg->event->where.length)
		return leg->where;
	where = smc_expand(work, &leg->event->where, &(struct smc_arguments){ 0 });
	return leg->where ? lang_hint(work->report, "(%s) AND %s", where, leg->where) : where;
}

/* Rather on lines of its own. */
static bool is_long(const char *block)
{
	return strlen(block) > 40 || strchr(block, '\n');
}

static void write_leg(struct smc_work *work, struct text_buffer *text, const struct smc_state *state,
		      const struct smc_leg *leg)
{
	const struct diag_location *event = &leg->event->text;
	const char *where = event_where(work, leg);

	text_append(text, state && !leg->is_partial ? "\t" : "");
	if (leg->event->meaning == SMC_AFTER)
		text_printf(text, "AFTER %s", state && state->timer ? state->timer : "0");
	else
		text_printf(text, "ON %.*s", (int)event->length, event->source->text + event->offset);
	if (leg->event->key && leg->event->meaning != SMC_AFTER)
		text_printf(text, " BY { %s }", leg->event->key);
	if (where)
		text_printf(text, " WHERE %s", where);
	if (leg->ends || leg->target || !leg->block)
		text_printf(text, " -> %s", leg->ends ? "END" : leg->target ? leg->target->written : "STAY");
	if (leg->block && !is_long(leg->block))
		text_printf(text, " { %s }", leg->block);
	write_source(text, &leg->transition->name);
	if (leg->block && is_long(leg->block))
		text_printf(text, "\t\t{ %s }\n", leg->block);
}

static void write_state(struct smc_work *work, struct text_buffer *text, const struct smc_state *state)
{
	text_printf(text, "STATE %s {", state->written);
	write_source(text, &state->name);
	if (state->entry_text)
		text_printf(text, "\tENTRY { %s }\n", state->entry_text);
	if (state->exit_text)
		text_printf(text, "\tEXIT { %s }\n", state->exit_text);
	for (const struct smc_leg *leg = state->legs; leg; leg = leg->next) {
		if (!leg->is_partial)
			write_leg(work, text, state, leg);
	}
	text_append(text, "}\n");
}

/* Marks what is reached from the first state. */
static void reach(struct smc_file *file)
{
	bool is_more = true;

	file->first->is_reached = true;
	while (is_more) {
		is_more = false;
		for (const struct smc_state *state = file->states; state; state = state->next) {
			for (const struct smc_leg *leg = state->is_reached ? state->legs : NULL; leg; leg = leg->next) {
				if (!leg->target || leg->ends || leg->target->is_reached)
					continue;
				leg->target->is_reached = is_more = true;
			}
		}
	}
}

static const struct smc_leg *find_leg(const struct smc_state *state, const struct smc_bound *event)
{
	const struct smc_leg *leg = state->legs;

	while (leg && leg->event != event)
		leg = leg->next;
	return leg;
}

static bool takes_timer(const struct smc_state *state)
{
	for (const struct smc_leg *leg = state->legs; leg; leg = leg->next) {
		if (leg->event->meaning == SMC_AFTER)
			return true;
	}
	return false;
}

/* What Default does at the end of a timer is for states that have one; elsewhere none runs, if each is stopped. */
static void drop_timers(struct smc_work *work, struct smc_state *state)
{
	const struct smc_state *other = work->file->states;
	struct smc_leg **leg = &state->legs;

	while (other && (!other->timer || other->exit_stops_timer))
		other = other->next;
	while (*leg) {
		if (state->timer || !(*leg)->is_inherited || (*leg)->event->meaning != SMC_AFTER) {
			leg = &(*leg)->next;
			continue;
		}
		if (other)
			lang_error(work->report, &(*leg)->transition->name.at, "stop the timer in Exit of that state",
				   "the timer of %s may still run in %s, where this would take it", other->name.text,
				   state->name.text);
		*leg = (*leg)->next;
	}
}

static void check_timers(struct smc_work *work, const struct smc_state *state)
{
	if (state->timer && !takes_timer(state))
		lang_error(work->report, &state->name.at, "use the AFTER event in this state",
			   "a timer is started that %s does not wait for", state->name.text);
	if (!state->timer && takes_timer(state))
		lang_error(work->report, &state->name.at,
			   "start it where the state is entered: an action that is TIMER",
			   "nothing starts the timer that %s waits for", state->name.text);
	for (const struct smc_leg *leg = state->legs; leg; leg = leg->next) {
		const struct smc_state *to = leg->target;

		if (!to || leg->ends || leg->has_timer || to->entry_starts_timer || !to->timer)
			continue;
		lang_error(work->report, &leg->transition->target.at, "move it to Entry of the state",
			   "this transition into %s does not start its timer, but another one does", to->name.text);
	}
}

/* Instances in the first state exist only where a transition leads back. */
static bool has_instances(const struct smc_file *file, const struct smc_state *wanted)
{
	if (wanted != file->first)
		return wanted->is_reached;
	for (const struct smc_state *state = file->states; state; state = state->next) {
		for (const struct smc_leg *leg = state->is_reached ? state->legs : NULL; leg; leg = leg->next) {
			if (state != wanted && leg->target == wanted && !leg->ends)
				return true;
		}
	}
	return false;
}

/* What ends all instances of a part of the key stands outside the states: it has to be the same in each. */
static void write_partial(struct smc_work *work, struct text_buffer *text, const struct smc_leg *leg)
{
	const char *where = event_where(work, leg);

	for (const struct smc_state *state = work->file->states; state; state = state->next) {
		const struct smc_leg *other = find_leg(state, leg->event);
		const char *others = other ? event_where(work, other) : NULL;

		if (!has_instances(work->file, state) ||
		    (other && !where == !others && (!where || strcmp(where, others) == 0)))
			continue;
		lang_error(work->report, &leg->transition->name.at, "give that state the same transition",
			   "this ends instances by a part of their key, so it must be in every state; %s lacks it",
			   state->name.text);
		return;
	}
	write_leg(work, text, NULL, leg);
}

static void write_partials(struct smc_work *work, struct text_buffer *text)
{
	for (const struct smc_bound *event = work->binding->bounds; event; event = event->next) {
		const struct smc_leg *leg = NULL;

		for (const struct smc_state *state = work->file->states; state && !leg; state = state->next)
			leg = state->is_reached ? find_leg(state, event) : NULL;
		if (leg && leg->is_partial)
			write_partial(work, text, leg);
	}
}

static void write_head(const struct smc_work *work, struct text_buffer *text)
{
	const struct smc_binding *binding = work->binding;

	text_append(text, "// What 'asterism import' made of ");
	text_append_as(text, base_name(work->file->class.at.source->file), TEXT_WORDS);
	text_append(text, ". Comments name its lines.\n");
	if (binding->before.length)
		text_printf(text, "%.*s\n", (int)binding->before.length,
			    binding->before.source->text + binding->before.offset);
	text_printf(text, "MACHINE %s\nKEY {", work->file->class.text);
	for (unsigned i = 0; i < binding->keys.count; i++)
		text_printf(text, "%s%s", i ? ", " : " ", binding->keys.items[i].text);
	text_append(text, " }\n");
	if (binding->head.length)
		text_printf(text, "%.*s\n", (int)binding->head.length,
			    binding->head.source->text + binding->head.offset);
}

void smc_write(struct smc_work *work, struct text_buffer *text)
{
	struct smc_state *states = work->file->states, *first = work->file->first;

	for (struct smc_state *state = states; state; state = state->next)
		drop_timers(work, state);
	reach(work->file);
	write_head(work, text);
	write_state(work, text, first);
	for (struct smc_state *state = states; state; state = state->next) {
		if (state->is_reached)
			check_timers(work, state);
		if (state->is_reached && state != first)
			write_state(work, text, state);
	}
	write_partials(work, text);
}
