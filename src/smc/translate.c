// SPDX-License-Identifier: BSD-2-Clause
/* Translates a .sm file into a machine step by step, and names its states. */

#include "smc/smc-priv.h"

#include <errno.h>
#include <string.h>

/* With the map's name where there are several; never a word that stands for something else. */
static void name_states(struct smc_work *work)
{
	for (struct smc_state *state = work->file->states; state; state = state->next) {
		const char *name = state->name.text;
		bool is_taken = lang_word_is(name, strlen(name), "END") || lang_word_is(name, strlen(name), "STAY");

		if (work->file->maps > 1)
			state->written = lang_hint(work->report, "%s_%s", state->map.text, name);
		else
			state->written = is_taken ? lang_hint(work->report, "%s_", name) : name;
		if (!state->written)
			state->written = name;
	}
}

static bool find_binding(struct smc_work *work, struct smc_input *input)
{
	if (input->binding.text)
		return true;
	if (input->find && input->find(work->file->class.text, &input->binding)) {
		work->report->no_memory |= !input->binding.text;
		return input->binding.text;
	}
	lang_error(work->report, &work->file->class.at, "define its events, guards and actions with --bind FILE",
		   "asterism has no binding for a class '%s'", work->file->class.text);
	return false;
}

static bool translate_input(struct smc_work *work, struct smc_input *input, struct text_buffer *text)
{
	struct smc_reading reading = { .report = work->report, .arena = work->arena };

	if (!lang_text_check(&input->machine, "a state machine is UTF-8 text", work->report))
		return false;
	smc_begin(&reading, &input->machine);
	if (!smc_parse(&reading, work->file) || !find_binding(work, input) ||
	    !lang_text_check(&input->binding, "a binding is UTF-8 text", work->report))
		return false;
	smc_begin(&reading, &input->binding);
	if (!smc_parse_binding(&reading, work->binding))
		return false;
	name_states(work);
	for (struct smc_state *state = work->file->states; state; state = state->next) {
		if (strcmp(state->name.text, "Default") != 0)
			smc_state_legs(work, state);
	}
	if (!work->report->error_count && !work->report->no_memory)
		smc_write(work, text);
	return true;
}

int smc_translate(struct smc_input *input, struct asterism_diag *diag, char **rule)
{
	struct arena *arena = arena_new();
	struct lang_report report = { .arena = arena, .diag = diag };
	struct smc_file file = { 0 };
	struct smc_binding binding = { 0 };
	struct smc_work work = { &report, arena, &file, &binding };
	struct text_buffer text = { 0 };
	int result;

	if (!arena)
		return diag_no_memory(diag);
	translate_input(&work, input, &text);
	result = lang_report_flush(&report);
	if (!result && text_take(&text, rule))
		result = diag_no_memory(diag);
	text_fini(&text);
	arena_free(arena);
	return result;
}
