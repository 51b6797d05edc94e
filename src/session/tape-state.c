// SPDX-License-Identifier: BSD-2-Clause
/* Decides how a state dump is written. */

#include "session/tape-state.h"

#include "session/state-dump.h"

static int write_process(void *context, const struct ctf_process *process)
{
	const struct tape_state *state = context;

	return ctf_writer_state(state->writer, state->start_ns, CTF_ID_STATE_PROCESS, process);
}

int tape_state_begin(struct tape_state *state, struct ctf_writer *writer, uint64_t start_ns, bool all)
{
	int result = ctf_writer_state(writer, start_ns, CTF_ID_STATE_START, NULL);

	*state = (struct tape_state){ writer, start_ns };
	return result || !all ? result : state_dump_all(write_process, state);
}

int tape_state_add(struct tape_state *state, pid_t pid)
{
	return state->writer ? state_dump_process(pid, write_process, state) : 0;
}

int tape_state_end(struct tape_state *state)
{
	struct ctf_writer *writer = state->writer;

	state->writer = NULL;
	return writer ? ctf_writer_state(writer, state->start_ns, CTF_ID_STATE_END, NULL) : 0;
}
