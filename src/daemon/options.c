// SPDX-License-Identifier: BSD-2-Clause
/* Parses the command line of asterismd. */

#include "daemon/options.h"

#include "base/diag.h"
#include "base/severity.h"
#include "cli/arguments.h"
#include "cli/help.h"
#include "cli/print.h"
#include "cli/container-name.h"

#include <errno.h>
#include <stdio.h>

#define RULES_DEFAULT  "/etc/asterism/rules.d"
#define SOCKET_DEFAULT "/run/asterism.sock"

enum {
	RATE_DEFAULT = 1000,
	UNITS_DEFAULT = 256,
	MEMORY_DEFAULT = 768 << 20,
	RECORDINGS_DEFAULT = 1 << 30,
	USAGE = 1 + 2
};

enum option_id {
	OPTION_NONE,
	OPTION_ALLOW_ACTIONS,
	OPTION_CGROUP,
	OPTION_CLIENTS_RECORD,
	OPTION_COMM,
	OPTION_CONTAINER,
	OPTION_COUNT_TRANSITIONS,
	OPTION_CPU_MAX,
	OPTION_GROUP,
	OPTION_HELP,
	OPTION_MEASURE,
	OPTION_MEMORY_MAX,
	OPTION_METRICS,
	OPTION_MIN_SEVERITY,
	OPTION_MODE,
	OPTION_OUTPUT,
	OPTION_PID,
	OPTION_POLICY,
	OPTION_RATE,
	OPTION_RECORDINGS,
	OPTION_RECORDINGS_MAX,
	OPTION_RULES,
	OPTION_SCOPE,
	OPTION_SENSORS,
	OPTION_SENSORS_ALWAYS,
	OPTION_SENSORS_QUOTA,
	OPTION_SOCKET,
	OPTION_UNIT,
	OPTION_UNITS_MAX,
	OPTION_USER,
	OPTION_VERSION,
	OPTION_COUNT,
};

/* In the order of enum asterism_scope. */
static const char *const scopes[] = { "tree", "pids", "all", NULL };

_Static_assert(ASTERISM_SCOPE_TREE == 0 && ASTERISM_SCOPE_PIDS == 1 && ASTERISM_SCOPE_ALL == 2, "scopes are choices");
_Static_assert((int)OPTION_COUNT <= (int)CLI_OPTIONS_MAX, "arguments have room for all options");

static const struct cli_option rows[OPTION_COUNT] = {
	[OPTION_ALLOW_ACTIONS] = { "allow-actions", 0, CLI_FLAG,
				   .help = "let rules change the system, for example send signals or set priorities",
				   .more = "Without this option and without --policy, such actions are only "
					   "reported." },
	[OPTION_CGROUP] = { "cgroup", 0, CLI_TEXT, "PATH", NULL,
			    "observe processes in this cgroup (version 2) or below it, and their descendants; may be "
			    "repeated",
			    .repeats = true, .complete = CLI_COMPLETE_FOLDER },
	[OPTION_CLIENTS_RECORD] = { "clients-record", 0, CLI_FLAG,
				    .help = "let members of --group start recordings; the traces belong to root",
				    .more = "One at a time per user. Without this option only root may record." },
	[OPTION_COMM] = { "comm", 0, CLI_TEXT, "NAME", NULL, "only processes named NAME, and their descendants",
			  .repeats = true },
	[OPTION_CONTAINER] = { "container", 0, CLI_TEXT, "NAME", NULL,
			       "like --cgroup, for a container: its name, or the beginning of its id",
			       .repeats = true },
	[OPTION_COUNT_TRANSITIONS] = { "count-transitions", 0, CLI_FLAG,
				       .help = "count how often each transition of a rule is tried and each condition "
					       "is true, for 'asterism ctl query UNIT' and 'asterism top "
					       "--transitions'",
				       .more = "Costs some tens of nanoseconds at each event." },
	[OPTION_CPU_MAX] = { "cpu-max", 0, CLI_NUMBER, "PERCENT", NULL,
			     "while the daemon uses more than this share of a CPU, only count matches, then deactivate "
			     "busy units",
			     .most = 100000 },
	[OPTION_GROUP] = { "group", 0, CLI_TEXT, "NAME", NULL,
			   "let members of this group use the control socket (default: only root)",
			   "They may query, wait for results, and load rules that do not change the system.",
			   .complete = "COMPREPLY=($(compgen -g -- \"$word\"))" },
	[OPTION_HELP] = { "help", 'h', CLI_ANSWER, .help = "show this help and exit" },
	[OPTION_MEASURE] = { "measure", 0, CLI_FLAG,
			     .help = "let the kernel measure the time of BPF programs, for the metrics" },
	[OPTION_MEMORY_MAX] = { "memory-max", 0, CLI_SIZE, "SIZE", NULL,
				"load no more rules when the daemon uses this much memory, BPF maps included (default: "
				"768M)",
				.most = UINT64_C(1) << 40 },
	[OPTION_METRICS] = { "metrics", 0, CLI_TEXT, "ADDRESS:PORT", NULL,
			     "serve metrics for Prometheus over HTTP, at /metrics; on 127.0.0.1 without an ADDRESS" },
	[OPTION_MIN_SEVERITY] = { "min-severity", 0, CLI_CHOICE, "LEVEL", severity_names,
				  "write matches of rules with this severity or above; only count others" },
	[OPTION_MODE] = { "mode", 0, CLI_BITS, "MODE", NULL,
			  "mode of a new FILE of --output, as for chmod, such as 640 (default: 600)",
			  "An existing file keeps its mode." },
	[OPTION_OUTPUT] = { "output", 0, CLI_TEXT, "WHERE", NULL,
			    "where to write matches as JSON lines: a FILE, unix:PATH, or - (default) for standard "
			    "output",
			    "A file must belong to root, have one hard link, and not be a symbolic link.",
			    .complete = CLI_COMPLETE_FILE },
	[OPTION_PID] = { "pid", 0, CLI_NUMBER, "PID", NULL,
			 "observe only process PID and its descendants; may be repeated", .repeats = true,
			 .complete = CLI_COMPLETE_PROCESS },
	[OPTION_POLICY] = { "policy", 0, CLI_TEXT, "FILE", NULL,
			    "allow the actions that FILE lists, with lines such as 'allow Stop, Continue'",
			    "The file must belong to root. A line clients-define lets clients name catalogs of their "
			    "own and so define events; otherwise their rules may name only installed catalogs.",
			    .complete = CLI_COMPLETE_FILE },
	[OPTION_RATE] = { "rate", 0, CLI_NUMBER, "NUMBER", NULL,
			  "write at most this many matches per rule and second; count the rest (default: 1000)",
			  .most = 1000000000 },
	[OPTION_RECORDINGS] = { "recordings", 0, CLI_TEXT, "DIR", NULL,
				"allow 'asterism ctl record', with traces in this directory, accessible to root only",
				"It is created if it does not exist.", .complete = CLI_COMPLETE_FOLDER },
	[OPTION_RECORDINGS_MAX] = { "recordings-max", 0, CLI_SIZE, "SIZE", NULL,
				    "size limit for all traces together (default: 1G)", .most = UINT64_C(1) << 50 },
	[OPTION_RULES] = { "rules", 0, CLI_TEXT, "DIR", NULL,
			   "rules directory: each *.rule and *.astc file is a unit (default: " RULES_DEFAULT ")",
			   "Files that users other than root can write are refused. A file with errors does not affect "
			   "the others.",
			   .complete = CLI_COMPLETE_FOLDER },
	[OPTION_SCOPE] = { "scope", 0, CLI_CHOICE, "SCOPE", scopes,
			   "all (default without --pid), tree (default with it), or pids: the processes of --pid "
			   "without their descendants" },
	[OPTION_SENSORS] = { "sensors", 0, CLI_FLAG,
			     .help = "also run the sensor registry, where applications register their sensors",
			     .more = "Its socket is /run/asterism/sensors, or what ASTERISM_SENSORS names. "
				     "Applications of any user may register, within a quota; members of --group see "
				     "all of them." },
	[OPTION_SENSORS_ALWAYS] = { "sensors-always", 0, CLI_FLAG,
				    .help = "like --sensors, but applications also write while no reader is attached",
				    .more = "'asterism sensors --dump' shows the latest events in their rings, even of "
					    "applications that have ended." },
	[OPTION_SENSORS_QUOTA] = { "sensors-quota", 0, CLI_SIZE, "SIZE", NULL,
				   "with --sensors: memory for the sensors of each user (default: 64M, which is 31 "
				   "processes with rings of the usual size; for root 256M, 124 processes)",
				   .most = UINT64_C(1) << 40 },
	[OPTION_SOCKET] = { "socket", 0, CLI_TEXT, "PATH", NULL,
			    "control socket for 'asterism ctl' (default: " SOCKET_DEFAULT ")",
			    .complete = CLI_COMPLETE_FILE },
	[OPTION_UNIT] = { "unit", 0, CLI_TEXT, "NAME", NULL,
			  "like --cgroup, for an active systemd unit, such as nginx or session-3.scope",
			  .repeats = true },
	[OPTION_USER] = { "user", 0, CLI_TEXT, "NAME", NULL,
			  "only processes of this user (name or number), and their descendants", .repeats = true,
			  .complete = "COMPREPLY=($(compgen -u -- \"$word\"))" },
	[OPTION_UNITS_MAX] = { "units-max", 0, CLI_NUMBER, "NUMBER", NULL,
			       "maximal number of units of rules (default: 256)", .most = 4096 },
	[OPTION_VERSION] = { "version", 'V', CLI_ANSWER, .help = "show the version and exit" },
};

static const struct cli_section signals = {
	.title = "SIGNALS",
	.heading = "Signals",
	.entries =
		(const struct cli_entry[]){
			{ "SIGHUP",
			  { "reload the rules directory and reopen the output; units with unchanged files keep "
			    "running, and so does a unit whose new file has errors" } },
			{ "SIGUSR1", { "reopen only the output, for logrotate(8)" } },
			{ "SIGTERM", { "exit; SIGINT does the same" } },
			{ NULL, { NULL } },
		},
};

static const struct cli_section statuses = {
	.title = "EXIT STATUS",
	.heading = "Exit status",
	.entries =
		(const struct cli_entry[]){
			{ "0", { "a signal ended it" } },
			{ "1", { "it could not start or continue" } },
			{ "2",
			  { "usage error (also an unknown group, address, process or policy), invalid catalog, "
			    "unusable rules directory, or no loadable rule file" } },
			{ "4", { "a privilege or a feature of the kernel is missing" } },
			{ NULL, { NULL } },
		},
};

static const struct cli_section files = {
	.title = "FILES",
	.entries =
		(const struct cli_entry[]){
			{ RULES_DEFAULT, { "the rules" } },
			{ SOCKET_DEFAULT, { "the control socket" } },
			{ NULL, { NULL } },
		},
};

static const struct cli_command itself = {
	.summary = "run rules system-wide, and report or act on what they find",
	.operands = "",
	.description = "Loads each *.rule and *.astc file of a directory into the kernel as a unit of rules, writes "
		       "every match as a line of JSON, and serves 'asterism ctl'. It runs in the foreground and logs "
		       "to standard error.\n\nIt needs root, or CAP_BPF and CAP_PERFMON.",
	.options = { OPTION_RULES,         OPTION_SOCKET,       OPTION_GROUP,          OPTION_OUTPUT,
		     OPTION_MODE,          OPTION_METRICS,      OPTION_ALLOW_ACTIONS,  OPTION_POLICY,
		     OPTION_PID,           OPTION_SCOPE,        OPTION_SENSORS,        OPTION_SENSORS_ALWAYS,
		     OPTION_SENSORS_QUOTA, OPTION_CGROUP,       OPTION_CONTAINER,      OPTION_UNIT,
		     OPTION_COMM,          OPTION_RECORDINGS,   OPTION_RECORDINGS_MAX, OPTION_CLIENTS_RECORD,
		     OPTION_USER,          OPTION_MIN_SEVERITY, OPTION_RATE,           OPTION_UNITS_MAX,
		     OPTION_MEMORY_MAX,    OPTION_CPU_MAX,      OPTION_MEASURE,        OPTION_COUNT_TRANSITIONS,
		     OPTION_HELP,          OPTION_VERSION },
	.sections = (const struct cli_section *const[]){ &signals, &statuses, &files, NULL },
};

const struct cli_program daemon_program = {
	.name = "asterismd",
	.manual = '8',
	.options = rows,
	.option_count = OPTION_COUNT,
	.itself = &itself,
	.see_also = (const char *const[]){ "asterism-ctl(1)", "asterism-rules(5)", NULL },
};

enum { FILTERS = 5 };

static const enum option_id filters[FILTERS] = { OPTION_CGROUP, OPTION_CONTAINER, OPTION_UNIT, OPTION_COMM,
						 OPTION_USER };

/* What no option can tell alone. */
static int check_daemon_options(const struct cli_arguments *arguments, struct asterism_diag *diag)
{
	const struct cli_value *scope = &arguments->options[OPTION_SCOPE], *pids = &arguments->options[OPTION_PID];

	if (cli_has(arguments, OPTION_ALLOW_ACTIONS) && cli_has(arguments, OPTION_POLICY)) {
		diag_add(diag, ASTERISM_ERROR, NULL,
			 "--allow-actions allows all actions, --policy those that the file lists",
			 "--allow-actions and --policy exclude each other");
		return -EINVAL;
	}
	for (size_t i = 0; i < FILTERS; i++) {
		if (arguments->options[filters[i]].count > OPTIONS_NAMES_MAX)
			return diag_error(diag, NULL, -EINVAL, "--%s may be given at most %d times, not %zu",
					  rows[filters[i]].name, OPTIONS_NAMES_MAX,
					  arguments->options[filters[i]].count);
	}
	if (pids->count > OPTIONS_PIDS_MAX)
		return diag_error(diag, NULL, -EINVAL, "--pid may be given at most %d times, not %zu", OPTIONS_PIDS_MAX,
				  pids->count);
	if (scope->text && scope->number == ASTERISM_SCOPE_ALL && pids->count)
		return diag_error(diag, NULL, -EINVAL, "--scope all and --pid exclude each other");
	if (scope->text && scope->number != ASTERISM_SCOPE_ALL && !pids->count)
		return diag_error(diag, NULL, -EINVAL, "--scope %s needs --pid", scope->text);
	return 0;
}

static const char *option_text(const struct cli_arguments *arguments, enum option_id id, const char *otherwise)
{
	return cli_has(arguments, id) ? arguments->options[id].text : otherwise;
}

static uint64_t option_number(const struct cli_arguments *arguments, enum option_id id, uint64_t otherwise)
{
	return cli_has(arguments, id) ? arguments->options[id].number : otherwise;
}

static void take_options(const struct cli_arguments *arguments, struct options *options)
{
	const struct cli_value *pids = &arguments->options[OPTION_PID];

	*options = (struct options){
		.rules = option_text(arguments, OPTION_RULES, RULES_DEFAULT),
		.socket = option_text(arguments, OPTION_SOCKET, SOCKET_DEFAULT),
		.group = option_text(arguments, OPTION_GROUP, NULL),
		.output = option_text(arguments, OPTION_OUTPUT, "-"),
		.mode = (mode_t)option_number(arguments, OPTION_MODE, 0),
		.metrics = option_text(arguments, OPTION_METRICS, NULL),
		.allow_actions = cli_has(arguments, OPTION_ALLOW_ACTIONS),
		.policy = option_text(arguments, OPTION_POLICY, NULL),
		.scope = (enum asterism_scope)option_number(arguments, OPTION_SCOPE,
							    pids->count ? ASTERISM_SCOPE_TREE : ASTERISM_SCOPE_ALL),
		.pid_count = pids->count,
		.memory_max_bytes = option_number(arguments, OPTION_MEMORY_MAX, MEMORY_DEFAULT),
		.cpu_max_percent = (uint32_t)option_number(arguments, OPTION_CPU_MAX, 0),
		.rate = (uint32_t)option_number(arguments, OPTION_RATE, RATE_DEFAULT),
		.min_severity = cli_has(arguments, OPTION_MIN_SEVERITY)
					? (uint32_t)arguments->options[OPTION_MIN_SEVERITY].number + 1
					: SEVERITY_NONE,
		.units_max = (uint32_t)option_number(arguments, OPTION_UNITS_MAX, UNITS_DEFAULT),
		.measure = cli_has(arguments, OPTION_MEASURE),
		.count_transitions = cli_has(arguments, OPTION_COUNT_TRANSITIONS),
		.recordings = option_text(arguments, OPTION_RECORDINGS, NULL),
		.recordings_max_bytes = option_number(arguments, OPTION_RECORDINGS_MAX, RECORDINGS_DEFAULT),
		.clients_record = cli_has(arguments, OPTION_CLIENTS_RECORD),
		.sensors = cli_has(arguments, OPTION_SENSORS) || cli_has(arguments, OPTION_SENSORS_ALWAYS),
		.sensors_quota_bytes = option_number(arguments, OPTION_SENSORS_QUOTA, 0),
		.always = cli_has(arguments, OPTION_SENSORS_ALWAYS),
	};
	const char **lists[FILTERS] = { options->cgroups, options->containers, options->units, options->comms,
					options->users };

	for (size_t i = 0; i < FILTERS; i++) {
		const struct cli_value *given = &arguments->options[filters[i]];

		for (size_t j = 0; j < given->count; j++)
			lists[i][j] = given->texts[j];
	}
	for (size_t i = 0; i < pids->count; i++)
		options->pids[i] = (pid_t)pids->numbers[i];
}

/* The library reads no files of Docker and Podman; what they do not know is left to it. */
static void find_ids(struct options *options, struct asterism_diag *diag)
{
	for (size_t i = 0; options->containers[i]; i++)
		if (container_name_id(options->containers[i], diag, options->ids[i]) == 1)
			options->containers[i] = options->ids[i];
}

int options_read(int argc, char **argv, struct options *options)
{
	struct cli_arguments arguments = { .program = &daemon_program, .command = daemon_program.itself };
	struct asterism_diag *diag = asterism_diag_new();
	int result = cli_parse(&arguments, argc - 1, argv + 1, diag), status = 0;

	cli_program_name(daemon_program.name);
	cli_color(NULL);
	if (!result && cli_has(&arguments, OPTION_HELP)) {
		cli_help(&daemon_program, daemon_program.itself, stdout);
		status = 1;
	} else if (!result && cli_has(&arguments, OPTION_VERSION)) {
		puts("asterismd " ASTERISM_VERSION);
		status = 1;
	} else if (result || check_daemon_options(&arguments, diag)) {
		cli_print(diag);
		status = USAGE;
	} else {
		take_options(&arguments, options);
		find_ids(options, diag);
		cli_print(diag);
	}
	cli_arguments_fini(&arguments);
	asterism_diag_free(diag);
	return status;
}
