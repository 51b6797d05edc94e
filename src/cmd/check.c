// SPDX-License-Identifier: BSD-2-Clause
/*
 * `asterism check`: judges rule files without running them, and tells where each rule will run. Nothing here needs
 * privileges; what only this kernel can tell, or only loading, is said to depend on it.
 */

#include "base/alloc.h"
#include "base/severity.h"
#include "base/text.h"
#include "cli/print.h"
#include "cmd/input/rules.h"
#include "cmd/options/commands.h"
#include "cmd/options/status.h"
#include "cmd/text/json-text.h"
#include "ebpf/ebpf.h"
#include "ebpf/kernel/attach-probe.h"
#include "ebpf/kernel/btf-kernel.h"
#include "ebpf/source/plan.h"
#include "program/query.h"
#include "session/seccomp/veto-plan.h"

#include <errno.h>
#include <stdio.h>

enum { REASON_BYTES = 256 };

/* What is to be said of an event type on this machine. */
struct judged_type {
	const char *missing; /* why its kernel does not raise it; NULL: it does, or none is to */
	bool is_wrong;       /* on no machine: reported */
};

struct checking {
	const struct session_rules *rules;
	const struct program *program;
	struct btf_kernel *btf; /* NULL: the kernel does not tell its types */
	struct arena *arena;
	struct judged_type *types; /* per type of the program */
	struct asterism_diag *diag;
	bool as_json, is_quiet;
};

static const char *const place_words[] = {
	[SESSION_KERNEL] = "kernel",
	[SESSION_USER] = "user space",
	[SESSION_NOWHERE] = "nowhere",
	[SESSION_VETO] = "before the call",
};

/* A probe at a function that its file does not have is a mistake, and no matter of the machine. */
static int check_probe(const struct checking *checking, const struct event_type *type, const struct event_hook *hook)
{
	const struct diag_source file = { .file = hook->file };
	char reason[REASON_BYTES] = "";
	struct attach_place found;

	if (!attach_is_probe(hook->tracepoint) ||
	    attach_probe_find(hook->tracepoint, checking->arena, &found,
			      &(struct attach_reason){ reason, sizeof reason }) != -ESRCH)
		return 0;
	return diag_error(checking->diag, &(struct diag_location){ .source = &file, .line = hook->line, .column = 1 },
			  -EINVAL, "nothing raises %s: %s", type->name, reason);
}

static int check_type(const struct checking *checking, const struct event_type *type, struct judged_type *judged)
{
	char reason[REASON_BYTES] = "", first[REASON_BYTES] = "the kernel has no readable type information (BTF)";
	int result = 0;

	for (uint32_t i = 0; checking->btf && i < type->hook_count; i++) {
		if (source_available(checking->btf, type, i, reason, sizeof reason) != 0)
			return 0;
		if (i == 0)
			snprintf(first, sizeof first, "%s", reason);
	}
	for (uint32_t i = 0; i < type->hook_count && !result; i++)
		result = check_probe(checking, type, &type->hooks[i]);
	judged->is_wrong = result != 0;
	if (!result && type->hook_count)
		judged->missing = arena_format(checking->arena, "%s: %s", type->name, first);
	return result;
}

static int check_types(struct checking *checking)
{
	const struct program *program = checking->program;
	int result = 0;

	checking->arena = arena_new();
	checking->types =
		checking->arena ? arena_zero(checking->arena, program->type_count, sizeof *checking->types) : NULL;
	if (!checking->types)
		return diag_no_memory(checking->diag);
	if (btf_kernel_open(NULL, &checking->btf))
		checking->btf = NULL;
	for (uint32_t i = 0; i < program->type_count; i++) {
		const struct event_type *type = event_catalog_find(session_rules_catalog(checking->rules),
								   program_text(program, program->types[i].name));
		int error = type ? check_type(checking, type, &checking->types[i]) : 0;

		result = error ? error : result;
	}
	return result;
}

static bool waits_for(const struct checking *checking, const struct program_rule *rule, uint32_t type)
{
	for (uint32_t i = 0; i < rule->element_count; i++)
		if (program_elements(checking->program, rule)[i].type == type)
			return true;
	return false;
}

/* Whether the rule waits for what is wrong. */
static bool is_wrong(const struct checking *checking, const struct program_rule *rule)
{
	for (uint32_t type = 0; type < checking->program->type_count; type++)
		if (checking->types[type].is_wrong && waits_for(checking, rule, type))
			return true;
	return false;
}

/* The texts of what the rule waits for and this kernel does not raise. */
static json_t *missing_of(const struct checking *checking, const struct program_rule *rule)
{
	json_t *texts = json_array();

	for (uint32_t type = 0; type < checking->program->type_count; type++)
		if (checking->types[type].missing && waits_for(checking, rule, type))
			json_array_append_new(texts, json_text(checking->types[type].missing));
	return texts;
}

static json_t *tags_of(const struct program *program, const struct program_rule *rule)
{
	json_t *tags = json_array();

	for (uint32_t i = 0; i < rule->tag_count; i++)
		json_array_append_new(tags, json_text(program_text(program, program_tags(program, rule)[i])));
	return tags;
}

static void put_json(const struct checking *checking, const struct program_rule *rule,
		     const struct session_placement *placement, bool may_fall_back)
{
	const struct program *program = checking->program;
	json_t *object =
		json_pack("{s:s, s:s, s:o, s:s, s:s?, s:b, s:o}", "name", program_text(program, rule->name), "sort",
			  program_sort(rule), "at", json_text(program_text(program, rule->place)), "runs",
			  place_words[placement->place], "why", placement->reason[0] ? placement->reason : NULL,
			  "may_fall_back", may_fall_back, "missing", missing_of(checking, rule));

	if (rule->severity)
		json_object_set_new(object, "severity", json_text(severity_name(rule->severity)));
	if (rule->tag_count)
		json_object_set_new(object, "tags", tags_of(program, rule));
	if (rule->description)
		json_object_set_new(object, "description", json_text(program_description(program, rule)));
	json_text_put(object);
}

/* " (high: T1059, network)" */
static void put_properties(const struct program *program, const struct program_rule *rule)
{
	if (rule->severity || rule->tag_count)
		printf(" (%s", severity_name(rule->severity));
	for (uint32_t i = 0; i < rule->tag_count; i++) {
		fputs(i ? ", " : rule->severity ? ": " : "", stdout);
		text_write(stdout, program_text(program, program_tags(program, rule)[i]), TEXT_WORDS);
	}
	if (rule->severity || rule->tag_count)
		putchar(')');
}

static void put_text(const struct checking *checking, const struct program_rule *rule,
		     const struct session_placement *placement, bool may_fall_back)
{
	const struct program *program = checking->program;

	text_write(stdout, program_text(program, rule->place), TEXT_WORDS);
	printf(": %s %s", program_sort(rule), program_text(program, rule->name));
	put_properties(program, rule);
	fputs(" is fine", stdout);
	if (placement->place == SESSION_USER)
		printf(", but runs in user space: %s", placement->reason);
	else if (placement->place == SESSION_VETO)
		printf("; where it may refuse, it runs in user space: %s", placement->reason);
	else if (may_fall_back)
		fputs("; where what EMIT connects is too much for one program of the kernel, it runs in user space",
		      stdout);
	putchar('\n');
}

/* What the rule waits for in vain on this machine. */
static void warn(const struct checking *checking, const struct program_rule *rule)
{
	json_t *texts = missing_of(checking, rule);

	for (size_t i = 0; i < json_array_size(texts); i++)
		cli_warning("%s %s waits for what this kernel does not raise: %s", program_sort(rule),
			    program_text(checking->program, rule->name), json_string_value(json_array_get(texts, i)));
	json_decref(texts);
}

static int check_rule(const struct checking *checking, uint32_t index)
{
	const struct program_rule *rule = &checking->program->rules[index];
	struct session_placement placement;
	bool may_fall_back;

	if (is_wrong(checking, rule))
		return 0;
	session_place(checking->program, index, &placement);
	may_fall_back = placement.place == SESSION_KERNEL && rule->mode != PROGRAM_SYNCHRONOUS &&
			ebpf_emit_connects(checking->program, index);
	if (checking->as_json && !checking->is_quiet)
		put_json(checking, rule, &placement, may_fall_back);
	else
		warn(checking, rule);
	if (placement.place == SESSION_NOWHERE)
		return diag_error(checking->diag, NULL, -EINVAL,
				  "rule %s is SYNCHRONOUS but cannot run in the kernel: %s",
				  program_text(checking->program, rule->name), placement.reason);
	if (!checking->as_json && !checking->is_quiet)
		put_text(checking, rule, &placement, may_fall_back);
	return 0;
}

static int run(const struct cli_arguments *arguments)
{
	struct checking checking = {
		.as_json = arguments->options[OPTION_FORMAT_EVENTS].number == 1,
		.is_quiet = cli_has(arguments, OPTION_QUIET),
	};
	struct session_rules *rules;
	int status = cmd_read_rules(arguments, arguments->operands, arguments->operand_count, &rules), result;

	if (status)
		return status;
	checking.rules = rules;
	checking.program = session_rules_program(rules);
	checking.diag = asterism_diag_new();
	result = check_types(&checking);
	for (uint32_t i = 0; i < checking.program->rule_count && checking.types; i++) {
		int error = check_rule(&checking, i);

		result = error ? error : result;
	}
	cli_print(checking.diag);
	asterism_diag_free(checking.diag);
	btf_kernel_close(checking.btf);
	arena_free(checking.arena);
	session_rules_free(rules);
	return cmd_status_of(result);
}

static const struct cli_example examples[] = {
	{ "asterism check slow-syscall.rule",
	  "Says whether the rules of the file are right, and where they will run." },
	{ NULL, NULL },
};

const struct cli_command cmd_check = {
	.name = "check",
	.summary = "check rule files and explain what is wrong in them",
	.operands = "{FILE | -r TEXT}...",
	.description =
		"Reads the rule files as one unit, checks names, types and patterns, and compiles them, without "
		"running anything. Errors are shown with their place, the line and what would be right; several per "
		"run.\n\n"
		"A rule that is fine runs inside the kernel unless it is said why it does not. What depends on this "
		"machine is a warning: events that its kernel does not raise. A probe at a function that its file "
		"does not have, and a SYNCHRONOUS rule that cannot run in the kernel, are errors. None of this needs "
		"privileges.",
	.options = { OPTION_EXCEPT, OPTION_FORMAT_EVENTS, OPTION_QUIET, OPTION_RULE, OPTION_SET },
	.examples = examples,
	.operands_min = 1,
	.instead = OPTION_RULE,
	.run = run,
};
