// SPDX-License-Identifier: BSD-2-Clause
/* `asterism top`: rules and processes at a glance, again and again. */

#include "base/clock.h"
#include "base/diag.h"
#include "cli/print.h"
#include "cmd/input/rules.h"
#include "cmd/options/commands.h"
#include "cmd/options/status.h"
#include "cmd/text/signals.h"
#include "cmd/top/rules.h"
#include "cmd/top/screen.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define INTERVAL_NS UINT64_C(2000000000)
#define TURN_NS     UINT64_C(250000000) /* so soon a new size of the terminal is met */
#define NS_PER_MS   UINT64_C(1000000)

enum { ESCAPE = 27, BACKSPACE = 8, DELETE = 127 };

struct top_watch {
	struct top top;
	struct top_rules *rules;
	struct screen screen;
	bool is_batch, is_done;
	uint64_t interval_ns, looks, looks_max; /* max 0: no end */
	struct top_room room;                   /* as drawn last */
	int status;
};

static int draw_top(struct top_watch *watch)
{
	struct text_buffer text = { 0 };
	int result = 0;

	watch->room = watch->is_batch ? (struct top_room){ 400, 0 } : screen_room();
	top_draw(&watch->top, &watch->room, &text);
	if (text.failure)
		result = text.failure;
	else if (!watch->is_batch)
		result = screen_show(&text);
	else if (printf("%s%s", watch->looks > 1 ? "\n" : "", text.bytes) < 0 || fflush(stdout))
		result = -errno;
	text_fini(&text);
	return result;
}

static int look_at_top_watch(struct top_watch *watch)
{
	int status = STATUS_FINE, result;

	top_turn(&watch->top, clock_now_ns());
	if (watch->rules)
		status = top_rules_look(watch->rules, &watch->top);
	if (status)
		return status;
	result = top_look_at_processes(&watch->top);
	if (result) {
		cli_error("cannot observe processes: %s", strerror(-result));
		return cmd_status_of(result);
	}
	top_compare(&watch->top);
	return STATUS_FINE;
}

/* Rates need two looks: the first one is for comparison alone. */
static int show_top(struct top_watch *watch)
{
	int status = look_at_top_watch(watch), result;

	if (status)
		return status;
	watch->looks++;
	result = draw_top(watch);
	if (result && result != -EPIPE)
		cli_error("cannot show anything: %s", strerror(-result));
	watch->is_done |= result || (watch->looks_max && watch->looks >= watch->looks_max);
	return result && result != -EPIPE ? STATUS_USAGE : STATUS_FINE;
}

static void edit_filter(struct top *top, char key)
{
	size_t length = strlen(top->filter);

	if (key == '\n' || key == '\r')
		top->asks_filter = false;
	else if (key == ESCAPE)
		*top->filter = 0, top->asks_filter = false;
	else if ((key == DELETE || key == BACKSPACE) && length)
		top->filter[length - 1] = 0;
	else if (isprint((unsigned char)key) && length + 1 < sizeof top->filter)
		top->filter[length] = key, top->filter[length + 1] = 0;
}

static const struct {
	char key;
	enum top_sort sort;
} sorts[] = {
	{ 'r', TOP_BY_RUNNING },  { 'w', TOP_BY_READY }, { 'b', TOP_BY_BLOCKED },
	{ 's', TOP_BY_SWITCHES }, { 'p', TOP_BY_PID },
};

static void obey(struct top_watch *watch, char key)
{
	struct top *top = &watch->top;

	if (top->asks_filter) {
		edit_filter(top, key);
		return;
	}
	switch (key) {
	case 'q':
		watch->is_done = true;
		return;
	case ' ':
		top->is_paused = !top->is_paused;
		return;
	case '/':
		top->asks_filter = true;
		return;
	case 't':
		top_choose_next(top);
		return;
	}
	for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++) {
		if (sorts[i].key == key)
			top->sort = sorts[i].sort;
	}
	top_compare(top);
}

static int read_keys(struct top_watch *watch)
{
	char keys[32];
	ssize_t count = read(STDIN_FILENO, keys, sizeof keys);

	if (count <= 0) /* the terminal has gone away */
		watch->is_done = count == 0 || (errno != EINTR && errno != EAGAIN);
	for (ssize_t i = 0; i < count && !watch->is_done; i++)
		obey(watch, keys[i]);
	return watch->is_done ? 0 : draw_top(watch);
}

/* Waits for keys, matches or the time. */
static int wait_until(struct top_watch *watch, uint64_t due_ns)
{
	uint64_t now = clock_now_ns(), left = due_ns > now ? due_ns - now : 0;
	struct pollfd fds[] = { { .fd = watch->is_batch ? -1 : STDIN_FILENO, .events = POLLIN },
				{ .fd = top_rules_fd(watch->rules), .events = POLLIN } };
	int ready, status = STATUS_FINE;

	if (!watch->is_batch && left > TURN_NS)
		left = TURN_NS;
	ready = poll(fds, 2, (int)((left + NS_PER_MS - 1) / NS_PER_MS));
	if (ready > 0 && fds[1].revents)
		status = top_rules_dispatch(watch->rules);
	if (ready > 0 && fds[0].revents)
		read_keys(watch);
	if (!watch->is_batch && !watch->is_done) {
		struct top_room room = screen_room();

		if (room.columns != watch->room.columns || room.rows != watch->room.rows)
			draw_top(watch);
	}
	return status;
}

static void continue_top(struct top_watch *watch)
{
	uint64_t due_ns = clock_now_ns() + watch->interval_ns;

	watch->status = look_at_top_watch(watch);
	if (!watch->is_batch && !watch->status)
		draw_top(watch);
	while (!watch->status && !watch->is_done && !signals_came()) {
		watch->status = wait_until(watch, due_ns);
		if (watch->status || watch->is_done || clock_now_ns() < due_ns)
			continue;
		due_ns = clock_now_ns() + watch->interval_ns;
		if (!watch->top.is_paused)
			watch->status = show_top(watch);
	}
}

/* Without the privilege for processes rules of the daemon are worth a look all the same. */
static int open_processes(struct top_watch *watch)
{
	struct asterism_diag *diag = asterism_diag_new();
	int result = states_new(diag, &watch->top.states);

	if (result && watch->rules) {
		snprintf(watch->top.no_states, sizeof watch->top.no_states, "processes are not shown: %s",
			 result == -EPERM ? "this needs root, or CAP_BPF and CAP_PERFMON" : strerror(-result));
		result = 0;
	}
	if (result)
		cli_print(diag);
	asterism_diag_free(diag);
	return cmd_status_of(result);
}

static int check_top_options(const struct cli_arguments *arguments)
{
	if (cli_has(arguments, OPTION_SOCKET) && arguments->operand_count) {
		cli_error("--socket shows the rules of asterismd: rule files cannot be given as well");
		cli_hint("load them into asterismd with 'asterism ctl load FILE'");
		return STATUS_USAGE;
	}
	if (cli_has(arguments, OPTION_LOOKS) && !cli_has(arguments, OPTION_BATCH)) {
		cli_error("-n needs --batch");
		return STATUS_USAGE;
	}
	if (cli_has(arguments, OPTION_TRANSITIONS) && !arguments->operand_count && !cli_has(arguments, OPTION_SOCKET)) {
		cli_error("--transitions needs rules: name rule files, or add --socket");
		return STATUS_USAGE;
	}
	return STATUS_FINE;
}

static int run_top(const struct cli_arguments *arguments)
{
	const struct cli_value *options = arguments->options;
	struct top_watch watch = { .is_batch = cli_has(arguments, OPTION_BATCH), .interval_ns = INTERVAL_NS };
	int status = check_top_options(arguments), result = 0;

	if (cli_has(arguments, OPTION_INTERVAL))
		watch.interval_ns = options[OPTION_INTERVAL].number;
	watch.looks_max = options[OPTION_LOOKS].number;
	watch.top.chosen = options[OPTION_TRANSITIONS].text;
	watch.top.counts = watch.top.chosen || cli_has(arguments, OPTION_SOCKET);
	if (!status)
		status =
			top_rules_new(arguments, cli_has(arguments, OPTION_SOCKET) ? options[OPTION_SOCKET].text : NULL,
				      &watch.rules);
	if (!status)
		status = open_processes(&watch);
	if (!status && !watch.is_batch)
		result = screen_open(&watch.screen);
	if (result) {
		cli_error(result == -ENOTTY ? "this is not a terminal" : "cannot use the terminal: %s",
			  strerror(-result));
		cli_hint("--batch writes plain text");
		status = STATUS_USAGE;
	}
	if (!status) {
		signals_take();
		continue_top(&watch);
		if (!watch.is_batch)
			screen_close(&watch.screen);
		status = watch.status;
	}
	top_fini(&watch.top);
	top_rules_free(watch.rules);
	return status;
}

static const struct cli_example top_examples[] = {
	{ "asterism top", "Shows which processes run, wait for a CPU, or are blocked." },
	{ "asterism top @slow-syscall my.rule", "The same, with what rules find in the whole machine." },
	{ "asterism top --transitions slow_syscall @slow-syscall", "Also counts the transitions of the rule." },
	{ "asterism top --socket /run/asterism.sock", "Shows the rules of asterismd instead." },
	{ "asterism top --batch -n 1 --interval 10s", "Shows what happened in ten seconds, as plain text." },
	{ NULL, NULL },
};

const struct cli_command cmd_top = {
	.name = "top",
	.summary = "show live statistics of rules and processes",
	.operands = "[FILE...]",
	.description = "Shows what happened since the last refresh. For each rule: matches and runs, the CPU share of "
		       "its BPF programs, losses, and the process with most of its matches. For each process: how long "
		       "its threads ran, were ready and were blocked, in percent of the time; 100 is one thread all "
		       "the time.\n\nTwo programs in the kernel count for all processes and send no events, so the "
		       "cost hardly depends on the number of events. A thread appears after its first context switch; "
		       "one that sleeps all the time does not.\n\nFILEs are rules that run over the whole machine "
		       "while top runs; their actions are only reported. Cost is measured per file: a \" means the "
		       "same as the line above. With --socket the rules are those of asterismd; their cost is known "
		       "only if asterismd runs with --measure, and processes are shown only if privileges allow "
		       "it.\n\n--transitions shows how often each transition of a rule was tried, taken and held, and "
		       "how often each of its conditions was asked and true, since the rule was loaded (docs/why.md); "
		       "the key t shows the next rule. asterismd needs --count-transitions for that.\n\nKeys: q quits; "
		       "space pauses; / filters processes by a part of their names, and Escape clears the filter; r, "
		       "w, b, s and p sort by time running, waiting for a CPU, blocked, by switches and by process.",
	.options = { OPTION_BATCH, OPTION_INTERVAL, OPTION_LOOKS, OPTION_SOCKET, OPTION_TRANSITIONS },
	.examples = top_examples,
	.run = run_top,
};
