// SPDX-License-Identifier: BSD-2-Clause
/* `asterism explain`: what the compiler made of rules, and where they will run. */

#include "cli/print.h"
#include "cmd/input/rules.h"
#include "cmd/options/commands.h"
#include "cmd/options/status.h"
#include "cmd/predict.h"

#include "base/alloc.h"
#include "base/text.h"
#include "ebpf/attachment.h"
#include "ebpf/ebpf.h"
#include "ebpf/live-plan.h"
#include "ebpf/memory/layout.h"
#include "engine/engine.h"
#include "program/calls.h"
#include "program/explain/explain.h"
#include "program/query.h"
#include "session/seccomp/veto-plan.h"

#include <errno.h>
#include <stdio.h>

static const char *const explain_place_words[] = {
	[SESSION_KERNEL] = "in the kernel",
	[SESSION_USER] = "in user space, over events that the kernel ships",
	[SESSION_NOWHERE] = "nowhere, though SYNCHRONOUS asks for the kernel",
	[SESSION_VETO] = "in user space, decides before the system call",
};

typedef void explain_fn(const struct program *program, uint32_t rule, const struct program_explain_facts *facts,
			struct text_buffer *out);

/* A match when the time is up is noticed in asterism's own process: there no process can be met by a signal. */
static bool waits_for_time(const struct program *program, const struct program_rule *rule)
{
	for (uint32_t i = 0; i < rule->state_count; i++)
		if (program_states(program, rule)[i].flags & PROGRAM_STATE_DEADLINE)
			return true;
	return false;
}

static void find_who(const struct program *program, uint32_t rule, enum session_place place, const char **who,
		     const char **guarantees)
{
	const struct program_rule *row = &program->rules[rule];

	for (uint32_t i = 0; i < row->statement_count; i++) {
		uint32_t statement = row->first_statement + i;
		const struct react_action *action = program_call(program, &program->statements[statement]);
		bool signals = action && action->primitive == REACT_SEND_SIGNAL;
		bool never_late = action && action->primitive == REACT_STACK;

		if (!action)
			continue;
		guarantees[i] = action->guarantee;

		if (never_late && (place != SESSION_KERNEL || waits_for_time(program, row)))
			who[i] = "nobody";
		else if (place != SESSION_KERNEL || !ebpf_can_act(program, statement) ||
			 (signals && waits_for_time(program, row)))
			who[i] = "asterism", guarantees[i] = react_late_guarantee(action);
		else
			who[i] = signals ? "the kernel, or asterism where the kernel cannot reach the target"
					 : "the kernel";
	}
}

/* In the order of the choices of --format. */
static explain_fn *const explain_formats[] = { program_explain_text, program_explain_dot, program_explain_json };

static void explain_rule(const struct program *program, uint32_t rule, explain_fn *explain, struct text_buffer *out)
{
	struct session_placement placement;
	const char *who[REACT_STATEMENTS_MAX] = { NULL }, *guarantees[REACT_STATEMENTS_MAX] = { NULL };
	struct program_explain_facts facts = { .who = who, .guarantees = guarantees };

	session_place(program, rule, &placement);
	facts.where = explain_place_words[placement.place];
	facts.why = placement.reason[0] ? placement.reason : NULL;
	if (placement.place == SESSION_KERNEL) {
		facts.kernel_bytes = ebpf_pool_bytes(program, rule);
		facts.kept_events = ebpf_kept_events(program, rule);
	} else if (placement.place != SESSION_NOWHERE) {
		facts.user_space_bytes = engine_pool_bytes(program, rule);
	}
	facts.who_adds = placement.place != SESSION_KERNEL || !program->rules[rule].aggregation ? "asterism"
			 : ebpf_can_add_up(program, rule, &facts.why_added)                     ? "the kernel"
												: "asterism";
	find_who(program, rule, placement.place, who, guarantees);
	explain(program, rule, &facts, out);
}

static void explain_automata(const struct program *program, explain_fn *explain, struct text_buffer *out)
{
	for (uint32_t i = 0; i < program->rule_count; i++) {
		if (i > 0 && explain == program_explain_text)
			text_append(out, "\n");
		explain_rule(program, i, explain, out);
	}
}

/* What a live session decides of its code, and where that is attached. */
static void explain_plan(const struct session_rules *rules, bool as_json, struct text_buffer *out)
{
	const struct program *program = session_rules_program(rules);
	bool *excluded = alloc_zero(program->rule_count, sizeof *excluded);
	bool *shipped = alloc_zero(program->rule_count, sizeof *shipped);
	struct ebpf_attachment_options options = { session_rules_catalog(rules), shipped };
	struct ebpf_attachment *attachment = NULL;
	struct session_placement placement;
	struct plan *plan = NULL;

	for (uint32_t i = 0; i < program->rule_count && excluded && shipped; i++) {
		session_place(program, i, &placement);
		excluded[i] = placement.place != SESSION_KERNEL;
		shipped[i] = placement.place == SESSION_USER;
	}
	if (!excluded || !shipped || ebpf_live_plan(program, options.catalog, excluded, &plan) ||
	    ebpf_attachment_new(plan, &options, &attachment))
		out->failure = -ENOMEM;
	for (uint32_t i = 0; i < program->rule_count && attachment; i++) {
		struct text_buffer attached = { 0 };

		if (i > 0 && !as_json)
			text_append(out, "\n");
		(as_json ? ebpf_attachment_json : ebpf_attachment_text)(attachment, i, &attached);
		(as_json ? plan_explain_json : plan_explain_text)(plan, i, session_rules_measures(rules),
								  attached.bytes ? attached.bytes : "", out);
		out->failure = out->failure ? out->failure : attached.failure;
		text_fini(&attached);
	}
	ebpf_attachment_free(attachment);
	plan_free(plan);
	alloc_free(excluded);
	alloc_free(shipped);
}

static bool goes_together(const struct cli_arguments *arguments)
{
	static const enum option_id of_trace[] = { OPTION_ASSUME, OPTION_FROM, OPTION_LENIENT, OPTION_TIME_FIELD,
						   OPTION_TO };
	bool plans = cli_has(arguments, OPTION_PLAN), traces = cli_has(arguments, OPTION_TRACE);

	if (plans && explain_formats[arguments->options[OPTION_GRAPH_FORMAT].number] == program_explain_dot)
		cli_error("--plan can only be shown with -f text or -f json");
	else if (plans && traces)
		cli_error("--plan and --trace exclude each other");
	else
		for (size_t i = 0; i < sizeof of_trace / sizeof *of_trace; i++) {
			if (traces || !cli_has(arguments, of_trace[i]))
				continue;
			cli_error("--%s needs --trace", option_rows[of_trace[i]].name);
			return false;
		}
	return !plans ||
	       (!traces && explain_formats[arguments->options[OPTION_GRAPH_FORMAT].number] != program_explain_dot);
}

static int run_explain(const struct cli_arguments *arguments)
{
	explain_fn *explain = explain_formats[arguments->options[OPTION_GRAPH_FORMAT].number];
	bool plans = arguments->options[OPTION_PLAN].number != 0;
	struct session_rules *rules;
	struct text_buffer out = { 0 };
	char *text = NULL;
	int status;

	if (!goes_together(arguments))
		return STATUS_USAGE;
	status = cmd_read_rules(arguments, arguments->operands, arguments->operand_count, &rules);
	if (status)
		return status;
	if (cli_has(arguments, OPTION_TRACE))
		status = cmd_predict(arguments, rules, &out);
	else if (plans)
		explain_plan(rules, explain == program_explain_json, &out);
	else
		explain_automata(session_rules_program(rules), explain, &out);
	if (text_take(&out, &text)) {
		cli_error("out of memory");
		status = STATUS_USAGE;
	} else {
		text_write_lines(stdout, text);
		alloc_free(text);
	}
	session_rules_free(rules);
	return status;
}

static const struct cli_example explain_examples[] = {
	{ "asterism explain slow-syscall.rule", "Shows how the rule matches, where it runs and what it costs." },
	{ "asterism explain -f dot slow-syscall.rule | dot -Tsvg >rule.svg", "Draws the automaton." },
	{ "asterism explain --plan slow-syscall.rule", "Shows what its code does at each event, and what it locks." },
	{ "asterism explain --trace events.jsonl slow-syscall.rule",
	  "Predicts from the events how often it will match, how many runs will be open and what that costs." },
	{ NULL, NULL },
};

const struct cli_command cmd_explain = {
	.name = "explain",
	.summary = "show how rules are compiled: automaton, where they run, predicted cost",
	.operands = "{FILE | -r TEXT}...",
	.description = "Shows how each rule was compiled: its states and transitions with their conditions, the key by "
		       "which each state finds its open runs, whether the rule runs in the kernel or in user space and "
		       "why, and how much memory its pool takes.\n\n-f dot writes one graph per rule for Graphviz, -f "
		       "json one object per rule and line.\n\n--plan shows how the code for the kernel works: how it "
		       "stores and locks runs, what its programs do at a match, and for each event which runs it "
		       "finds, what it does to them, which fields it reads, and when. It assumes that all actions are "
		       "allowed. It also shows where on this machine each program is attached, and why there; this is "
		       "what a session would choose, but no program of the rules is loaded.\n\n--trace runs the "
		       "automaton over recorded events. It shows the probabilities of "
		       "states and transitions, and predicts from them, before the rule is loaded: matches per second, "
		       "open runs, a sufficient pool, and what the rule costs. --assume replaces a probability.",
	.options = { OPTION_ASSUME, OPTION_EXCEPT, OPTION_FROM, OPTION_GRAPH_FORMAT, OPTION_LENIENT, OPTION_ORDER_BY,
		     OPTION_PLAN, OPTION_QUIET, OPTION_RULE, OPTION_SET, OPTION_TIME_FIELD, OPTION_TO, OPTION_TRACE },
	.examples = explain_examples,
	.operands_min = 1,
	.instead = OPTION_RULE,
	.run = run_explain,
};
