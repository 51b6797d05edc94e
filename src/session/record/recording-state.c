// SPDX-License-Identifier: BSD-2-Clause
/* Writes a state dump. */

#include "session/record/recording-state.h"

#include "base/alloc.h"
#include "session/record/state-dump.h"

#include <errno.h>

static int take_process_state(void *context, const struct ctf_process *process)
{
	struct recording_state *state = context;

	if (alloc_grow(&state->processes, &state->capacity, state->count, sizeof *process))
		return -ENOMEM;
	state->processes[state->count++] = *process;
	return 0;
}

int recording_state_begin(struct recording_state *state, uint64_t start_ns, bool all)
{
	*state = (struct recording_state){ .start_ns = start_ns };
	return all ? state_dump_all(take_process_state, state) : 0;
}

void recording_state_fini(struct recording_state *state)
{
	alloc_free(state->processes);
	*state = (struct recording_state){ 0 };
}

int recording_state_add(struct recording_state *state, pid_t pid)
{
	return state->start_ns ? state_dump_process(pid, take_process_state, state) : 0;
}

int recording_state_write(struct recording_state *state, struct ctf_writer *writer)
{
	int result = 0;

	if (!state->start_ns)
		return 0;
	result = ctf_writer_state(writer, state->start_ns, CTF_ID_STATE_START, NULL);
	for (size_t i = 0; i < state->count && !result; i++)
		result = ctf_writer_state(writer, state->start_ns, CTF_ID_STATE_PROCESS, &state->processes[i]);
	if (!result)
		result = ctf_writer_state(writer, state->start_ns, CTF_ID_STATE_END, NULL);
	recording_state_fini(state);
	return result;
}
