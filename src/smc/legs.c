// SPDX-License-Identifier: BSD-2-Clause
/*
 * Orders what a state tries, as SMC does: its own transitions of that name with a guard, in the order of the file, the
 * one without; then likewise those of the map's state Default; then its own Default, then that of Default. An event's
 * name is the transition's, bound to an event type.
 */

#include "smc/smc-priv.h"

#include <string.h>

struct search {
	struct smc_work *work;
	struct smc_state *state;
	const char *name;
	struct smc_bound *event;
	struct smc_leg **last;
	bool is_closed;  /* what comes later is never tried */
	bool is_settled; /* the instance that a guard with KEY finds has its transition; what comes is for others */
};

struct smc_state *smc_find_state(const struct smc_file *file, const char *map, const char *name)
{
	for (struct smc_state *state = file->states; state; state = state->next) {
		if ((!map || strcmp(state->map.text, map) == 0) && strcmp(state->name.text, name) == 0)
			return state;
	}
	return NULL;
}

static bool is_default(const char *name)
{
	return strcmp(name, "Default") == 0;
}

/* Where the transition leads; false after an error. */
static bool find_target(const struct search *search, const struct smc_transition *transition, struct smc_leg *leg)
{
	const char *map = transition->map.text ? transition->map.text : search->state->map.text;

	if (transition->is_nil)
		return true;
	leg->target = smc_find_state(search->work->file, map, transition->target.text);
	if (leg->target && !is_default(leg->target->name.text))
		return true;
	lang_error(search->work->report, &transition->target.at, NULL, "no state '%s' in the map %s",
		   transition->target.text, map);
	return false;
}

/* What would have to be done for every instance cannot be. */
static bool check_leg_keys(const struct search *search, const struct smc_transition *transition, struct smc_leg *leg)
{
	struct smc_bound *event = search->event;

	if (!leg->by && event->by.length) {
		leg->by = smc_expand(search->work, &event->by, &(struct smc_arguments){ 0 });
		leg->is_partial = leg->by && strchr(leg->by, '*');
	}
	if (leg->by && event->key && strcmp(leg->by, event->key) != 0) {
		lang_error(search->work->report, &transition->name.at, "an event finds its instance in one way",
			   "%s takes %s as the key here, but %s elsewhere", search->name, leg->by, event->key);
		return false;
	}
	if (leg->by)
		event->key = leg->by;
	if (leg->by || event->meaning == SMC_AFTER || !search->work->binding->keys.count || leg->is_idle ||
	    search->state == search->work->file->first)
		return true;
	lang_error(search->work->report, &transition->name.at,
		   "guard it with a call that is bound to KEY, or bind the event with BY",
		   "this would affect every instance: the binding does not say which one %s is for", search->name);
	return false;
}

static bool check_end(const struct search *search, const struct smc_transition *transition, struct smc_leg *leg)
{
	const char *wrong = NULL;

	if (leg->is_partial && (!leg->ends || leg->block || search->state->exit))
		wrong = "an event for several instances can only end them, without any other action";
	else if (leg->ends && !leg->target && search->state->exit)
		wrong = "the instance ends in its state, so Exit would not run; name another state instead of nil";
	else if (search->state == search->work->file->first && !leg->target && leg->assigns &&
		 search->work->binding->keys.count)
		wrong = "values assigned here are lost: an instance exists only after it leaves the first state";
	if (wrong)
		lang_error(search->work->report, &transition->name.at, NULL, "%s", wrong);
	return !wrong;
}

/* The actions, then what the state that an ending instance came to does. */
static bool take_actions(const struct search *search, const struct smc_transition *transition, struct smc_leg *leg)
{
	struct smc_place place = { transition, search->event, search->state, leg->target, false, false };
	bool is_fine = smc_actions(search->work, &place, transition->actions, leg);

	if (is_fine && leg->ends && leg->target)
		is_fine = smc_actions(search->work, &place, leg->target->entry, leg);
	return is_fine;
}

static void add_leg(struct search *search, const struct smc_transition *transition, bool is_inherited)
{
	struct smc_work *work = search->work;
	struct smc_leg *leg = arena_zero(work->arena, 1, sizeof *leg);
	struct smc_place place = { transition, search->event, search->state, NULL, false, false };
	bool is_fine, is_keyed, was_settled;

	if (!leg) {
		lang_no_memory(work->report);
		return;
	}
	leg->transition = transition;
	leg->event = search->event;
	leg->is_inherited = is_inherited;
	if (transition->params.count && transition->params.count != leg->event->params.count) {
		lang_error(work->report, &transition->name.at, NULL,
			   "the binding gives %s %u parameters, here it has %u", search->name, leg->event->params.count,
			   transition->params.count);
		return;
	}
	if (!find_target(search, transition, leg))
		return;
	is_fine = !transition->guard || smc_guard(work, &place, transition->guard, leg);
	is_keyed = leg->by;
	if (!take_actions(search, transition, leg) || !is_fine)
		return;
	leg->is_idle = !leg->block && !leg->ends &&
		       (!leg->target || (leg->target == search->state && !search->state->entry &&
					 !search->state->exit && !leg->has_timer));
	if (leg->is_idle)
		leg->target = NULL;
	search->is_closed = !leg->where && !is_keyed;
	if (!check_leg_keys(search, transition, leg) || !check_end(search, transition, leg))
		return;
	was_settled = search->is_settled;
	search->is_settled |= !leg->where;
	if (was_settled || (leg->is_idle && !leg->where))
		return; /* never tried, or nothing changes: nothing to write */
	*search->last = leg;
	search->last = &leg->next;
}

static void add_of(struct search *search, const struct smc_state *state, const char *name)
{
	for (unsigned round = 0; state && round < 2; round++) {
		for (const struct smc_transition *transition = state->transitions; transition;
		     transition = transition->next) {
			if (!search->is_closed && !transition->is_broken && (transition->guard ? 0 : 1) == round &&
			    strcmp(transition->name.text, name) == 0)
				add_leg(search, transition, state != search->state || name != search->name);
		}
	}
}

static void find_legs_of_name(struct search *search, const struct smc_word *name)
{
	const struct smc_state *fallback = smc_find_state(search->work->file, search->state->map.text, "Default");

	search->name = name->text;
	search->event = smc_find(search->work, 'E', name->text);
	search->is_closed = search->is_settled = false;
	if (!search->event) {
		lang_error(search->work->report, &name->at,
			   lang_hint(search->work->report, "add to the binding: EVENT %s(...) = type:e { ... }",
				     name->text),
			   "the binding does not define the event %s", name->text);
		return;
	}
	add_of(search, search->state, name->text);
	add_of(search, fallback, name->text);
	add_of(search, search->state, "Default");
	add_of(search, fallback, "Default");
}

/* Each name once, in the order of the file; those of other states, too, as Default may take them. */
static void collect_names(struct smc_work *work, struct smc_word *names, unsigned *count)
{
	for (const struct smc_state *state = work->file->states; state; state = state->next) {
		for (const struct smc_transition *t = state->transitions; t; t = t->next) {
			unsigned i = 0;

			while (i < *count && strcmp(names[i].text, t->name.text) != 0)
				i++;
			if (i < *count || is_default(t->name.text))
				continue;
			if (*count == SMC_NAMES_MAX) {
				lang_error(work->report, &t->name.at, NULL,
					   "a file has at most %d different transitions", SMC_NAMES_MAX);
				return;
			}
			names[(*count)++] = t->name;
		}
	}
}

/* ENTRY or EXIT as text. */
static const char *block_text(struct smc_work *work, struct smc_state *state, bool is_entry)
{
	struct smc_place place = { .state = state, .is_entry = is_entry, .is_exit = !is_entry };
	struct smc_leg leg = { 0 };

	smc_actions(work, &place, is_entry ? state->entry : state->exit, &leg);
	if (is_entry)
		state->entry_starts_timer = leg.has_timer;
	else
		state->exit_stops_timer = leg.stops_timer;
	return leg.block;
}

void smc_state_legs(struct smc_work *work, struct smc_state *state)
{
	struct search search = { .work = work, .state = state, .last = &state->legs };
	struct smc_word names[SMC_NAMES_MAX];
	unsigned count = 0;

	collect_names(work, names, &count);
	state->entry_text = block_text(work, state, true);
	state->exit_text = block_text(work, state, false);
	for (unsigned i = 0; i < count && !lang_report_full(work->report); i++)
		find_legs_of_name(&search, &names[i]);
}
