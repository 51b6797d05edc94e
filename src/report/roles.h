/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REPORT_ROLES_H
#define REPORT_ROLES_H

/*
 * What events of a type mean to reports, by their names: a role, and where the fields are that it has. A field that a
 * trace does not have reads as 0; a type that lacks a needed one has the role ROLE_OTHER.
 */

#include "event/event.h"

#include <stdbool.h>

enum report_role {
	ROLE_OTHER,
	ROLE_SWITCH,
	ROLE_WAKING,
	ROLE_WAKEUP_NEW,
	ROLE_FORK,
	ROLE_EXEC,
	ROLE_ARGUMENTS,
	ROLE_EXIT,
	ROLE_RENAME,
	ROLE_STATE, /* thread_state: a thread that was there when recording began */
	ROLE_PRIORITY,
	ROLE_CALL,
	ROLE_CALL_END,
	ROLE_IRQ,
	ROLE_IRQ_END,
	ROLE_SOFTIRQ,
	ROLE_SOFTIRQ_END,
	ROLE_VECTOR,
	ROLE_VECTOR_END,
	ROLE_TIMER,
	ROLE_TIMER_END,
	ROLE_FAULT_USER,
	ROLE_FAULT_KERNEL,
	ROLE_BLOCK_ISSUE,
	ROLE_BLOCK_DONE,
	ROLE_LOCK_WANTED,
	ROLE_LOCK_TAKEN,
	ROLE_LOCK_GIVEN,
	ROLE_CONDITION, /* a mutex is given back to wait for a condition */
	ROLE_CONDITION_END,
	ROLE_THREAD_MADE, /* pthread_create: the start function */
	ROLE_CALL_STATE,  /* the call that a thread was in when recording began */
	ROLE_MATCH,
	ROLE_COUNT,
};

_Static_assert(ROLE_COUNT <= 64, "sets of roles are words");

enum { REPORT_FIELDS_MAX = 8 };

/* The fields of the roles, by their place. */
enum {
	SWITCH_PREV_TID = 0,
	SWITCH_PREV_STATE,
	SWITCH_NEXT_TID,
	SWITCH_PREV_PRIO,
	SWITCH_NEXT_PRIO,
	SWITCH_PREV_COMM,
	SWITCH_NEXT_COMM,
	WAKING_TID = 0,
	WAKING_PID,
	WAKING_COMM,
	WAKING_PRIO,
	WAKING_CPU,
	FORK_PARENT_TID = 0,
	FORK_CHILD_TID,
	FORK_CHILD_PID,
	FORK_CHILD_COMM,
	EXEC_FILE = 0,
	EXEC_OLD_TID,
	ARGUMENTS_PID = 0,
	ARGUMENTS_TEXT,
	EXIT_LAST = 0,
	RENAME_COMM = 0,
	RENAME_TID,
	STATE_TID = 0,
	STATE_PID,
	STATE_PARENT_PID,
	STATE_COMM,
	STATE_PRIO,
	STATE_STATE,
	STATE_CPU,
	STATE_IS_KERNEL,
	PRIORITY_TID = 0,
	PRIORITY_OLD,
	PRIORITY_NEW,
	SOFTIRQ_VECTOR = 0,
	CALL_ID = 0,
	CALL_ARG0,
	CALL_ARG1,
	CALL_ARG2,
	CALL_ARG3,
	CALL_STATE_TID, /* behind what any call has */
	CALL_END_ID = 0,
	CALL_END_RET,
	IRQ_NUMBER = 0,
	IRQ_NAME,
	FAULT_ADDRESS = 0,
	FAULT_IP,
	FAULT_CODE,
	BLOCK_DEV = 0,
	BLOCK_SECTOR,
	BLOCK_SECTORS,
	BLOCK_OP,
	LOCK_ADDRESS = 0,
	MADE_START = 0,
	MADE_CODE_START,
	MADE_INODE,
	MADE_PROGRAM,
	MATCH_RULE = 0,
	MATCH_VALUES,
	MATCH_TAINTED,
};

/* What is known of the type of an event. Offset 0: there is no such field. */
struct report_layout {
	const struct event_type *type;
	uint32_t role;
	uint16_t offset[REPORT_FIELDS_MAX];
	uint16_t bytes[REPORT_FIELDS_MAX];
};

/* Finds role and fields of type. */
void report_layout_find(const struct event_type *type, struct report_layout *layout);

/* The name of the event with that role, as `record -e` takes it; those of one name have several roles never. */
const char *report_role_event(enum report_role role);

/* Whether reports ask for that field of type. */
bool report_role_reads(const struct event_type *type, uint32_t field);

/* The integer in the field of that place. */
static inline int64_t report_number(const struct report_layout *layout, const struct event *event, unsigned place)
{
	int64_t value = 0;

	if (layout->offset[place])
		memcpy(&value, (const char *)event->record + layout->offset[place], sizeof value);
	return value;
}

/* The string in it: NUL-terminated; "" where it is unread, or not there. */
static inline const char *report_text(const struct report_layout *layout, const struct event *event, unsigned place)
{
	uint32_t offset = layout->offset[place];

	if (!offset || event_string_is_unread(event->record, offset, layout->bytes[place]))
		return "";
	return (const char *)event->record + offset;
}

#endif
