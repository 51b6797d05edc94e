// SPDX-License-Identifier: BSD-2-Clause
/* The table of options. */

#include "cmd/options/options.h"

#include "base/severity.h"
#include "cmd/options/assume.h"
#include "cmd/options/settings.h"

static const char *const by_choices[] = { "quotient", "calls", "contexts", NULL };
static const char *const color_choices[] = { "auto", "always", "never", NULL };
static const char *const engine_choices[] = { "user", "kernel", NULL };
static const char *const export_choices[] = { "callgrind", "csv", "folded", "pprof", "speedscope", "svg", NULL };
static const char *const format_choices[] = { "text", "json", NULL };
static const char *const graph_choices[] = { "text", "dot", "json", NULL };
static const char *const layout_choices[] = { "asterism", "lttng", NULL };
static const char *const platform_choices[] = { "p6", "itanium", "604e", "win2000", "linux24", NULL };
static const char *const policy_choices[] = { "deadline", "fifo", "best-effort", NULL };
static const char *const report_choices[] = { "text", "json", "csv", "html", "svg", "dot", NULL };
static const char *const query_choices[] = { "text", "json", "csv", "sql", "events", "catalog", NULL };
static const char *const times_choices[] = { "start", "wall", "clock", NULL };
static const char *const unit_choices[] = { "percent", "seconds", "events", NULL };
static const char *const when_choices[] = { "mono", "wall", "delta", NULL };
static const char *const test_choices[] = { "text", "tap", "json", NULL };
static const char *const input_choices[] = { "jsonl", NULL };

const struct cli_option option_rows[OPTION_COUNT] = {
	[OPTION_ABOUT] = { "about", 0, CLI_LIST, "FIELD,...", NULL,
			   "record these with every event: ppid, uid, gid, exe, args, cgroup, container, cgroup_id, "
			   "ns_pid" },
	[OPTION_ALL] = { "all", 'a', CLI_FLAG, .help = "observe every process of the machine" },
	[OPTION_ALLOW_ACTIONS] = { "allow-actions", 0, CLI_FLAG,
				   .help = "let rules change the system, for example send signals or set priorities" },
	[OPTION_ALWAYS] = { "always", 0, CLI_FLAG,
			    .help = "with --serve: applications write even without a reader, so that --dump finds "
				    "their latest events" },
	[OPTION_ASK] = { "ask", 0, CLI_TEXT, "CMD", NULL,
			 "run CMD, without a shell, for every verdict request of a rule: exit status 0 means CONTINUE, "
			 "1 ABORT" },
	[OPTION_ASSUME] = { "assume", 0, CLI_TEXT, "pN=P", NULL,
			    "with --trace: set the probability pN to P; RULE.pN=P for one rule; may be repeated",
			    .repeats = true, .check = cmd_assumption_check },
	[OPTION_BATCH] = { "batch", 0, CLI_FLAG, .help = "write plain text, one report per interval" },
	[OPTION_BETWEEN] = { "between", 0, CLI_TEXT, "RULES", NULL,
			     "count only samples between the first and the last event of a match; RULES is a file, "
			     "@NAME of a shipped rule, or the text of a rule" },
	[OPTION_BIND] = { "bind", 0, CLI_TEXT, "FILE", NULL,
			  "binding file: what the machine's events, guards and actions mean (default: the one shipped "
			  "for its class)",
			  .complete = CLI_COMPLETE_FILE },
	[OPTION_BY] = { "by", 0, CLI_CHOICE, "MODEL", by_choices,
			"how to share costs among callers: quotient (default; as in the simulation), calls (by number "
			"of calls, as gprof does) or contexts (by the simulation's --separate-callers)" },
	[OPTION_CATALOG] = { "catalog", 0, CLI_TEXT, "FILE", NULL, "also read event types from FILE; may be repeated",
			     .repeats = true, .complete = CLI_COMPLETE_FILE },
	[OPTION_CGROUP] = { "cgroup", 0, CLI_TEXT, "PATH", NULL,
			    "observe processes in this cgroup (version 2) or below it, and their descendants; may be "
			    "repeated",
			    .repeats = true, .complete = CLI_COMPLETE_FOLDER },
	[OPTION_COMM] = { "comm", 0, CLI_TEXT, "NAME", NULL, "only processes named NAME, and their descendants",
			  .repeats = true },
	[OPTION_COLLAPSE] = { "collapse", 0, CLI_FLAG,
			      .help = "treat functions that call each other in a cycle as one" },
	[OPTION_CONTAINER] = { "container", 0, CLI_TEXT, "NAME", NULL,
			       "like --cgroup, for a container: its name, or the beginning of its id",
			       .repeats = true },
	[OPTION_COLOR] = { "color", 0, CLI_CHOICE, "WHEN", color_choices,
			   "colour messages: auto (on terminals, unless NO_COLOR is set), always or never" },
	[OPTION_COPY] = { "copy", 0, CLI_FLAG,
			  .help = "guarantee only that events are copied in time; evaluate them later" },
	[OPTION_CACHE] = { "cache", 0, CLI_FLAG,
			   .help = "also simulate the CPU's caches, to see whether the cost of misses depends on the "
				   "caller" },
	[OPTION_CONTEXTS] = { "contexts", 0, CLI_NUMBER, "NUMBER", NULL,
			      "distinguish this many levels of callers, for --by contexts (30 suffices for most "
			      "programs)" },
	[OPTION_COST] = { "event", 'e', CLI_TEXT, "EVENT", NULL,
			  "event to sample, such as task-clock or page-faults (default: cycles if the CPU can count "
			  "them, else task-clock); for a profile, the cost to show (default: its first), or a sum of "
			  "costs, such as 'Sum = 2 Ir + 10 D1mr'" },
	[OPTION_COST_UNIT] = { "unit", 0, CLI_CHOICE, "UNIT", unit_choices,
			       "unit of costs: percent of the total (default; in JSON events), seconds, or events as "
			       "counted" },
	[OPTION_COUNT_EVENTS] = { "count", 'c', CLI_NUMBER, "NUMBER", NULL,
				  "take a sample every N events, or nanoseconds of a clock, instead of -F" },
	[OPTION_FREQUENCY] = { "frequency", 'F', CLI_NUMBER, "NUMBER", NULL,
			       "samples per second of each thread (default: 997)" },
	[OPTION_JITTER] = { "jitter", 0, CLI_FLAG,
			    .help = "vary the time between samples by a quarter, so that no loop runs in step with "
				    "it" },
	[OPTION_SAMPLED_REGISTERS] = { "registers", 0, CLI_FLAG,
				       .help = "with --samples: also the registers at each sample" },
	[OPTION_SAMPLES] = { "samples", 0, CLI_TEXT, "FILE", NULL,
			     "also write each sample to FILE, as a line of CSV with its time, process, thread, CPU, "
			     "function and address",
			     .complete = CLI_COMPLETE_FILE },
	[OPTION_SAMPLED_THREAD] = { "thread", 0, CLI_NUMBER, "TID", NULL, "only the samples of this thread",
				    .most = 1 << 22 },
	[OPTION_SAMPLED_THREADS] = { "threads", 0, CLI_FLAG,
				     .help = "show what threads cost, and processes as their sums, instead of "
					     "functions" },
	[OPTION_TWICE] = { "twice", 0, CLI_FLAG,
			   .help = "simulate twice, to check that the command does the same work each time" },
	[OPTION_DEADLINE] = { "deadline", 0, CLI_TIME, "TIME", NULL,
			      "deadline of evaluations within each period (default: its end)" },
	[OPTION_HOLD] = { "hold", 0, CLI_TIME, "TIME", NULL,
			  "how long to wait for a writer suspended between begin and commit (default: half a period, "
			  "at most 1ms)" },
	[OPTION_INTERVAL] = { "interval", 0, CLI_TIME, "TIME", NULL, "time between two refreshes (default: 2s)" },
	[OPTION_LATENCY] = { "latency", 0, CLI_TIME, "TIME", NULL,
			     "time within which events must be evaluated (default: three periods)" },
	[OPTION_PERIOD] = { "period", 0, CLI_TIME, "TIME", NULL,
			    "how often to look for new events (default: every 1ms)" },
	[OPTION_PROBE] = { "probe", 0, CLI_FLAG,
			   .help = "show which counters this machine has, and why others are missing" },
	[OPTION_PROVE] = { "prove", 0, CLI_TIME, "TIME", NULL,
			   "run for TIME, and chart the evaluation times against the guarantee" },
	[OPTION_RAISE] = { "raise", 0, CLI_FLAG,
			   .help = "raise the events that rules EMIT as sensor events, for other monitors and "
				   "sessions" },
	[OPTION_SCHEDULE] = { "policy", 0, CLI_CHOICE, "POLICY", policy_choices,
			      "scheduling policy: deadline (default), fifo, or best-effort" },
	[OPTION_SENSOR] = { "sensor", 0, CLI_TEXT, "NAME,rate=N/TIME,...", NULL,
			    "declare limits on the events of a sensor, over all processes: "
			    "rate=50000/s,burst=100,spacing=1us; cost=2us is the cost of one evaluation; may be "
			    "repeated",
			    .repeats = true },
	[OPTION_CHECK] = { "check", 0, CLI_FLAG, .help = "check the program without reading its input files" },
	[OPTION_STRICT_QUERY] = { "strict", 0, CLI_FLAG,
				  .help = "refuse the mistakes of programs printed in the thesis instead of repairing "
					  "them" },
	[OPTION_STRICT] = { "strict", 0, CLI_FLAG,
			    .help = "end with status 3 when an event is lost or late; do not start without a "
				    "guarantee" },
	[OPTION_CPUS] = { "cpu", 0, CLI_LIST, "CPU,...", NULL, "only events of these CPUs" },
	[OPTION_DUMP] = { "dump", 0, CLI_FLAG, .help = "write the events that are still in the rings" },
	[OPTION_ENGINE] = { "engine", 0, CLI_CHOICE, "ENGINE", engine_choices,
			    "where to match: user (default), or kernel: in the generated BPF programs, with "
			    "BPF_PROG_TEST_RUN" },
	[OPTION_EVENT] = { "event", 'e', CLI_LIST, "EVENT,...", NULL,
			   "only events of these types; names may be globs, such as 'sched_*'" },
	[OPTION_DIRECTORY] = { "output", 'o', CLI_TEXT, "DIR", NULL, "the new directory to write the trace to",
			       .complete = CLI_COMPLETE_FOLDER },
	[OPTION_EVENTS] = { "event", 'e', CLI_LIST, "EVENT,...", NULL,
			    "events to record: names or patterns such as 'sched_*'; :FIELD+FIELD records only these "
			    "fields; !PATTERN excludes events, from the default set if no others are named; "
			    "sensor:NAME, sensor:PROGRAM:NAME or sensor:/path/of/program are events of applications" },
	[OPTION_EVERY] = { "every", 0, CLI_TIME, "TIME", NULL,
			   "report measures every TIME, not only at the end; in a replay TIME is event time" },
	[OPTION_EXCEPT] = { "except", 0, CLI_TEXT, "FILE", NULL,
			    "suppress matches for which all conditions of a line in FILE hold, 'RULE: condition, ...'; "
			    "they are only counted; may be repeated",
			    .repeats = true, .complete = CLI_COMPLETE_FILE },
	[OPTION_EXPLAIN] = { "explain", 0, CLI_TEXT, "TYPE", NULL,
			     "explain a counter type: classes, kind, unit, source, formula, known misprints" },
	[OPTION_EXPORT] = { "type", 't', CLI_CHOICE, "TYPE", export_choices,
			    "the format: callgrind (default) or csv; for estimated stacks: folded, pprof, "
			    "speedscope or svg (a flame graph)" },
	[OPTION_FAIL_ON_MATCH] = { "fail-on-match", 0, CLI_FLAG, .help = "exit with status 1 if a rule matched" },
	[OPTION_FLIGHT] = { "flight", 0, CLI_FLAG,
			    .help = "keep the newest events in memory and write them at SIGUSR1 and at the end" },
	[OPTION_FOR] = { "for", 0, CLI_TIME, "TIME", NULL, "stop after TIME, such as 500ms, 10s, 2min or 1h" },
	[OPTION_FOR_REPORT] = { "for-report", 0, CLI_FLAG,
				.help = "also record what 'asterism report' needs: interrupts, disk requests, kernel "
					"page faults, inherited priorities, command lines, start functions of "
					"threads" },
	[OPTION_FORMAT] = { "format", 'f', CLI_CHOICE, "FORMAT", format_choices,
			    "output format of matches: text (default) or json: one object per line" },
	[OPTION_FORMAT_EVENTS] = { "format", 'f', CLI_CHOICE, "FORMAT", format_choices,
				   "output format: text (default) or json" },
	[OPTION_FORMAT_REPORT] = { "format", 'f', CLI_CHOICE, "FORMAT", report_choices,
				   "output format: text (default), json, csv, html, or svg or dot for the picture of "
				   "the one report that --only names; without -f the suffix of -o FILE decides" },
	[OPTION_FORMAT_QUERY] = { "format", 'f', CLI_CHOICE, "FORMAT", query_choices,
				  "output format: text (default), json: one object per record, csv, sql: the program "
				  "as SQL, events: each record as an event for 'asterism replay', or catalog: the "
				  "declaration of these events for rules" },
	[OPTION_FROM] = { "from", 0, CLI_MOMENT, "TIME", NULL,
			  "skip events before TIME: 1.5s or 20ms after the first event, @TIME on their clock" },
	[OPTION_FROM_TRACE] = { "from", 0, CLI_TEXT, "TRACE", NULL,
				"not supported: use 'asterism replay' to evaluate a trace" },
	[OPTION_GRAPH_FORMAT] = { "format", 'f', CLI_CHOICE, "FORMAT", graph_choices,
				  "output format: text (default), dot (for Graphviz) or json" },
	[OPTION_GROUP] = { "group", 0, CLI_TEXT, "GROUP", NULL,
			   "with --serve: members of GROUP see the sensors of all users" },
	[OPTION_HEADER] = { "header", 0, CLI_FLAG,
			    .help = "write a C header for programs that use libasterism: one structure per rule for "
				    "its returned values" },
	[OPTION_HEARTBEAT] = { "heartbeat", 0, CLI_TEXT, "WHAT", NULL,
			       "report when an event is missing for TIME, and when it is back; WHAT is EVENT=TIME, "
			       "with ,by=FIELD for each value of a field; may be repeated",
			       .repeats = true },
	[OPTION_HELP] = { "help", 'h', CLI_ANSWER, .help = "show this help and exit" },
	[OPTION_INPUT] = { "input", 0, CLI_CHOICE, "FORMAT", input_choices,
			   "format of the events: jsonl (default): one JSON object per line" },
	[OPTION_JOBS] = { "jobs", 0, CLI_NUMBER, "NUMBER", NULL,
			  "number of worker threads that match rules (default: one per CPU)" },
	[OPTION_ORDINALS] = { "ordinals", 0, CLI_TEXT, "N..M", NULL,
			      "only the N-th to the M-th event of the input; either may be omitted" },
	[OPTION_LAST] = { "last", 0, CLI_TIME, "TIME", NULL,
			  "how far back a snapshot goes, such as 2s (default: all that is in memory)" },
	[OPTION_LAYOUT] = { "layout", 0, CLI_CHOICE, "LAYOUT", layout_choices,
			    "names in the trace: asterism's (default), or lttng's for Trace Compass and similar "
			    "tools" },
	[OPTION_LENIENT] = { "lenient", 0, CLI_FLAG,
			     .help = "JSON lines: skip unknown fields and events, and report how many at the end; "
				     "missing fields are 0" },
	[OPTION_LIMIT] = { "timeout", 0, CLI_TIME, "TIME", NULL,
			   "time limit for a test's program, such as 10s or 2min (default: 60s)" },
	[OPTION_LIVE] = { "live", 0, CLI_FLAG, .help = "only tests that observe a program" },
	[OPTION_LOOKS] = { "looks", 'n', CLI_NUMBER, "NUMBER", NULL, "with --batch: end after N refreshes" },
	[OPTION_MAX_SIZE] = { "max-size", 0, CLI_SIZE, "SIZE", NULL,
			      "limit the trace to SIZE, such as 500M or 2G, by deleting the oldest events" },
	[OPTION_MATCH_LIMIT] = { "limit", 0, CLI_NUMBER, "NUMBER", NULL,
				 "show at most N matches per rule and program, and count the others (default: 20 in "
				 "text, all in JSON)" },
	[OPTION_MEASURE] = { "measure", 0, CLI_TEXT, "WHAT", NULL,
			     "count an event and report its rate, intervals and jitter, or statistics of a field; WHAT "
			     "is EVENT or EVENT.FIELD, with ,log or ,linear=LOW..HIGH/BUCKETS for a histogram and "
			     ",by=FIELD for each value of a field; may be repeated",
			     .repeats = true,
			     .more = "Values may have units: linear=0..10ms/20. There is room for 256 keys, or for N "
				     "with ,keys=N; events of further keys are counted." },
	[OPTION_METRICS] = { "metrics", 0, CLI_TEXT, "ADDRESS", NULL,
			     "serve measures to Prometheus at ADDRESS, such as 9161 (on the loopback), 127.0.0.1:9161 "
			     "or [::1]:9161" },
	[OPTION_MIN_SEVERITY] = { "min-severity", 0, CLI_CHOICE, "LEVEL", severity_names,
				  "report only matches of rules with this SEVERITY or above; others, also of rules "
				  "without a severity, are only counted" },
	[OPTION_MODE] = { "mode", 0, CLI_BITS, "MODE", NULL,
			  "mode of the output file, as for chmod, such as 640 (default: 600, only you)" },
	[OPTION_NO_CHILDREN] = { "no-children", 0, CLI_FLAG,
				 .help = "with -p: observe only these processes, not their descendants" },
	[OPTION_NO_LIVE] = { "no-live", 0, CLI_FLAG, .help = "only tests of recorded events" },
	[OPTION_ONLY] = { "only", 0, CLI_LIST, "NAME,...", NULL,
			  "write only these reports: overview, timeline, processes, waits, path, priorities, latency, "
			  "interruptions, rates, syscalls, faults, matches, sequences, slices" },
	[OPTION_PERFETTO] = { "perfetto", 0, CLI_TEXT, "FILE", NULL,
			      "write a trace for https://ui.perfetto.dev to FILE", .complete = CLI_COMPLETE_FILE },
	[OPTION_CHROME] = { "chrome", 0, CLI_TEXT, "FILE", NULL,
			    "write slices of threads and matches as JSON for chrome://tracing to FILE",
			    .complete = CLI_COMPLETE_FILE },
	[OPTION_FOLDED] = { "folded", 0, CLI_TEXT, "FILE", NULL,
			    "write the time of threads by state and reason, in ns, as folded stacks to FILE",
			    .complete = CLI_COMPLETE_FILE },
	[OPTION_SPEEDSCOPE] = { "speedscope", 0, CLI_TEXT, "FILE", NULL,
				"write the time of threads by state and reason for https://www.speedscope.app to FILE",
				.complete = CLI_COMPLETE_FILE },
	[OPTION_THREAD] = { "thread", 0, CLI_NUMBER, "TID", NULL,
			    "the critical path of this thread, instead of the command's", .most = 1 << 22 },
	[OPTION_PAIR] = { "pair", 0, CLI_TEXT, "BEGIN,END", NULL,
			  "for the report 'rates': measure from each event BEGIN to the thread's next END (default: "
			  "sys_enter,sys_exit)" },
	[OPTION_ORDER_BY] = { "order-by", 0, CLI_TEXT, "FILE", NULL,
			      "order conditions by how often they held in FILE, the output of 'asterism replay --why "
			      "-f json'; 'written': keep the order of the rule text (default: cheapest first)",
			      .complete = CLI_COMPLETE_FILE },
	[OPTION_OUTPUT] = { "output", 'o', CLI_TEXT, "FILE", NULL, "write to FILE instead of standard output",
			    .complete = CLI_COMPLETE_FILE },
	[OPTION_PID] = { "pid", 'p', CLI_NUMBER, "PID", NULL,
			 "observe process PID and its descendants until it ends; may be repeated", .repeats = true,
			 .complete = CLI_COMPLETE_PROCESS },
	[OPTION_PIDS] = { "pid", 'p', CLI_LIST, "PID,...", NULL, "only events of these processes",
			  .complete = CLI_COMPLETE_PROCESS },
	[OPTION_PLAN] = { "plan", 0, CLI_FLAG,
			  .help = "show how the code for the kernel works, instead of the automaton" },
	[OPTION_PLATFORM] = { "platform", 0, CLI_CHOICE, "PLATFORM", platform_choices,
			      "show what another platform can count: p6, itanium, 604e, win2000 or linux24" },
	[OPTION_POLICY] = { "policy", 0, CLI_TEXT, "FILE", NULL,
			    "allow the actions that FILE lists, with lines such as 'allow Stop, Continue'",
			    .complete = CLI_COMPLETE_FILE },
	[OPTION_QUIET] = { "quiet", 'q', CLI_FLAG, .help = "print only results, warnings and errors" },
	[OPTION_QUOTA] = { "quota", 0, CLI_SIZE, "SIZE", NULL,
			   "with --serve: memory for the sensors of each user (default: 64M, which is 31 processes "
			   "with "
			   "rings of the usual size; for root 256M, 124 processes)",
			   .most = UINT64_C(1) << 40 },
	[OPTION_REDACT] = { "redact", 0, CLI_FLAG, .help = "omit names of threads, programs and files" },
	[OPTION_RULE_TEXT] = { "text", 0, CLI_FLAG, .help = "write the text of the rule that PATTERN names" },
	[OPTION_TESTS] = { "tests", 'k', CLI_TEXT, "PATTERN", NULL,
			   "only tests whose DIR/NAME matches PATTERN (a glob) or contains it" },
	[OPTION_TEST_FORMAT] = { "format", 'f', CLI_CHOICE, "FORMAT", test_choices,
				 "output format: text (default), tap, or json: one object per line" },
	[OPTION_TIDS] = { "tid", 0, CLI_LIST, "TID,...", NULL, "only events of these threads" },
	[OPTION_TIMES] = { "time", 0, CLI_CHOICE, "FORM", times_choices,
			   "how text shows times: since the start (default), wall (UTC) or clock (ns, "
			   "CLOCK_MONOTONIC)" },
	[OPTION_READ_INTERVAL] = { "interval", 0, CLI_TIME, "TIME", NULL, "time between two readings (default: 1s)" },
	[OPTION_READS] = { "count", 'n', CLI_NUMBER, "NUMBER", NULL, "end after N readings" },
	[OPTION_RECORDING] = { "recording", 0, CLI_TEXT, "NAME", NULL,
			       "which recording of asterismd, by name, if several are running" },
	[OPTION_RING] = { "ring", 0, CLI_SIZE, "SIZE", NULL,
			  "memory for recorded events, per CPU (default: 16M, less with little memory)" },
	[OPTION_RULE] = { "rule", 'r', CLI_TEXT, "TEXT", NULL,
			  "a rule as text instead of a file; RULE name PATTERN { } around it may be omitted; may be "
			  "repeated",
			  .repeats = true },
	[OPTION_RULES_REPORT] = { "rules", 0, CLI_TEXT, "FILE", NULL,
				  "run the rules of FILE, or @NAME, over the traces first, and show where they match; "
				  "may be repeated",
				  .repeats = true, .complete = "_asterism_operands" },
	[OPTION_RULES] = { "rules", 0, CLI_TEXT, "FILE", NULL,
			   "record what the rules of FILE need, run them meanwhile, and annotate the trace with their "
			   "matches; may be repeated",
			   .repeats = true, .complete = "_asterism_operands" },
	[OPTION_SENSOR_SOCKET] = { "socket", 0, CLI_TEXT, "PATH", NULL,
				   "socket of the sensor registry (default: $ASTERISM_SENSORS, else "
				   "/run/asterism/sensors or $XDG_RUNTIME_DIR/asterism/sensors)",
				   .complete = CLI_COMPLETE_FILE },
	[OPTION_SEND] = { "to", 0, CLI_TEXT, "WHERE", NULL,
			  "also send the events to tcp:HOST:PORT, serial:PATH (in frames), or a file; read them with "
			  "'asterism replay ... tcp-listen:PORT', or serial:PATH" },
	[OPTION_SERVE] = { "serve", 0, CLI_FLAG,
			   .help = "run the sensor registry in the foreground, until a signal ends it" },
	[OPTION_SET] = { "set", 0, CLI_TEXT, "NAME=VALUE", NULL,
			 "set the parameter NAME of the rules (PARAM) to a value; FILE.NAME: in one file; may be "
			 "repeated",
			 .repeats = true, .check = cmd_settings_check, .complete = "_asterism_settings" },
	[OPTION_SKIP_MISSING] = { "skip-missing", 0, CLI_FLAG,
				  .help = "skip rules whose events were not recorded, and say which" },
	[OPTION_SIZE] = { "size", 0, CLI_SIZE, "SIZE", NULL,
			  "limit a page to SIZE (default: 32M), keeping slices near matches" },
	[OPTION_SNAPSHOT] = { "snapshot", 0, CLI_TEXT, "DIR", NULL,
			      "at each match write the events before it as a trace, in a directory in DIR",
			      .complete = CLI_COMPLETE_FOLDER },
	[OPTION_SOCKET] = { "socket", 0, CLI_TEXT, "PATH", NULL,
			    "asterismd's control socket (default: /run/asterism.sock)", .complete = CLI_COMPLETE_FILE },
	[OPTION_TIMEOUT] = { "timeout", 0, CLI_TIME, "TIME", NULL,
			     "how long to wait for a result, such as 500ms or 1min (default: 30s), or for any answer "
			     "of the daemon (default: 90s)" },
	[OPTION_TIME_FIELD] = { "time-field", 0, CLI_TEXT, "NAME", NULL,
				"JSON lines: the time is in the field NAME (default: ts), in ns or as "
				"2026-11-22T20:14:05.5Z" },
	[OPTION_TO] = { "to", 0, CLI_MOMENT, "TIME", NULL, "skip events at or after TIME, written as for --from" },
	[OPTION_TRACE] = { "trace", 0, CLI_TEXT, "TRACE", NULL,
			   "predict from the events in TRACE what the rules will do and cost; may be repeated",
			   .repeats = true, .complete = CLI_COMPLETE_FILE },
	[OPTION_TRANSITIONS] = { "transitions", 0, CLI_TEXT, "RULE", NULL,
				 "show how often each transition of the rule RULE was tried and taken, and how often "
				 "its conditions were true",
				 .more = "Costs some tens of nanoseconds at each event." },
	[OPTION_WHEN] = { "time", 0, CLI_CHOICE, "FORM", when_choices,
			  "how to show the times of matches: wall (date and time, with the host), mono "
			  "(CLOCK_MONOTONIC, in seconds) or delta (seconds since the previous match)" },
	[OPTION_WHY] = { "why", 0, CLI_FLAG,
			 .help = "report at the end what happened to each rule's runs: how many were opened, advanced "
				 "and ended, and why" },
	[OPTION_UNIT] = { "unit", 0, CLI_TEXT, "NAME", NULL,
			  "like --cgroup, for an active systemd unit, such as nginx or session-3.scope",
			  .repeats = true },
	[OPTION_USER] = { "user", 0, CLI_TEXT, "NAME", NULL,
			  "only processes of this user (name or number), and their descendants", .repeats = true,
			  .complete = "COMPREPLY=($(compgen -u -- \"$word\"))" },
	[OPTION_VERBOSE] = { "verbose", 'v', CLI_FLAG, .help = "show more detail" },
	[OPTION_VERSION] = { "version", 'V', CLI_ANSWER, .help = "show the version and exit" },
	[OPTION_WAIT] = { "wait", 0, CLI_FLAG,
			  .help = "continue until all observed processes have ended, including descendants that "
				  "outlive the command or PID" },
};
