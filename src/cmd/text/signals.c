// SPDX-License-Identifier: BSD-2-Clause
/* Handles signals in a command that reads. */

#include "cmd/text/signals.h"

#include "cli/print.h"
#include "cmd/options/status.h"

static volatile sig_atomic_t stop;

static void note_signal(int signal_number)
{
	stop = signal_number;
}

const volatile sig_atomic_t *signals_take(void)
{
	struct sigaction action = { .sa_handler = note_signal, .sa_flags = (int)SA_RESETHAND };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	return &stop;
}

int signals_came(void)
{
	return stop;
}

int signals_status(int status)
{
	if (!signals_came())
		return status;
	cli_note("interrupted before the end of the input");
	return status == STATUS_FINE || status == STATUS_MATCH ? STATUS_SIGNAL + signals_came() : status;
}
