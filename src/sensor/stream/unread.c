// SPDX-License-Identifier: BSD-2-Clause
/* Reports that a process is not read: when it is known to be observed. */

#include "sensor/stream/unread.h"

#include "base/alloc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { WAITING_MAX = 256, NAMED_MAX = 8, WHY_BYTES = 160 };

struct unread_process {
	uint32_t pid, parent;
	char comm[SENSOR_COMM_BYTES];
	char why[WHY_BYTES];
	const char *hint;
};

static void take_out(struct unread *unread, size_t index)
{
	memmove(&unread->items[index], &unread->items[index + 1], (--unread->count - index) * sizeof *unread->items);
}

/* What to do. */
static const char *hint_for(const struct sensor_notice *notice)
{
	if (notice->kind == SENSOR_LEFT_OUT)
		return "raise the quota: 'asterism sensors --serve --quota SIZE' or 'asterismd --sensors-quota SIZE'";
	if (notice->fault == -EMFILE || notice->fault == -ENOMEM)
		return "raise 'ulimit -n' (descriptors) or 'ulimit -v' (memory), and start again";
	return NULL;
}

int unread_add(struct unread *unread, const struct sensor_notice *notice)
{
	struct unread_process *process;

	if (!unread->items)
		unread->items = alloc_zero(WAITING_MAX, sizeof *unread->items);
	if (!unread->items)
		return -ENOMEM;
	if (unread->count == WAITING_MAX) /* the oldest is nobody's by now */
		take_out(unread, 0);
	process = &unread->items[unread->count++];
	*process = (struct unread_process){ .pid = notice->process->pid,
					    .parent = notice->process->parent,
					    .hint = hint_for(notice) };
	memcpy(process->comm, notice->process->comm, sizeof process->comm - 1);
	if (notice->kind == SENSOR_LEFT_OUT)
		snprintf(process->why, sizeof process->why, "the sensor registry refused it: %s", notice->text);
	else
		snprintf(process->why, sizeof process->why, "cannot map their memory: %s", strerror(-notice->fault));
	return 0;
}

void unread_fini(struct unread *unread)
{
	alloc_free(unread->items);
	unread->items = NULL;
}

static void tell_unread(struct unread *unread, const struct unread_process *process, struct asterism_diag *diag)
{
	if (unread->told++ < NAMED_MAX)
		diag_add(diag, ASTERISM_WARNING, NULL, process->hint,
			 "not reading the sensors of process %" PRIu32 " (%s): %s", process->pid, process->comm,
			 process->why);
	else if (unread->told == NAMED_MAX + 1)
		diag_add(diag, ASTERISM_WARNING, NULL, NULL,
			 "the sensors of further processes are not read either; they are only counted");
}

uint64_t unread_judge(struct unread *unread, const struct unread_scope *scope)
{
	uint64_t before = unread->told;

	for (size_t i = unread->count; i--;) {
		const struct unread_process *process = &unread->items[i];

		if (!scope->in_scope(scope->context, (pid_t)process->pid, (pid_t)process->parent))
			continue;
		tell_unread(unread, process, scope->diag);
		take_out(unread, i);
	}
	return unread->told - before;
}
