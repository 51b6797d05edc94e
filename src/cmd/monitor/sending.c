// SPDX-License-Identifier: BSD-2-Clause
/* Reports on events that are sent elsewhere. */

#include "cmd/monitor/sending.h"

#include "cli/print.h"
#include "cmd/options/status.h"

#include <errno.h>
#include <inttypes.h>

/* For what is left at the end. */
#define FINISH_NS UINT64_C(2000000000)

static void print_sending_diag(struct sending *sending)
{
	cli_print(sending->diag);
	asterism_diag_clear(sending->diag);
}

int sending_open(struct sending *sending, const struct cli_arguments *arguments)
{
	int result;

	*sending = (struct sending){ .to = arguments->options[OPTION_SEND].text };
	if (!sending->to)
		return STATUS_FINE;
	sending->diag = asterism_diag_new();
	if (!sending->diag) {
		cli_error("out of memory");
		return STATUS_USAGE;
	}
	result = send_new(sending->to, sending->diag, &sending->sender);
	print_sending_diag(sending);
	return result ? STATUS_USAGE : STATUS_FINE;
}

void sending_close(struct sending *sending)
{
	send_free(sending->sender);
	asterism_diag_free(sending->diag);
}

int sending_add(struct sending *sending, struct monitor *monitor, struct asterism_diag *diag)
{
	const struct stream_wants *wants = monitor_wants(monitor);

	if (!sending->sender)
		return 0;
	for (size_t i = 0; i < wants->count; i++)
		if (send_know(sending->sender, wants->items[i].number, wants->items[i].type))
			return diag_no_memory(diag);
	return monitor_add(monitor, MONITOR_ANY_SENSOR, &send_kind, sending->sender) < 0 ? diag_no_memory(diag) : 0;
}

void sending_step(struct sending *sending)
{
	if (!sending->sender)
		return;
	send_step(sending->sender, sending->diag);
	print_sending_diag(sending);
}

bool sending_finish(struct sending *sending)
{
	struct send_counts counts;

	if (!sending->sender)
		return false;
	send_finish(sending->sender, FINISH_NS, sending->diag);
	print_sending_diag(sending);
	send_count(sending->sender, &counts);
	if (counts.unsent)
		cli_warning("%" PRIu64 " events were not sent to %s: it was unreachable or too slow", counts.unsent,
			    sending->to);
	else
		cli_note("%" PRIu64 " event%s sent to %s", counts.sent, counts.sent == 1 ? " was" : "s were",
			 sending->to);
	return counts.unsent != 0;
}
