// SPDX-License-Identifier: BSD-2-Clause
/*
 * The catalogs that are shipped: they read without a word, hold what users look for, and give the fields that rules of
 * others use. Whether they fit a kernel is for tools/check-catalog.
 */

#include "event/catalog.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct event_catalog *read_catalog(const char *name)
{
	struct event_catalog *catalog = event_catalog_new();
	struct asterism_diag *diag = asterism_diag_new();

	setenv("ASTERISM_CATALOGS", CATALOGS, 1);
	assert_int_equal(event_catalog_read(catalog, NULL, name, diag), 0);
	assert_int_equal(asterism_diag_count(diag, ASTERISM_NOTE), 0);
	asterism_diag_free(diag);
	return catalog;
}

struct wanted {
	const char *type;
	const char *fields; /* "name:type ..." in order */
};

static void check(struct event_catalog *catalog, const struct wanted *wanted)
{
	const struct event_type *type = event_catalog_find(catalog, wanted->type);
	char fields[1024] = "";

	if (!type || type->origin != EVENT_CATALOG)
		fail_msg("there is no event %s", wanted->type);
	for (uint32_t i = 0; i < type->field_count; i++) {
		strcat(fields, i ? " " : "");
		strcat(strcat(fields, type->fields[i].name), ":");
		strcat(fields, event_value_name(type->fields[i].value));
	}
	assert_string_equal(fields, wanted->fields);
	assert_true(type->hook_count > 0);
}

static const struct wanted of_linux[] = {
	{ "sys_enter", "id:i64 arg0:u64 arg1:u64 arg2:u64 arg3:u64 arg4:u64 arg5:u64" },
	{ "sys_exit", "id:i64 ret:i64" },
	{ "sched_switch", "prev_comm:string prev_pid:i32 prev_prio:i32 prev_state:i64 next_comm:string next_pid:i32 "
			  "next_prio:i32" },
	{ "sched_waking", "target_comm:string target_tid:i32 target_pid:i32 prio:i32 target_cpu:i32" },
	{ "sched_process_fork", "parent_comm:string parent_pid:i32 child_comm:string child_pid:i32 child_tgid:i32" },
	{ "sched_process_exec", "filename:string old_pid:i32" },
	{ "sched_process_exit", "prio:i32 group_dead:bool" },
	{ "futex_wait", "uaddr:addr op:i32 val:u32 timeout:addr" },
	{ "futex_wait_end", "uaddr:addr op:i32 ret:i64" },
	{ "futex_wake", "uaddr:addr op:i32 val:u32" },
	{ "contention_begin", "lock_addr:addr flags:u32" },
	{ "contention_end", "lock_addr:addr ret:i32" },
	{ "page_fault_user", "address:addr ip:addr error_code:u64" },
	{ "sys_enter_openat", "dfd:i32 filename:string flags:i32 mode:u16" },
	{ "sys_exit_openat", "ret:i64" },
	{ "sys_enter_write", "fd:u32 buf:addr count:u64" },
	{ "sys_enter_kill", "target_pid:i32 sig:i32" },
	{ "sys_enter_tgkill", "tgid:i32 target_tid:i32 sig:i32" },
	{ "sys_enter_futex", "uaddr:addr op:i32 val:u32 utime:addr uaddr2:addr val3:u32" },
	{ "sys_enter_getpid", "" },
};

static void linux_has_what_users_look_for(void **state)
{
	struct event_catalog *catalog = read_catalog("linux.events");

	(void)state;
	for (size_t i = 0; i < sizeof of_linux / sizeof *of_linux; i++)
		check(catalog, &of_linux[i]);
	event_catalog_free(catalog);
}

static void every_system_call_begins_and_ends(void **state)
{
	struct event_catalog *catalog = read_catalog("syscalls.events");
	const struct event_type *type;
	size_t begins = 0;

	(void)state;
	for (size_t i = 0; (type = event_catalog_get(catalog, i)); i++) {
		char other[128] = "sys_exit_";

		if (strncmp(type->name, "sys_enter_", 10))
			continue;
		begins++;
		strcat(other, type->name + 10);
		check(catalog, &(struct wanted){ other, "ret:i64" });
		for (uint32_t f = 0; f < type->field_count; f++)
			assert_false(event_field_is_header(event_field_find(type, type->fields[f].name)));
	}
	assert_true(begins > 350);
	event_catalog_free(catalog);
}

static const struct wanted of_wmk[] = {
	{ "syscall", "SyscallNr:u32" },
	{ "syscallexit", "ReturnValue:i64" },
	{ "waitevent", "Type:u8 Flag:bool ReturnValue:i32 Object:addr MultipleObjectsDataSize:u32" },
	{ "waitrelease", "Object:addr Type:u8" },
	{ "lock", "ObjAddress:addr Flags:u16" },
	{ "pagefault", "VirtualAddress:addr" },
	{ "contextswitch", "Priority:i16 ProcessId:u32 ThreadId:u32" },
	{ "threadcreation", "ProcessId:u32 ThreadId:u32 ThreadObjAddress:addr StringLength:u16 "
			    "Name:string" },
	{ "processcreation", "ProcessId:u32 ParentProcessId:u32 ProcessObjAddress:addr SectionBaseAddress:addr" },
	{ "threadtermination", "" },
	{ "terminatethread", "" },
	{ "processtermination", "" },
	{ "createobject", "Object:addr SyscallNr:u32" },
	{ "createfile", "Status:i32 FileNameLength:u16 FileName:string" },
	{ "iotransfer", "IOType:u16 TransferCount:u32" },
	{ "quantumend", "" },
	{ "timerexpiration", "Timer:addr Function:addr" },
	{ "custom", "CustomEventHandle:u32 CustomEventId:u16 DataLength:u16 Data:string" },
};

static void wmk_has_all_types_of_the_original(void **state)
{
	struct event_catalog *catalog = read_catalog("wmk.events");
	const struct event_type *creation, *termination;

	(void)state;
	for (size_t i = 0; i < sizeof of_wmk / sizeof *of_wmk; i++)
		check(catalog, &of_wmk[i]);
	assert_null(event_catalog_get(catalog, sizeof of_wmk / sizeof *of_wmk));
	/* A join on ThreadId means the new thread where a thread is created, the raising one elsewhere. */
	creation = event_catalog_find(catalog, "threadcreation");
	termination = event_catalog_find(catalog, "threadtermination");
	assert_false(event_field_is_header(event_field_find(creation, "ThreadId")));
	assert_true(event_field_is_header(event_field_find(termination, "ThreadId")));
	event_catalog_free(catalog);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(linux_has_what_users_look_for),
		cmocka_unit_test(every_system_call_begins_and_ends),
		cmocka_unit_test(wmk_has_all_types_of_the_original),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
