// SPDX-License-Identifier: BSD-2-Clause
/* Allows processes to be stopped only while there is a watchdog. */

#include "session/verdict/stopping.h"

#include "program/calls.h"

#include <errno.h>

/* A user who kills watchdogs again and again is not to be fought. */
enum { RESTARTS_MAX = 16 };

bool stopping_is_needed(const struct program *program, const bool *allowed)
{
	for (uint32_t i = 0; i < program->header->sections[PROGRAM_STATEMENTS].count; i++) {
		const struct react_action *action = program_call(program, &program->statements[i]);

		if (action && allowed[i] && action->is_undone)
			return true;
	}
	return false;
}

static int start_watchdog(struct stopping *stopping, struct asterism_diag *diag)
{
	const struct react_watchdog_options options = { .stops = stopping->stops.table, .undo = stopping->undo };

	return react_watchdog_start(&options, diag, &stopping->watchdog);
}

int stopping_open(struct stopping *stopping, struct undo *undo, struct asterism_diag *diag)
{
	int result;

	*stopping = (struct stopping){ .undo = undo };
	result = ebpf_stops_init(&stopping->stops, diag);
	if (!result)
		result = start_watchdog(stopping, diag);
	if (result)
		stopping_close(stopping);
	else
		__atomic_store_n(&stopping->stops.table->open, 1, __ATOMIC_RELEASE);
	return result;
}

int stopping_fd(const struct stopping *stopping)
{
	return stopping->watchdog ? react_watchdog_fd(stopping->watchdog) : -1;
}

int stopping_poll(struct stopping *stopping, struct asterism_diag *diag)
{
	int result = -EAGAIN;

	if (!stopping->watchdog || react_watchdog_lives(stopping->watchdog))
		return 0;
	react_watchdog_end(stopping->watchdog);
	stopping->watchdog = NULL;
	if (stopping->restarts++ < RESTARTS_MAX)
		result = start_watchdog(stopping, NULL);
	if (!result)
		return 1;
	stopping_refuse(stopping);
	diag_add(diag, ASTERISM_WARNING, NULL, NULL,
		 "the watchdog of stopped processes has ended: rules stop no more processes");
	return -EAGAIN;
}

void stopping_refuse(struct stopping *stopping)
{
	__atomic_store_n(&stopping->stops.table->open, 0, __ATOMIC_SEQ_CST);
	react_stops_settle();
}

void stopping_close(struct stopping *stopping)
{
	struct react_stop_table *table = stopping->stops.table;

	if (table && table->open)
		stopping_refuse(stopping);
	if (table)
		react_stops_continue(table);
	react_watchdog_end(stopping->watchdog);
	stopping->watchdog = NULL;
	ebpf_stops_fini(&stopping->stops);
}
