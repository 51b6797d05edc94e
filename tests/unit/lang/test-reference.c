// SPDX-License-Identifier: BSD-2-Clause
/* Rules in the notation that the language grew out of: all of them must be read as they stand. */

#include "base/alloc.h"
#include "read-text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const char declarations[] =
	"EVENT syscall { SyscallNr: u32 } EVENT syscallexit {} EVENT threadtermination {} EVENT X {}\n"
	"EVENT threadcreation { ProcessId: u32, ThreadId: u32, ThreadObjAddress: addr }\n"
	"EVENT waitevent { Type: u8, Flag: u8, ReturnValue: i32, Object: addr, MultipleObjectsDataSize: u32 }\n"
	"EVENT createobject { Object: addr } EVENT lock { ObjAddress: addr, Flags: u16 }\n"
	"EVENT pagefault { VirtualAddress: addr, Type: u16 } EVENT contextswitch { Priority: i8, Quantum: i8 }\n";

static const char rules[] =
	"ASYNCHRONOUS RULE longsyscalls STRICTPARTITION PATTERN { [syscall:a, syscallexit:b] }\n"
	" WHERE { [ProcessId],[ThreadId], b.TimeStamp - a.TimeStamp > 2000000 } RETURN { a.SyscallNr }\n"
	"RULE syscall PATTERN {[syscall:a]} RETURN {a.SyscallNr,a.TimeStamp}\n"
	"RULE nosyscallexit PATTERN {[syscall:a,~(syscallexit|threadtermination|waitevent),syscall]}\n"
	" WHERE {[ProcessId],[ThreadId],a.SyscallNr<300} RETURN {a.SyscallNr,a.TimeStamp}\n"
	"ASYNCHRONOUS RULE synctimeout PATTERN {[waitevent:w]} // WAIT_TIMEOUT\n"
	" WHERE {w.Flag==FALSE, w.ReturnValue==258}\n"
	"ASYNCHRONOUS RULE detectDeadlock SKIPTILLNEXT PATTERN {[ waitevent:a, ~waitevent:ar0,\n"
	" waitevent:b, ~(waitevent:ar1|waitevent:br0),\n"
	" waitevent:c, ~(waitevent:ar2|waitevent:br1|waitevent:cr0), waitevent:d ]}\n"
	" WHERE { a.ProcessId==c.ProcessId, a.ThreadId==c.ThreadId, b.ProcessId==d.ProcessId,\n"
	" b.ThreadId==d.ThreadId, a.Object==d.Object, b.Object==c.Object,\n"
	" a.Object==ar0.Object,a.Flag!=ar0.Flag, a.Object==ar1.Object,a.Flag!=ar1.Flag,\n"
	" a.Object==ar2.Object,a.Flag!=ar2.Flag, b.Object==br0.Object,b.Flag!=br0.Flag,\n"
	" b.Object==br1.Object,b.Flag!=br1.Flag, c.Object==cr0.Object,c.Flag!=cr0.Flag,\n"
	" [MultipleObjectsDataSize], a.MultipleObjectsDataSize==0 }\n"
	"ASYNCHRONOUS RULE detectLockContention STRICTPARTITION\n"
	" PATTERN {[lock:a, lock[>=1]:b, lock:c]} WHERE {[ObjAddress], a.Flags & 16 != 0,\n"
	" c.Flags & 16 == 0} RETURN {a.ObjAddress, b.len}\n"
	"ASYNCHRONOUS RULE detectHighPagefaultRate SKIPTILLNEXT PATTERN {[pagefault[>1000]:a]}\n"
	" WHERE {[ProcessId]} WITHIN 1s\n"
	"ASYNCHRONOUS RULE checkAssumption SKIPTILLNEXT PATTERN {[threadcreation:a, ~[ X ], threadtermination]}\n"
	" WHERE {[ProcessId],[ThreadId]} RETURN {a.ThreadId}\n"
	"SYNCHRONOUS RULE resolvePriorityInversion SKIPTILLNEXT\n"
	" PATTERN {[contextswitch:l, lock:a, ~lock:b, contextswitch:h, lock:c]}\n"
	" WHERE {a.ObjAddress==b.ObjAddress, a.ObjAddress==c.ObjAddress, a.Flags&16!=0,\n"
	" b.Flags&16==0, c.Flags&16!=0, l.Priority < h.Priority}\n"
	" DO { CALL SetThreadPriority(a#TID, h.Priority) }\n"
	"RULE arrays PATTERN { [lock[<3]:a, syscall[1..4]:b, pagefault[=2]:c, X] } "
	" WHERE { a[].len > 1, b[].min.SyscallNr + 1 <= 3, c[].avg.Type / 2 >= 1.5, a[].max.Flags * 2 != 7 | 1 }\n"
	" RETURN SEQUENCE DO { EMIT X(); CALL DbgMessage(\"too many\") ; }\n";

static void test_reference_rules(void **state)
{
	const struct lang_input inputs[] = {
		{ .file = "events", .text = declarations, .length = strlen(declarations) },
		{ .file = "rules", .text = rules, .length = strlen(rules) },
	};
	struct reading reading;

	(void)state;
	read_inputs(&reading, inputs, 2);
	/* The reference counts in nanoseconds without saying so. */
	char *messages = show_messages(reading.diag);

	if (asterism_diag_count(reading.diag, ASTERISM_NOTE) != 1 || !strstr(messages, "this is 2ms"))
		fail_msg("%s", messages);
	alloc_free(messages);
	assert_int_equal(reading.unit->rule_count, 10);
	const struct lang_rule *deadlock = &reading.unit->rules[4];
	unsigned kinds[5] = { 0 };

	for (uint32_t i = 0; i < deadlock->condition_count; i++)
		kinds[deadlock->conditions[i].kind]++;
	assert_int_equal(kinds[LANG_GUARD], 1);
	assert_int_equal(kinds[LANG_CORRELATION], 6);
	assert_int_equal(kinds[LANG_RELATION], 0);
	assert_int_equal(kinds[LANG_NEGATED], 12);
	/* A body field of the header's name comes first. */
	const struct lang_rule *assumption = &reading.unit->rules[7];

	assert_false(event_field_is_header(assumption->joins[1].fields[0]));
	assert_true(event_field_is_header(assumption->joins[1].fields[2]));
	reading_fini(&reading);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_reference_rules) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
