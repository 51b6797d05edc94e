// SPDX-License-Identifier: BSD-2-Clause
/* Machines as the language hands them over, and the images that they become, told by their explanations. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "automaton/compile.h"
#include "base/alloc.h"
#include "lang/parse.h"
#include "lang/syntax/ast-machine.h"
#include "program/explain/explain.h"
#include "program/load.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define EVENTS                                                                                                 \
	"EVENT opened { fd: i32 }\nEVENT closed { fd: i32 }\nEVENT used { fd: i32, old: u64, path: string }\n" \
	"EVENT ended { }\nEVENT alarm { fd: i32 }\n"

enum { OPENED, CLOSED, USED, ENDED, ALARM, TYPES };

static struct asterism_diag *diag;
static struct event_catalog *catalog;
static struct lang_program *lang;
static struct lang_unit unit;
static struct arena *arena;
static const struct event_type *types[TYPES];

/* Declares the events, and rules and machines besides. */
static void begin(const char *rules)
{
	char text[2048];
	struct lang_input input = { .file = "m.rule", .text = text };

	input.length = (size_t)snprintf(text, sizeof text, "%s%s", EVENTS, rules);
	diag = asterism_diag_new();
	catalog = event_catalog_new();
	arena = arena_new();
	assert_int_equal(lang_read(&input, 1, catalog, diag, &lang), 0);
	unit = *lang_program_unit(lang);
	for (int i = 0; i < TYPES; i++)
		types[i] = unit.declared[i];
}

static void end(void)
{
	lang_program_free(lang);
	event_catalog_free(catalog);
	asterism_diag_free(diag);
	arena_free(arena);
}

static struct lang_expr *expr(struct lang_expr from)
{
	struct lang_expr *copy = arena_zero(arena, 1, sizeof *copy);

	assert_non_null(copy);
	*copy = from;
	return copy;
}

static struct lang_expr *number(uint64_t value)
{
	return expr((struct lang_expr){ .op = LANG_CONST, .kind = LANG_I64, .integer = value });
}

static struct lang_expr *key(uint32_t index)
{
	return expr((struct lang_expr){ .op = LANG_KEY, .kind = LANG_I64, .element = index });
}

static const struct event_field *field_of(int type, const char *name)
{
	return event_field_find(types[type], name);
}

static struct lang_expr *field(int type, const char *name)
{
	const struct event_field *found = field_of(type, name);
	enum lang_kind kind = found->value == EVENT_STRING ? LANG_STRING : LANG_I64;

	return expr((struct lang_expr){ .op = LANG_FIELD, .kind = kind, .element = UINT32_MAX, .field = found });
}

/* WARN "text {name}" */
static struct lang_machine_action warn(const char *text, const char *name, struct lang_expr *value)
{
	struct lang_piece *piece = arena_zero(arena, 1, sizeof *piece);
	struct lang_value *said = arena_zero(arena, 1, sizeof *said);

	*said = (struct lang_value){ .name = name, .expr = value };
	*piece = (struct lang_piece){ .text = text, .value = value ? said : NULL };
	return (struct lang_machine_action){ .kind = LANG_WARN, .pieces = piece, .piece_count = 1 };
}

/* EMIT type(fd = value) */
static struct lang_machine_action emit(int type, struct lang_expr *value)
{
	struct lang_arg *arg = arena_zero(arena, 1, sizeof *arg);

	*arg = (struct lang_arg){ .kind = LANG_ARG_VALUE, .expr = value, .field = field_of(type, "fd") };
	return (struct lang_machine_action){
		.kind = LANG_RAISE,
		.statement = { .is_emit = true, .type = types[type], .args = arg, .arg_count = 1 },
	};
}

#define BLOCK(...)                                                                    \
	((struct lang_block){ (struct lang_machine_action[]){ __VA_ARGS__ },          \
			      sizeof((struct lang_machine_action[]){ __VA_ARGS__ }) / \
				      sizeof(struct lang_machine_action) })

static const struct event_field **by(const struct event_field *first, const struct event_field *second)
{
	const struct event_field **fields = arena_zero(arena, 2, sizeof(void *));

	fields[0] = first;
	fields[1] = second;
	return fields;
}

/* pid and fd */
static const struct event_field **usual(int type)
{
	return by(&event_header_fields[2], field_of(type, "fd"));
}

static struct lang_key keys[] = { { .name = "pid", .kind = LANG_I64 }, { .name = "fd", .kind = LANG_I64 } };

static struct lang_machine machine_of(struct lang_state *states, uint32_t state_count, struct lang_transition *rows,
				      uint32_t count)
{
	return (struct lang_machine){
		.name = "m",
		.location = { .line = 6 },
		.pool = 16,
		.trail = 1,
		.keys = keys,
		.key_count = 2,
		.states = states,
		.state_count = state_count,
		.transitions = rows,
		.transition_count = count,
	};
}

/* machine: instead of what was read, or NULL. */
static int compile(struct lang_machine *machine, struct program **program)
{
	void *bytes = NULL;
	size_t length = 0;
	int err;

	*program = NULL;
	if (machine) {
		unit.machines = machine;
		unit.machine_count = 1;
	}
	err = automaton_compile(&unit, catalog, diag, &bytes, &length);
	if (!err)
		err = program_load(bytes, length, "m.astc", diag, program);
	alloc_free(bytes);
	return err;
}

/* That the machine read becomes an image whose explanation is, from its first state on, text; ends. */
static void assert_becomes(const char *text)
{
	static const struct program_explain_facts facts = { 0 };
	struct text_buffer out = { 0 };
	struct program *program;
	char *reported = NULL;

	if (compile(NULL, &program)) {
		fail_msg("%s", asterism_diag_get(diag, 0)->text);
		return;
	}
	program_explain_text(program, unit.rule_count, &facts, &out);
	assert_int_equal(text_take(&out, &reported), 0);
	assert_string_equal(strstr(reported, "  no instance"), text);
	alloc_free(reported);
	program_free(program);
	end();
}

/* What the language refuses itself is made by hand. */
static void assert_refused(struct lang_machine *machine, const char *text)
{
	struct program *program;
	const struct asterism_message *message;

	assert_true(compile(machine, &program) < 0);
	message = asterism_diag_get(diag, 0);
	assert_non_null(message);
	if (!strstr(message->text, text))
		fail_msg("\"%s\" instead of \"%s\"", message->text, text);
	end();
}

/* The machine that docs/machines.md begins with. */
static void the_page_s_machine(void **context)
{
	(void)context;
	begin("MACHINE m KEY { pid, fd } TRAIL 1 VAR uses: u32; STATE Open { ON closed -> Closed } STATE Closed "
	      "{ ENTRY { uses = 0 } ON opened -> END ON used WHERE uses < 3 { uses = uses + 1; WARN \"use "
	      "{uses}\"; WARN \"descriptor {fd}\" } AFTER 1h -> END } ON ended BY { pid, * } -> END");
	assert_becomes("  no instance, as in state Open:\n"
		       "    closed -> Closed\n"
		       "      set   pid = pid\n"
		       "            fd = fd\n"
		       "            uses = 0\n"
		       "            timer = u64(ts) + 0x34630b8a000\n"
		       "\n"
		       "  state Closed:\n"
		       "    opened -> end\n"
		       "    used -> Closed\n"
		       "      if    uses < 3\n"
		       "      set   uses = uses + 1 & 4294967295\n"
		       "      warns \"use {uses}; descriptor {fd}\"\n"
		       "    ended -> end\n"
		       "    AFTER 1h -> end\n");
}

/* Keys and initial values stand for slots where there is no instance; what does nothing there is left out. */
static void without_an_instance(void **context)
{
	(void)context;
	begin("MACHINE m KEY { pid, fd } VAR n: i8 = 5; VAR s: string[8] = \"begin\"; STATE Idle { ON used WHERE "
	      "n == fd -> Busy { n = n + fd; s = path } ON used -> STAY ON opened WHERE fd == 7 -> END ON "
	      "opened -> Idle { EMIT alarm(fd = fd) } } STATE Busy { ON closed -> Idle }");
	assert_becomes("  no instance, as in state Idle:\n"
		       "    used -> Busy\n"
		       "      if    5 == fd\n"
		       "      set   pid = pid\n"
		       "            fd = fd\n"
		       "            n = 5\n"
		       "            s = \"begin\"\n"
		       "            n = n + fd << 56 >> 56\n"
		       "            s = path\n"
		       "    opened -> no instance\n"
		       "      if    fd == 7\n"
		       "      set   pid = pid\n"
		       "            fd = fd\n"
		       "    opened -> no instance\n"
		       "      set   pid = pid\n"
		       "            fd = fd\n"
		       "            n = 5\n"
		       "            s = \"begin\"\n"
		       "      does  EMIT alarm(fd = fd)\n"
		       "\n"
		       "  state Busy:\n"
		       "    closed -> Idle\n"
		       "\n"
		       "  state Idle:\n"
		       "    used -> Busy\n"
		       "      if    n == fd\n"
		       "      set   n = n + fd << 56 >> 56\n"
		       "            s = path\n"
		       "    used -> Idle\n"
		       "    opened -> end\n"
		       "      if    fd == 7\n"
		       "    opened -> Idle\n"
		       "      does  EMIT alarm(fd = fd)\n");
}

static void timers(void **context)
{
	(void)context;
	begin("MACHINE m KEY { pid, fd } TRAIL 0 VAR n: i64; STATE Start { ON opened -> Timed } STATE Timed { "
	      "AFTER 2us WHERE n > 1 { WARN \"at {ts}\" } AFTER 1us { n = 1 } AFTER 3us -> Free } STATE Free { ON "
	      "closed -> Timed ON used -> STAY }");
	assert_becomes("  no instance, as in state Start:\n"
		       "    opened -> Timed\n"
		       "      set   pid = pid\n"
		       "            fd = fd\n"
		       "            entered = u64(ts)\n"
		       "            timer = u64(ts) + 1000\n"
		       "\n"
		       "  state Timed:\n"
		       "    AFTER 2us -> Timed\n"
		       "      if    timer == entered + 2000 AND n > 1\n"
		       "      set   captured 1 = ts\n"
		       "            timer = entered + 3000\n"
		       "      warns \"at {ts}\"\n"
		       "    AFTER 1us -> Timed\n"
		       "      if    timer == entered + 1000\n"
		       "      set   n = 1\n"
		       "            timer = entered + 2000\n"
		       "    AFTER 3us -> Free\n"
		       "      if    timer == entered + 3000\n"
		       "      set   timer = 0\n"
		       "    AFTER 2us -> Timed\n"
		       "      if    timer == entered + 2000\n"
		       "      set   timer = entered + 3000\n"
		       "\n"
		       "  state Free:\n"
		       "    closed -> Timed\n"
		       "      set   entered = u64(ts)\n"
		       "            timer = u64(ts) + 1000\n"
		       "    used -> Free\n");
}

/* Copies first, then guarded, then unguarded; own before outside. */
static void order_and_copies(void **context)
{
	(void)context;
	begin("MACHINE m KEY { pid, fd } STATE A { ON opened -> B } STATE B { ON used -> END ON used:u WHERE "
	      "u.fd == 1 -> STAY } ON used -> A ON used:u WHERE u.fd == 2 -> B ON used COPY BY { pid, old } ON "
	      "closed:c WHERE c.fd == 2 -> END AFTER 5ns -> STAY");
	assert_becomes("  no instance, as in state A:\n"
		       "    opened -> B\n"
		       "      set   pid = pid\n"
		       "            fd = u64(fd)\n"
		       "            timer = u64(ts) + 5\n"
		       "    used -> B\n"
		       "      if    fd == 2\n"
		       "      set   pid = pid\n"
		       "            fd = u64(fd)\n"
		       "            timer = u64(ts) + 5\n"
		       "\n"
		       "  state B:\n"
		       "    used -> B, a copy\n"
		       "      set   pid = pid\n"
		       "            fd = old\n"
		       "            timer = u64(ts) + 5\n"
		       "    used -> B\n"
		       "      if    fd == 1\n"
		       "    used -> B\n"
		       "      if    fd == 2\n"
		       "      set   timer = u64(ts) + 5\n"
		       "    used -> end\n"
		       "    used -> A\n"
		       "      set   timer = u64(ts) + 5\n"
		       "    closed -> end\n"
		       "      if    fd == 2\n"
		       "    AFTER 5ns -> B\n"
		       "\n"
		       "  state A:\n"
		       "    opened -> B\n"
		       "      set   timer = u64(ts) + 5\n"
		       "    used -> A, a copy\n"
		       "      set   pid = pid\n"
		       "            fd = old\n"
		       "            timer = u64(ts) + 5\n"
		       "    used -> B\n"
		       "      if    fd == 2\n"
		       "      set   timer = u64(ts) + 5\n"
		       "    used -> A\n"
		       "      set   timer = u64(ts) + 5\n"
		       "    closed -> end\n"
		       "      if    fd == 2\n"
		       "    AFTER 5ns -> A\n");
}

/* Values are those of their place; what is said the same way twice is one notice. */
static void what_is_reported(void **context)
{
	struct program *program;

	(void)context;
	begin("MACHINE m KEY { pid, fd } TRAIL 1 VAR n: u8; STATE A { ON opened -> B } STATE B { ENTRY { EMIT "
	      "alarm(fd = fd) } ON closed -> B ON used { WARN \"was {n}\"; WARN \"was {n}\"; n = n + 1; WARN \"is "
	      "{n}\"; WARN \"of {path}\"; WARN \"each {old / n}\"; WARN \"each {old / n}\"; EMIT alarm(fd = fd + n) } "
	      "}");
	assert_int_equal(compile(NULL, &program), 0);
	assert_int_equal(program->rules[0].notice_count, 2);
	assert_int_equal(program->rules[0].return_count, 4);
	assert_int_equal(program->notices[0].flags, PROGRAM_NOTICE_SILENT);
	assert_int_equal(program->notices[1].flags, 0);
	program_free(program);
	assert_becomes("  no instance, as in state A:\n"
		       "    opened -> B\n"
		       "      set   pid = pid\n"
		       "            fd = fd\n"
		       "      does  EMIT alarm(fd = fd)\n"
		       "\n"
		       "  state B:\n"
		       "    closed -> B\n"
		       "      does  EMIT alarm(fd = fd)\n"
		       "    used -> B\n"
		       "      set   captured 1 = n\n"
		       "            n = n + 1 & 255\n"
		       "            captured 2 = path\n"
		       "            captured 3 = old\n"
		       "            captured 4 = fd + n\n"
		       "      warns \"was {n}; was {n}; is {n (2)}; of {path}; each {old / n}; each {old / n}\"\n"
		       "      does  EMIT alarm(fd = captured 4)\n");
}

static void circles_are_refused(void **context)
{
	struct lang_state state = { .name = "A" };
	struct lang_machine machine;

	(void)context;
	for (int self = 0; self < 2; self++) {
		begin("RULE r PATTERN { alarm:a } DO { EMIT used(fd = a.fd) }");
		struct lang_transition row = {
			.type = types[USED],
			.by = usual(USED),
			.target = LANG_STAYS,
			.block = BLOCK(emit(self ? USED : ALARM, key(1))),
		};

		machine = machine_of(&state, 1, &row, 1);
		assert_refused(&machine, self ? "EMIT feeds itself: m -> m" : "EMIT feeds itself: r -> m -> r");
	}
	begin("RULE r PATTERN { alarm:a } DO { EMIT opened(fd = a.fd) }");
	struct lang_transition row = {
		.type = types[USED], .by = usual(USED), .target = LANG_STAYS, .block = BLOCK(emit(ALARM, key(1)))
	};
	struct program *program;

	machine = machine_of(&state, 1, &row, 1);
	assert_int_equal(compile(&machine, &program), 0);
	assert_int_equal(program->rule_count, 2);
	assert_int_equal(program->rules[0].semantics, PROGRAM_MACHINE); /* it stands before the rule */
	program_free(program);
	end();
}

static void what_no_image_can_say(void **context)
{
	struct lang_state states[] = { { .name = "A" }, { .name = "B" } };
	struct lang_machine machine;

	(void)context;
	begin("");
	struct lang_transition rows[] = {
		{ .state = 0, .type = types[USED], .by = usual(USED), .target = LANG_TO_STATE, .target_state = 1 },
		{ .state = 1,
		  .type = types[USED],
		  .by = by(&event_header_fields[2], field_of(USED, "old")),
		  .target = LANG_TO_END },
	};
	machine = machine_of(states, 2, rows, 2);
	assert_refused(&machine, "an event of type 'used' has its key 'fd' in one field only");
	begin("");
	rows[0].by = usual(USED);
	rows[0].type = types[USED];
	rows[1].type = types[USED];
	rows[1].by = usual(USED);
	rows[1].copy_by = by(&event_header_fields[2], field_of(USED, "old"));
	assert_refused(&machine, "a copy must not end at the same event");
	begin("");
	rows[0].by = rows[1].by = usual(USED);
	rows[0].type = rows[1].type = types[USED];
	rows[1].copy_by = by(&event_header_fields[2], field_of(USED, "old"));
	rows[1].target = LANG_STAYS;
	rows[1].block = BLOCK(warn("no", NULL, NULL));
	assert_refused(&machine, "a copy may only assign variables");
}

static void many_statements_are_refused(void **context)
{
	struct lang_machine_action actions[33];
	struct lang_state state = { .name = "A" };
	struct lang_machine machine;

	(void)context;
	begin("");
	for (int i = 0; i < 33; i++)
		actions[i] = emit(ALARM, number(1));
	struct lang_transition row = {
		.type = types[USED], .by = usual(USED), .target = LANG_STAYS, .block = { actions, 33 }
	};

	machine = machine_of(&state, 1, &row, 1);
	assert_refused(&machine, "machine 'm' has 33 EMITs and CALLs");
}

static void short_memory_is_reported(void **context)
{
	struct lang_state states[] = { { .name = "A" }, { .name = "B" } };
	struct lang_machine machine;
	unsigned long n = 1;
	int err;

	(void)context;
	begin("");
	struct lang_transition rows[] = {
		{ .state = 0,
		  .type = types[USED],
		  .by = usual(USED),
		  .target = LANG_TO_STATE,
		  .target_state = 1,
		  .block = BLOCK(warn("at ", "path", field(USED, "path")), emit(ALARM, key(1))) },
		{ .state = 1, .after_ns = 5, .target = LANG_TO_END },
	};
	machine = machine_of(states, 2, rows, 2);
	do {
		struct program *program = NULL;

		alloc_fail_at(n++);
		err = compile(&machine, &program);
		alloc_fail_at(0);
		assert_true(err == 0 || err == -ENOMEM);
		program_free(program);
	} while (err);
	assert_true(n > 20);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_page_s_machine),
		cmocka_unit_test(without_an_instance),
		cmocka_unit_test(timers),
		cmocka_unit_test(order_and_copies),
		cmocka_unit_test(what_is_reported),
		cmocka_unit_test(circles_are_refused),
		cmocka_unit_test(what_no_image_can_say),
		cmocka_unit_test(many_statements_are_refused),
		cmocka_unit_test(short_memory_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
