// SPDX-License-Identifier: BSD-2-Clause
/* The table of what events mean to reports. Another one is a row. */

#include "report/roles.h"

struct place {
	const char *field;
	bool is_needed, is_text;
};

struct row {
	const char *event;
	enum report_role role;
	struct place places[REPORT_FIELDS_MAX];
};

/* Per event the fields in the order of the role's places. */
static const struct row rows[] = {
	{ "sched_switch",
	  ROLE_SWITCH,
	  { { "prev_pid", true, false },
	    { "prev_state", true, false },
	    { "next_pid", true, false },
	    { "prev_prio", false, false },
	    { "next_prio", false, false },
	    { "prev_comm", false, true },
	    { "next_comm", false, true } } },
	{ "sched_waking",
	  ROLE_WAKING,
	  { { "target_tid", true, false },
	    { "target_pid", false, false },
	    { "target_comm", false, true },
	    { "prio", false, false },
	    { "target_cpu", false, false } } },
	{ "sched_wakeup_new",
	  ROLE_WAKEUP_NEW,
	  { { "target_tid", true, false },
	    { "target_pid", false, false },
	    { "target_comm", false, true },
	    { "prio", false, false },
	    { "target_cpu", false, false } } },
	{ "sched_process_fork",
	  ROLE_FORK,
	  { { "parent_pid", false, false },
	    { "child_pid", true, false },
	    { "child_tgid", false, false },
	    { "child_comm", false, true } } },
	{ "sched_process_exec", ROLE_EXEC, { { "filename", false, true }, { "old_pid", false, false } } },
	{ "process_arguments", ROLE_ARGUMENTS, { { "target_pid", true, false }, { "args", true, true } } },
	{ "sched_process_exit", ROLE_EXIT, { { "group_dead", false, false } } },
	{ "task_rename", ROLE_RENAME, { { "newcomm", true, true }, { "target_tid", false, false } } },
	{ "thread_state",
	  ROLE_STATE,
	  { { "target_tid", true, false },
	    { "target_pid", true, false },
	    { "parent_pid", false, false },
	    { "target_comm", false, true },
	    { "prio", false, false },
	    { "state", false, true },
	    { "target_cpu", false, false },
	    { "is_kernel", false, false } } },
	{ "sched_pi_setprio",
	  ROLE_PRIORITY,
	  { { "target_tid", true, false }, { "oldprio", true, false }, { "newprio", true, false } } },
	{ "sys_enter",
	  ROLE_CALL,
	  { { "id", true, false },
	    { "arg0", false, false },
	    { "arg1", false, false },
	    { "arg2", false, false },
	    { "arg3", false, false } } },
	{ "call_state",
	  ROLE_CALL_STATE,
	  { { "id", true, false },
	    { "arg0", true, false },
	    { "arg1", true, false },
	    { "arg2", true, false },
	    { "arg3", true, false },
	    { "target_tid", true, false } } },
	{ "sys_exit", ROLE_CALL_END, { { "id", true, false }, { "ret", false, false } } },
	{ "irq_handler_entry", ROLE_IRQ, { { "irq", true, false }, { "name", false, true } } },
	{ "irq_handler_exit", ROLE_IRQ_END, { { "irq", true, false } } },
	{ "softirq_entry", ROLE_SOFTIRQ, { { "vec", true, false } } },
	{ "softirq_exit", ROLE_SOFTIRQ_END, { { "vec", true, false } } },
	{ "irq_vector_entry", ROLE_VECTOR, { { "vector", true, false } } },
	{ "irq_vector_exit", ROLE_VECTOR_END, { { "vector", true, false } } },
	{ "local_timer_entry", ROLE_TIMER, { { "vector", false, false } } },
	{ "local_timer_exit", ROLE_TIMER_END, { { "vector", false, false } } },
	{ "page_fault_user",
	  ROLE_FAULT_USER,
	  { { "address", false, false }, { "ip", false, false }, { "error_code", false, false } } },
	{ "page_fault_kernel",
	  ROLE_FAULT_KERNEL,
	  { { "address", false, false }, { "ip", false, false }, { "error_code", false, false } } },
	{ "block_rq_issue",
	  ROLE_BLOCK_ISSUE,
	  { { "dev", true, false },
	    { "sector", true, false },
	    { "nr_sector", false, false },
	    { "op", false, false } } },
	{ "block_rq_complete",
	  ROLE_BLOCK_DONE,
	  { { "dev", true, false },
	    { "sector", true, false },
	    { "nr_sector", false, false },
	    { "op", false, false } } },
	{ "pthread_mutex_lock", ROLE_LOCK_WANTED, { { "mutex", true, false } } },
	{ "pthread_mutex_lock_return", ROLE_LOCK_TAKEN, { { "ret", true, false } } },
	{ "pthread_mutex_trylock", ROLE_LOCK_WANTED, { { "mutex", true, false } } },
	{ "pthread_mutex_trylock_return", ROLE_LOCK_TAKEN, { { "ret", true, false } } },
	{ "pthread_mutex_timedlock", ROLE_LOCK_WANTED, { { "mutex", true, false } } },
	{ "pthread_mutex_timedlock_return", ROLE_LOCK_TAKEN, { { "ret", true, false } } },
	{ "pthread_mutex_unlock", ROLE_LOCK_GIVEN, { { "mutex", true, false } } },
	{ "pthread_cond_wait", ROLE_CONDITION, { { "mutex", true, false } } },
	{ "pthread_cond_wait_return", ROLE_CONDITION_END, { { "ret", true, false } } },
	{ "thread_made",
	  ROLE_THREAD_MADE,
	  { { "start", true, false },
	    { "code_start", true, false },
	    { "inode", true, false },
	    { "program", true, true } } },
	{ "match", ROLE_MATCH, { { "rule", true, true }, { "values", false, true }, { "tainted", false, false } } },
};

enum { ROWS = sizeof rows / sizeof *rows };

static const struct row *role_row(const struct event_type *type)
{
	for (size_t i = 0; i < ROWS; i++) {
		if (strcmp(rows[i].event, type->name) == 0)
			return &rows[i];
	}
	return NULL;
}

static bool fits(const struct event_field *field, const struct place *place)
{
	return field && !event_field_is_header(field) && (field->value == EVENT_STRING) == place->is_text &&
	       field->value != EVENT_F64;
}

void report_layout_find(const struct event_type *type, struct report_layout *layout)
{
	const struct row *row = role_row(type);

	*layout = (struct report_layout){ .type = type };
	for (unsigned i = 0; row && i < REPORT_FIELDS_MAX && row->places[i].field; i++) {
		const struct event_field *field = event_field_find(type, row->places[i].field);

		if (fits(field, &row->places[i])) {
			layout->offset[i] = (uint16_t)field->offset;
			layout->bytes[i] = (uint16_t)field->bytes;
		} else if (row->places[i].is_needed) {
			return;
		}
	}
	if (row)
		layout->role = row->role;
}

const char *report_role_event(enum report_role role)
{
	for (size_t i = 0; i < ROWS; i++) {
		if (rows[i].role == role)
			return rows[i].event;
	}
	return "";
}

bool report_role_reads(const struct event_type *type, uint32_t field)
{
	const struct row *row = role_row(type);

	for (unsigned i = 0; row && i < REPORT_FIELDS_MAX && row->places[i].field; i++) {
		if (strcmp(row->places[i].field, type->fields[field].name) == 0)
			return true;
	}
	return false;
}
