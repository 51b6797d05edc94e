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
#include "cmd/text/json-message.h"
#include "cmd/text/json-text.h"
#include "cmd/text/obstacles.h"
#include "ebpf/ebpf.h"
#include "ebpf/kernel/attach-probe.h"
#include "ebpf/kernel/btf-kernel.h"
#include "ebpf/source/plan.h"
#include "program/query.h"
#include "program/reads.h"
#include "session/seccomp/veto-plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static const char *const check_place_words[] = {
	[SESSION_KERNEL] = "kernel",
	[SESSION_USER] = "user space",
	[SESSION_NOWHERE] = "nowhere",
	[SESSION_VETO] = "before the call",
};

/* As source_judge, and where the kernel does not tell its types as far as can be told then. */
static int judge_source(const struct checking *checking, const struct event_type *type, uint32_t index, char *reason,
			size_t size)
{
	const char *tracepoint = type->hooks[index].tracepoint;
	struct attach_places found;
	int result;

	if (checking->btf)
		return source_judge(checking->btf, type, index, reason, size);
	result = attach_is_probe(tracepoint) ? attach_probe_find(tracepoint, checking->arena, &found,
								 &(struct attach_reason){ reason, size })
					     : 0;
	if (result != -ESRCH)
		snprintf(reason, size, "the kernel has no readable type information (BTF)");
	return result == -ESRCH ? result : -EOPNOTSUPP;
}

/* A probe that its file does not have is a mistake, and no matter of the machine. */
static int report_wrong(const struct checking *checking, const struct event_type *type, uint32_t index,
			const char *reason)
{
	const struct event_hook *hook = &type->hooks[index];
	const struct diag_source file = { .file = hook->file };

	return diag_error(checking->diag, &(struct diag_location){ .source = &file, .line = hook->line, .column = 1 },
			  -EINVAL, "nothing raises %s: %s", type->name, reason);
}

static int check_judged_type(const struct checking *checking, const struct event_type *type, struct judged_type *judged)
{
	char first[REASON_BYTES] = "", wrong[REASON_BYTES] = "";
	uint32_t wrong_at = 0;

	for (uint32_t i = 0; i < type->hook_count; i++) {
		char reason[REASON_BYTES] = "";
		int result = judge_source(checking, type, i, reason, sizeof reason);

		if (!result)
			return 0;
		if (i == 0)
			snprintf(first, sizeof first, "%s", reason);
		if (result == -ESRCH && !*wrong) {
			snprintf(wrong, sizeof wrong, "%s", reason);
			wrong_at = i;
		}
	}
	judged->is_wrong = *wrong;
	if (*wrong)
		return report_wrong(checking, type, wrong_at, wrong);
	if (type->hook_count)
		judged->missing = arena_format(checking->arena, "%s: %s", type->name, first);
	return 0;
}

/* What is read of the type and this kernel does not say is told as a session does that begins. */
static int tell_absent_checked(const struct checking *checking, const struct event_type *type, uint32_t index)
{
	struct ebpf_needs needs = { 0 };
	struct source_want want = { .type = type, .needs = &needs };
	struct source_plan *plan = NULL;
	int result;

	for (uint32_t rule = 0; rule < checking->program->rule_count; rule++)
		program_rule_reads(checking->program, rule, index, needs.body);
	result = source_plan_new(checking->btf, &want, 1, checking->diag, &plan);
	source_plan_free(plan);
	return result;
}

static int judge_type(const struct checking *checking, const struct event_type *type, uint32_t index)
{
	struct judged_type *judged = &checking->types[index];
	int result = check_judged_type(checking, type, judged);

	return result || !checking->btf || !type->hook_count || judged->missing
		       ? result
		       : tell_absent_checked(checking, type, index);
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
		int error = type ? judge_type(checking, type, i) : 0;

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

struct check_place {
	const char *file; /* NULL: memory is short */
	uint32_t line;
};

/* The two halves of the "file:line" that an image has for a rule. */
static struct check_place rule_place(const struct checking *checking, const struct program_rule *rule)
{
	const char *text = program_text(checking->program, rule->place), *colon = strrchr(text, ':');

	if (!colon)
		return (struct check_place){ .file = text };
	return (struct check_place){ .file = arena_text(checking->arena, text, (size_t)(colon - text)),
				     .line = (uint32_t)strtoul(colon + 1, NULL, 10) };
}

static json_t *tags_of(const struct program *program, const struct program_rule *rule)
{
	json_t *tags = json_array();

	for (uint32_t i = 0; i < rule->tag_count; i++)
		json_array_append_new(tags, json_text(program_text(program, program_tags(program, rule)[i])));
	return tags;
}

/* Whether the kernel has matches that are added up; why: where it delivers them, else NULL. */
static bool adds_up(const struct checking *checking, const struct program_rule *rule,
		    const struct session_placement *placement, const char **why)
{
	*why = NULL;
	if (!rule->aggregation || placement->place != SESSION_KERNEL)
		return false;
	ebpf_can_add_up(checking->program, (uint32_t)(rule - checking->program->rules), why);
	return true;
}

static void put_check_json(const struct checking *checking, const struct program_rule *rule,
			   const struct session_placement *placement, bool may_fall_back)
{
	const struct program *program = checking->program;
	struct check_place at = rule_place(checking, rule);
	const char *why;
	json_t *object =
		json_pack("{s:s, s:s, s:o, s:o, s:i, s:s, s:s?, s:b, s:o}", "name", program_text(program, rule->name),
			  "sort", program_sort(rule), "at", json_text(program_text(program, rule->place)), "file",
			  json_text(at.file), "line", (int)at.line, "runs", check_place_words[placement->place], "why",
			  placement->reason[0] ? placement->reason : NULL, "may_fall_back", may_fall_back, "missing",
			  missing_of(checking, rule));

	if (adds_up(checking, rule, placement, &why))
		json_object_set_new(object, "added_by", json_text(why ? "asterism" : "the kernel"));
	if (why)
		json_object_set_new(object, "delivered_because", json_text(why));
	if (rule->severity)
		json_object_set_new(object, "severity", json_text(severity_name(rule->severity)));
	if (rule->tag_count)
		json_object_set_new(object, "tags", tags_of(program, rule));
	if (rule->description)
		json_object_set_new(object, "description", json_text(program_description(program, rule)));
	json_text_put(object);
}

/* " (high: T1059, network)" */
static void put_rule_properties(const struct program *program, const struct program_rule *rule)
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

static void put_check_text(const struct checking *checking, const struct program_rule *rule,
			   const struct session_placement *placement, bool may_fall_back)
{
	const struct program *program = checking->program;
	const char *why;

	text_write(stdout, program_text(program, rule->place), TEXT_WORDS);
	printf(": %s %s", program_sort(rule), program_text(program, rule->name));
	put_rule_properties(program, rule);
	fputs(placement->place == SESSION_KERNEL ? ": OK (in the kernel)" : ": OK", stdout);
	if (placement->place == SESSION_USER)
		printf(", but runs in user space: %s", placement->reason);
	else if (placement->place == SESSION_VETO)
		printf("; if Veto is allowed, it runs in user space: %s", placement->reason);
	else if (may_fall_back)
		fputs("; falls back to user space if the rules that EMIT connects do not fit into one BPF program",
		      stdout);
	if (adds_up(checking, rule, placement, &why) && why)
		printf("; the kernel sends every match to user space to be aggregated, because %s", why);
	putchar('\n');
}

/* What the rule waits for in vain on this machine. */
static void warn(const struct checking *checking, const struct program_rule *rule)
{
	json_t *texts = missing_of(checking, rule);

	for (size_t i = 0; i < json_array_size(texts); i++)
		cli_warning("%s %s waits for events that this kernel does not raise: %s", program_sort(rule),
			    program_text(checking->program, rule->name), json_string_value(json_array_get(texts, i)));
	json_decref(texts);
}

static int refuse_checked_rule(const struct checking *checking, const struct program_rule *rule, const char *reason)
{
	struct check_place at = rule_place(checking, rule);
	const struct diag_source file = { .file = at.file };

	return diag_error(checking->diag, &(struct diag_location){ .source = &file, .line = at.line, .column = 1 },
			  -EINVAL, "rule %s is SYNCHRONOUS but cannot run in the kernel: %s",
			  program_text(checking->program, rule->name), reason);
}

/* All that keeps the rule out of the kernel, and what to write instead. */
static void put_obstacles(const struct checking *checking, uint32_t index)
{
	struct check_place at = rule_place(checking, &checking->program->rules[index]);
	struct diag_source source = { .file = at.file };

	if (!at.file)
		return;
	session_rules_text(checking->rules, at.file, &source);
	obstacles_add(&(struct obstacles_rule){ checking->program, index, &source, at.line }, checking->diag);
}

static int check_one_rule(const struct checking *checking, uint32_t index)
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
		put_check_json(checking, rule, &placement, may_fall_back);
	else
		warn(checking, rule);
	if (placement.place == SESSION_NOWHERE || placement.place == SESSION_USER)
		put_obstacles(checking, index);
	if (placement.place == SESSION_NOWHERE)
		return refuse_checked_rule(checking, rule, placement.reason);
	if (!checking->as_json && !checking->is_quiet)
		put_check_text(checking, rule, &placement, may_fall_back);
	return 0;
}

static int run_check(const struct cli_arguments *arguments)
{
	struct checking checking = {
		.as_json = arguments->options[OPTION_FORMAT_EVENTS].number == 1,
		.is_quiet = cli_has(arguments, OPTION_QUIET),
	};
	struct session_rules *rules;
	int status, result;

	if (checking.as_json)
		cli_messages_to(json_message_put);
	status = cmd_read_rules(arguments, arguments->operands, arguments->operand_count, &rules);
	if (status)
		return status;
	checking.rules = rules;
	checking.program = session_rules_program(rules);
	checking.diag = asterism_diag_new();
	result = check_types(&checking);
	for (uint32_t i = 0; i < checking.program->rule_count && checking.types; i++) {
		int error = check_one_rule(&checking, i);

		result = error ? error : result;
	}
	cli_print(checking.diag);
	asterism_diag_free(checking.diag);
	btf_kernel_close(checking.btf);
	arena_free(checking.arena);
	session_rules_free(rules);
	return cmd_status_of(result);
}

static const struct cli_example check_examples[] = {
	{ "asterism check slow-syscall.rule", "Checks the rules of the file, and says where they will run." },
	{ "asterism check -f json slow-syscall.rule", "The same for an editor: each error with its location." },
	{ NULL, NULL },
};

const struct cli_command cmd_check = {
	.name = "check",
	.summary = "check rule files and explain their errors",
	.operands = "{FILE | -r TEXT}...",
	.description =
		"Reads the rule files as one unit, checks names, types and patterns, and compiles them; nothing runs. "
		"'-' is standard input. Each error is shown with its location, the source line and a "
		"suggestion.\n\nRules run inside the kernel if possible. If a rule cannot, each obstacle is listed, "
		"with its location and what to write instead. An event that this machine's kernel does not raise, or a "
		"field that it does not provide, is only a warning. A probe that does not exist in its file is an "
		"error, and so is a SYNCHRONOUS rule that cannot run in the kernel. This needs no privileges.\n\nWith "
		"-f json everything goes to standard output, one object per line. A message has severity (error, "
		"warning, note), file, line, column, end, message and help. Columns are bytes, counted from 1; end is "
		"the first column after the location; null means that there is none. A rule has name, sort, file, "
		"line, runs (kernel, user space, before the call, nowhere), why and missing.",
	.options = { OPTION_EXCEPT, OPTION_FORMAT_EVENTS, OPTION_QUIET, OPTION_RULE, OPTION_SET },
	.examples = check_examples,
	.operands_min = 1,
	.instead = OPTION_RULE,
	.run = run_check,
};
