// SPDX-License-Identifier: BSD-2-Clause
/* What a held system call becomes: events of every type of the catalog that it is of, and which calls are held. */

#include "base/alloc.h"
#include "session/seccomp/caller.h"
#include "session/seccomp/veto-plan.h"
#include "session/seccomp/veto.h"

#include <errno.h>
#include <linux/audit.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

enum { PAGE = 4096 };

static bool everything[EVENT_FIELDS_MAX];
static struct arena *arena;
static struct event_catalog *catalog;

static int set_up(void **state)
{
	struct asterism_diag *diag = asterism_diag_new();

	(void)state;
	memset(everything, true, sizeof everything);
	arena = arena_new();
	assert_non_null(arena);
	assert_int_equal(session_catalog_new(diag, &catalog), 0);
	asterism_diag_free(diag);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	event_catalog_free(catalog);
	arena_free(arena);
	return 0;
}

static void type_of(const char *name, struct veto_type *made)
{
	const struct event_type *type = event_catalog_find(catalog, name);
	char reason[200] = "";

	assert_non_null(type);
	if (veto_type_init(made, &(struct veto_wish){ type, everything }, arena, reason, sizeof reason))
		fail_msg("%s: %s", name, reason);
}

static struct seccomp_data call_of(int number, uint64_t a, uint64_t b, uint64_t c)
{
	return (struct seccomp_data){ .nr = number, .arch = AUDIT_ARCH_X86_64, .args = { a, b, c, 4, 5, 6 } };
}

static int say_address(void *context, uint64_t address, char *text, size_t size)
{
	++*(int *)context;
	if (address == 0xbad)
		return -EPERM;
	snprintf(text, size, "text at %#llx", (unsigned long long)address);
	return 0;
}

/* A record with the fields of call. */
static const void *field_of(const char *type_name, const struct seccomp_data *call, const char *field)
{
	static _Alignas(8) char record[EVENT_RECORD_BYTES_MAX];
	const struct event_type *type = event_catalog_find(catalog, type_name);
	struct veto_type made;
	int reads = 0;
	const struct veto_memory memory = { .read = say_address, .context = &reads };

	type_of(type_name, &made);
	const struct veto_source *source = veto_type_source(&made, call);

	assert_non_null(source);
	memset(record, 0, sizeof record);
	assert_int_equal(veto_type_fill(&made, source, call, &memory, (struct event_header *)record), 0);
	return record + event_field_find(type, field)->offset;
}

static int64_t number_of(const char *type, const struct seccomp_data *call, const char *field)
{
	return *(const int64_t *)field_of(type, call, field);
}

static void test_every_call_of_the_catalog(void **state)
{
	const struct event_type *type;
	size_t calls = 0;

	(void)state;
	for (size_t i = 0; (type = event_catalog_get(catalog, i)); i++) {
		bool numbers[VETO_CALLS_MAX] = { false };
		struct veto_type made;

		if (strncmp(type->name, "sys_enter", strlen("sys_enter")) != 0)
			continue;
		assert_true(event_type_is_call(type));
		type_of(type->name, &made);
		assert_int_equal(veto_type_numbers(&made, numbers) == 0, strcmp(type->name, "sys_enter") != 0);
		for (int number = 0; number < VETO_CALLS_MAX; number++) {
			struct seccomp_data call = call_of(number, 1, 2, 3);

			assert_int_equal(veto_type_source(&made, &call) != NULL,
					 numbers[number] || !strcmp(type->name, "sys_enter"));
		}
		calls++;
	}
	assert_true(calls > 300);
}

static void test_fields_of_a_call(void **state)
{
	struct seccomp_data open = call_of(SYS_openat, (uint64_t)-100, 0x7000, 0xdeadbeef00080000);

	(void)state;
	assert_int_equal(number_of("sys_enter_openat", &open, "dfd"), -100);
	assert_int_equal(number_of("sys_enter_openat", &open, "flags"), 0x80000);
	assert_int_equal(number_of("sys_enter_openat", &open, "mode"), 4);
	assert_string_equal(field_of("sys_enter_openat", &open, "filename"), "text at 0x7000");
	assert_int_equal(number_of("sys_enter", &open, "id"), SYS_openat);
	assert_int_equal(number_of("sys_enter", &open, "arg0"), -100);
	assert_int_equal(number_of("sys_enter", &open, "arg2"), (int64_t)0xdeadbeef00080000);
	assert_int_equal(number_of("sys_enter", &open, "arg5"), 6);
}

static void test_conditions_on_arguments(void **state)
{
	enum { WAIT = 0, WAKE = 1, PRIVATE = 128 };
	struct seccomp_data wait = call_of(SYS_futex, 0x1000, WAIT | PRIVATE, 7);
	struct seccomp_data wake = call_of(SYS_futex, 0x1000, WAKE | PRIVATE, 7);
	struct veto_type made;

	(void)state;
	type_of("futex_wait", &made);
	assert_non_null(veto_type_source(&made, &wait));
	assert_null(veto_type_source(&made, &wake));
	assert_int_equal(number_of("futex_wait", &wait, "uaddr"), 0x1000);
	assert_int_equal(number_of("futex_wait", &wait, "op"), WAIT | PRIVATE);
	type_of("futex_wake", &made);
	assert_null(veto_type_source(&made, &wait));
	assert_non_null(veto_type_source(&made, &wake));
}

static void test_only_what_is_wanted_is_read(void **state)
{
	const struct event_type *type = event_catalog_find(catalog, "sys_enter_openat");
	struct seccomp_data call = call_of(SYS_openat, 1, 0xbad, 3);
	static _Alignas(8) char record[EVENT_RECORD_BYTES_MAX];
	bool wanted[EVENT_FIELDS_MAX] = { true };
	int reads = 0;
	const struct veto_memory memory = { .read = say_address, .context = &reads };
	struct veto_type made;
	char reason[200];

	(void)state;
	for (int text = 0; text <= 1; text++) {
		wanted[1] = text;
		assert_int_equal(
			veto_type_init(&made, &(struct veto_wish){ type, wanted }, arena, reason, sizeof reason), 0);
		assert_int_equal(veto_type_fill(&made, veto_type_source(&made, &call), &call, &memory,
						(struct event_header *)record),
				 text ? -EPERM : 0);
		assert_int_equal(reads, text);
	}
}

static void test_what_a_call_does_not_report(void **state)
{
	static const char text[] =
		"EVENT one { x: i32 }\nFROM raw_syscalls:sys_enter { x = current->pid }\n"
		"EVENT two { x: i32 }\nFROM raw_syscalls:sys_enter WHEN current->pid == 7 { x = syscall_arg(0) }\n"
		"EVENT three { x: string }\nFROM raw_syscalls:sys_enter { x = current->comm }\n"
		"EVENT four { x: i64 }\nFROM raw_syscalls:sys_exit { x = ret }\n"
		"EVENT five { x: i64 }\nFROM raw_syscalls:sys_enter { x = be16(syscall_arg(0)) }\n";
	static const char *const cases[][2] = {
		{ "one", "a held call does not provide 'x'" },
		{ "two", "a held call does not show whether it is such an event" },
		{ "three", "a held call does not provide 'x'" },
		{ "four", "it is not the entry of a system call" },
		{ "five", "a held call does not provide 'x'" },
	};
	struct asterism_diag *diag = asterism_diag_new();

	(void)state;
	assert_int_equal(event_catalog_parse(catalog, "test.events", text, strlen(text), diag), 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct veto_wish wish = { event_catalog_find(catalog, cases[i][0]), everything };
		struct veto_type made;
		char reason[200];

		assert_int_equal(veto_type_init(&made, &wish, arena, reason, sizeof reason), -EINVAL);
		assert_string_equal(reason, cases[i][1]);
	}
	asterism_diag_free(diag);
}

/* What the kernel would make of a call, for the few instructions that a plan uses. */
static uint32_t run_filter(const struct sock_fprog *filter, const struct seccomp_data *call)
{
	uint32_t a = 0;

	for (uint32_t i = 0; i < filter->len; i++) {
		const struct sock_filter *at = &filter->filter[i];

		switch (at->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			memcpy(&a, (const char *)call + at->k, sizeof a);
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
			i += a == at->k ? at->jt : at->jf;
			break;
		case BPF_JMP | BPF_JSET | BPF_K:
			i += a & at->k ? at->jt : at->jf;
			break;
		case BPF_RET | BPF_K:
			return at->k;
		default:
			fail_msg("instruction %#x", at->code);
		}
	}
	fail_msg("no end");
	return 0;
}

static const char rule_text[] =
	"RULE watching PATTERN { sys_enter_close:c }\n"
	"RULE judging PATTERN { [sys_enter_read:r, sys_enter_openat:o] } WHERE { [tid], o.flags == 0 }\n"
	"DO { CALL Veto() }\n";
static const struct session_policy all_allowed = { .allows_all = true };

/* Rules read from text. */
static struct session_rules *rules_of(const char *text)
{
	char path[] = "/tmp/asterism-unit-XXXXXX";
	const char *files[] = { path };
	struct asterism_diag *diag = asterism_diag_new();
	struct session_rules *rules = NULL;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	assert_int_equal(session_rules_read(files, 1, diag, &rules), 0);
	unlink(path);
	asterism_diag_free(diag);
	return rules;
}

static void test_a_plan(void **state)
{
	struct asterism_diag *diag = asterism_diag_new();
	struct session_rules *rules = rules_of(rule_text);
	struct veto_plan plan;

	(void)state;
	assert_int_equal(veto_plan_init(&plan, rules, NULL, diag), 0);
	assert_null(plan.rules);
	veto_plan_fini(&plan);
	assert_int_equal(veto_plan_init(&plan, rules, &all_allowed, diag), 0);
	assert_false(plan.rules[0]);
	assert_true(plan.rules[1]);
	assert_int_equal(plan.type_count, 2);
	assert_true(plan.end.wanted);
	assert_true(plan.end.of_threads);
	assert_true(plan.wants_who);
	for (int number = -1; number < VETO_CALLS_MAX; number++) {
		struct seccomp_data call = call_of(number, 0, 0, 0);
		bool held = number == SYS_read || number == SYS_openat || number == SYS_execve;

		assert_int_equal(run_filter(&plan.filter, &call), number < 0 ? SECCOMP_RET_ERRNO | ENOSYS
								  : held     ? SECCOMP_RET_USER_NOTIF
									     : SECCOMP_RET_ALLOW);
		call.nr |= 0x40000000;
		assert_int_equal(run_filter(&plan.filter, &call), SECCOMP_RET_ERRNO | ENOSYS);
		call.arch = AUDIT_ARCH_I386;
		assert_int_equal(run_filter(&plan.filter, &call), SECCOMP_RET_KILL_PROCESS);
	}
	veto_plan_fini(&plan);
	session_rules_free(rules);
	asterism_diag_free(diag);
}

static void test_a_plan_for_all_calls_fits(void **state)
{
	struct session_rules *rules = rules_of("RULE r PATTERN { sys_enter:s } WHERE { s.comm == \"x\" } "
					       "DO { CALL Veto() }\n");
	struct asterism_diag *diag = asterism_diag_new();
	struct seccomp_data call = call_of(SYS_getpid, 0, 0, 0);
	struct veto_plan plan;

	(void)state;
	assert_int_equal(veto_plan_init(&plan, rules, &all_allowed, diag), 0);
	assert_false(plan.end.wanted);
	assert_true(plan.wants_who);
	assert_int_equal(run_filter(&plan.filter, &call), SECCOMP_RET_USER_NOTIF);
	veto_plan_fini(&plan);
	session_rules_free(rules);
	asterism_diag_free(diag);
}

static void test_the_processor_is_not_reported(void **state)
{
	static const char *const texts[] = {
		"RULE r PATTERN { sys_enter_close:c } WHERE { c.cpu == 1 } DO { CALL Veto() }\n",
		"RULE r PATTERN { [sys_enter_close:c, sys_enter_read:d] } WHERE { [cpu] } DO { CALL Veto() }\n",
		"RULE r PATTERN { sys_enter_close:c } RETURN { c.cpu AS on } DO { CALL Veto() }\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct session_rules *rules = rules_of(texts[i]);
		struct asterism_diag *diag = asterism_diag_new();
		struct veto_plan plan;

		assert_int_equal(veto_plan_init(&plan, rules, &all_allowed, diag), -EINVAL);
		assert_string_equal(
			asterism_diag_get(diag, 0)->text,
			"rule r cannot refuse system calls: it uses 'cpu', which a held call does not provide");
		veto_plan_fini(&plan);
		session_rules_free(rules);
		asterism_diag_free(diag);
	}
}

static void test_every_allocation_may_fail(void **state)
{
	struct session_rules *rules = rules_of(rule_text);
	int result = -ENOMEM;
	unsigned long at = 0;

	(void)state;
	while (result == -ENOMEM) {
		struct asterism_diag *diag = asterism_diag_new();
		struct veto_plan plan;

		alloc_fail_at(++at);
		result = veto_plan_init(&plan, rules, &all_allowed, diag);
		alloc_fail_at(0);
		veto_plan_fini(&plan);
		asterism_diag_free(diag);
	}
	assert_int_equal(result, 0);
	assert_true(at > 1);
	session_rules_free(rules);
}

static void test_every_allocation_of_a_session_may_fail(void **state)
{
	struct session_rules *rules = rules_of(rule_text);
	struct veto *veto = NULL;
	int result = -ENOMEM;
	unsigned long at = 0;

	(void)state;
	while (result == -ENOMEM) {
		struct asterism_diag *diag = asterism_diag_new();

		alloc_fail_at(++at);
		result = veto_new(rules, &all_allowed, true, diag, &veto);
		alloc_fail_at(0);
		assert_int_equal(veto != NULL, result == 0);
		asterism_diag_free(diag);
	}
	assert_int_equal(result, 0);
	assert_false(veto_other_rules(veto)[1]);
	veto_free(veto);
	session_rules_free(rules);
}

static void test_who_is_to_be_held(void **state)
{
	struct session_rules *rules = rules_of(rule_text);
	struct asterism_diag *diag = asterism_diag_new();
	struct veto *veto;

	(void)state;
	assert_int_equal(veto_new(rules, &all_allowed, false, diag, &veto), -EINVAL);
	assert_null(veto);
	assert_string_equal(asterism_diag_get(diag, 0)->text,
			    "rule judging calls Veto, which does not work for processes that are already running");
	assert_int_equal(veto_new(rules, NULL, false, diag, &veto), 0);
	assert_null(veto);
	assert_int_equal(veto_new(NULL, &all_allowed, false, diag, &veto), 0);
	assert_null(veto);
	assert_null(veto_other_rules(NULL));
	assert_null(veto_filter(NULL));
	assert_int_equal(veto_fd(NULL), -1);
	veto_free(NULL);
	session_rules_free(rules);
	asterism_diag_free(diag);
}

static void test_a_name_and_process(void **state)
{
	struct caller_who who;

	(void)state;
	caller_parse("Name:\ta\\\\b\\nc) x\nUmask:\t0022\nState:\tS\nTgid:\t4711\nNgid:\t0\n", &who);
	assert_string_equal(who.comm, "a\\b\nc) x");
	assert_int_equal(who.pid, 4711);
	caller_parse("Name:\t0123456789abcdefghi\n", &who);
	assert_string_equal(who.comm, "0123456789abcde");
	assert_int_equal(who.pid, 0);
	caller_parse("", &who);
	assert_string_equal(who.comm, "");
	caller_who_is(getpid(), &who);
	assert_int_equal(who.pid, getpid());
	caller_who_is(0, &who);
	assert_int_equal(who.pid, 0);
}

static void test_texts_in_memory(void **state)
{
	char *pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char text[256];
	pid_t self = getpid();

	(void)state;
	assert_true(pages != MAP_FAILED);
	assert_int_equal(mprotect(pages + 2 * PAGE, PAGE, PROT_NONE), 0);
	memset(pages, 'a', 2 * PAGE);
	strcpy(pages + 2 * PAGE - 6, "right");
	memset(text, 0, sizeof text);
	assert_int_equal(caller_text(&self, (uintptr_t)pages + 2 * PAGE - 6, text, sizeof text), 0);
	assert_string_equal(text, "right");
	strcpy(pages + PAGE - 3, "over a page");
	memset(text, 0, sizeof text);
	assert_int_equal(caller_text(&self, (uintptr_t)pages + PAGE - 3, text, sizeof text), 0);
	assert_string_equal(text, "over a page");
	for (size_t i = strlen(text); i < sizeof text; i++)
		assert_int_equal(text[i], 0);
	assert_int_equal(caller_text(&self, (uintptr_t)pages, text, sizeof text), 0);
	assert_int_equal(strlen(text), sizeof text - 1);
	pages[2 * PAGE - 1] = 'a';
	assert_int_equal(caller_text(&self, (uintptr_t)pages + 2 * PAGE - 6, text, sizeof text), 0);
	assert_string_equal(text, "");
	for (int i = 0; i < 2; i++) {
		memset(text, 0, sizeof text);
		assert_int_equal(caller_text(&self, i ? UINT64_MAX - 3 : 0, text, sizeof text), 0);
		assert_string_equal(text, "");
	}
	munmap(pages, 3 * PAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_call_of_the_catalog),
		cmocka_unit_test(test_fields_of_a_call),
		cmocka_unit_test(test_conditions_on_arguments),
		cmocka_unit_test(test_only_what_is_wanted_is_read),
		cmocka_unit_test(test_what_a_call_does_not_report),
		cmocka_unit_test(test_a_plan),
		cmocka_unit_test(test_a_plan_for_all_calls_fits),
		cmocka_unit_test(test_the_processor_is_not_reported),
		cmocka_unit_test(test_every_allocation_may_fail),
		cmocka_unit_test(test_a_name_and_process),
		cmocka_unit_test(test_texts_in_memory),
		cmocka_unit_test(test_every_allocation_of_a_session_may_fail),
		cmocka_unit_test(test_who_is_to_be_held),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
