// SPDX-License-Identifier: BSD-2-Clause
/* Decides which options exist and how they are spelled. */

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
			   "record with every event who it is about: ppid, uid, gid, exe, args, cgroup, container, "
			   "cgroup_id, ns_pid" },
	[OPTION_ALL] = { "all", 'a', CLI_FLAG, .help = "observe every process of the machine" },
	[OPTION_ALLOW_ACTIONS] = { "allow-actions", 0, CLI_FLAG,
				   .help = "let rules do what changes the system, such as signals and priorities" },
	[OPTION_ALWAYS] = { "always", 0, CLI_FLAG,
			    .help = "with --serve: hold all gates open, so that rings have the last events when they "
				    "are asked for" },
	[OPTION_ASK] = { "ask", 0, CLI_TEXT, "CMD", NULL,
			 "run CMD, without a shell, for every verdict request of a rule: 0 is CONTINUE, 1 is ABORT" },
	[OPTION_ASSUME] = { "assume", 0, CLI_TEXT, "pN=P", NULL,
			    "with --trace: take the probability pN for P, RULE.pN=P: of one rule; may be given several "
			    "times",
			    .repeats = true, .check = cmd_assumption_check },
	[OPTION_BATCH] = { "batch", 0, CLI_FLAG, .help = "write plain text, one look after the other" },
	[OPTION_BETWEEN] = { "between", 0, CLI_TEXT, "RULES", NULL,
			     "count only samples that lie between the first and the last event of a match; RULES is a "
			     "file, @NAME of a shipped rule, or the text of a rule" },
	[OPTION_BIND] = { "bind", 0, CLI_TEXT, "FILE", NULL,
			  "what the events, guards and actions of the machine are here, in place of the binding that "
			  "is "
			  "shipped for its class",
			  .complete = CLI_COMPLETE_FILE },
	[OPTION_BY] = { "by", 0, CLI_CHOICE, "MODEL", by_choices,
			"how costs are shared among callers: quotient (default; as the simulation has it), calls (by "
			"numbers of calls, as gprof does) or contexts (by the simulation's --separate-callers)" },
	[OPTION_CATALOG] = { "catalog", 0, CLI_TEXT, "FILE", NULL,
			     "take event types from FILE, too, besides those of Linux; may be given several times",
			     .repeats = true, .complete = CLI_COMPLETE_FILE },
	[OPTION_CGROUP] = { "cgroup", 0, CLI_TEXT, "PATH", NULL,
			    "observe processes in this cgroup of version 2, or below it, and their descendants; may be "
			    "given several times",
			    .repeats = true, .complete = CLI_COMPLETE_FOLDER },
	[OPTION_COMM] = { "comm", 0, CLI_TEXT, "NAME", NULL, "only processes called NAME, and their descendants",
			  .repeats = true },
	[OPTION_COLLAPSE] = { "collapse", 0, CLI_FLAG, .help = "make functions that call each other in a circle one" },
	[OPTION_CONTAINER] = { "container", 0, CLI_TEXT, "NAME", NULL,
			       "as --cgroup, for a container: its name, or how its id begins", .repeats = true },
	[OPTION_COLOR] = { "color", 0, CLI_CHOICE, "WHEN", color_choices,
			   "colour messages: auto (on terminals, unless NO_COLOR is set), always or never" },
	[OPTION_COPY] = { "copy", 0, CLI_FLAG,
			  .help = "promise that elements are copied in time; they are evaluated when there is time" },
	[OPTION_CACHE] = { "cache", 0, CLI_FLAG,
			   .help = "simulate the processor's caches, too: does what misses cost depend on the "
				   "caller?" },
	[OPTION_CONTEXTS] = { "contexts", 0, CLI_NUMBER, "NUMBER", NULL,
			      "simulate so many callers of callers apart, for --by contexts (30 does for most)" },
	[OPTION_COST] = { "event", 'e', CLI_TEXT, "EVENT", NULL,
			  "what is sampled, such as task-clock or page-faults (default: cycles where the processor "
			  "counts them for us, else task-clock); of a profile, which costs are shown (default: its "
			  "first)" },
	[OPTION_COST_UNIT] = { "unit", 0, CLI_CHOICE, "UNIT", unit_choices,
			       "how costs are shown: percent of all (default; in JSON events), seconds, or events as "
			       "they "
			       "were counted" },
	[OPTION_COUNT_EVENTS] = { "count", 'c', CLI_NUMBER, "NUMBER", NULL,
				  "a sample every so many events, or nanoseconds of a clock, instead of so often a "
				  "second" },
	[OPTION_FREQUENCY] = { "frequency", 'F', CLI_NUMBER, "NUMBER", NULL,
			       "samples per second of each thread (default: 997)" },
	[OPTION_JITTER] = { "jitter", 0, CLI_FLAG,
			    .help = "vary the time between samples by a quarter, so that no loop is in step with it" },
	[OPTION_TWICE] = { "twice", 0, CLI_FLAG,
			   .help = "simulate twice: does the command do the same work each time?" },
	[OPTION_DEADLINE] = { "deadline", 0, CLI_TIME, "TIME", NULL,
			      "in each period, when evaluations have to be done (default: its end)" },
	[OPTION_HOLD] = { "hold", 0, CLI_TIME, "TIME", NULL,
			  "how long others wait for a writer that stands still between begin and commit (default: "
			  "half a period, 1ms at most)" },
	[OPTION_INTERVAL] = { "interval", 0, CLI_TIME, "TIME", NULL,
			      "how long there is between two looks (default: 2s)" },
	[OPTION_LATENCY] = { "latency", 0, CLI_TIME, "TIME", NULL,
			     "within which time elements are to be evaluated (default: three periods)" },
	[OPTION_PERIOD] = { "period", 0, CLI_TIME, "TIME", NULL,
			    "how often new elements are looked for (default: 1ms)" },
	[OPTION_PROBE] = { "probe", 0, CLI_FLAG,
			   .help = "show which counters this machine has, and why it has not the others" },
	[OPTION_PROVE] = { "prove", 0, CLI_TIME, "TIME", NULL,
			   "go on for TIME, and draw how long evaluations took beside what was promised" },
	[OPTION_RAISE] = { "raise", 0, CLI_FLAG,
			   .help = "raise what rules EMIT as events of sensors, which other monitors and sessions "
				   "see" },
	[OPTION_SCHEDULE] = { "policy", 0, CLI_CHOICE, "POLICY", policy_choices,
			      "how the kernel gives time: deadline (default), fifo, or best-effort" },
	[OPTION_SENSOR] = { "sensor", 0, CLI_TEXT, "NAME,rate=N/TIME,...", NULL,
			    "how fast elements come at most, of all processes together: "
			    "rate=50000/s,burst=100,spacing=1us; cost=2us: of an evaluation; may be given several "
			    "times",
			    .repeats = true },
	[OPTION_CHECK] = { "check", 0, CLI_FLAG, .help = "judge the program without reading its input files" },
	[OPTION_STRICT_QUERY] = { "strict", 0, CLI_FLAG,
				  .help = "refuse what programs printed in the thesis do wrong, in place of repairing "
					  "it" },
	[OPTION_STRICT] = { "strict", 0, CLI_FLAG,
			    .help = "end with status 3 when an element is lost or late; no start without a guarantee" },
	[OPTION_CPUS] = { "cpu", 0, CLI_LIST, "CPU,...", NULL, "only events of these processors" },
	[OPTION_DUMP] = { "dump", 0, CLI_FLAG, .help = "write the events that the rings still hold" },
	[OPTION_ENGINE] = { "engine", 0, CLI_CHOICE, "ENGINE", engine_choices,
			    "who matches: user (default), or kernel: the generated kernel programs, by test run" },
	[OPTION_EVENT] = { "event", 'e', CLI_LIST, "EVENT,...", NULL,
			   "only events of these types; names may be globs, such as 'sched_*'" },
	[OPTION_DIRECTORY] = { "output", 'o', CLI_TEXT, "DIR", NULL, "where the trace goes: a new directory",
			       .complete = CLI_COMPLETE_FOLDER },
	[OPTION_EVENTS] = { "event", 'e', CLI_LIST, "EVENT,...", NULL,
			    "what is recorded: names or patterns such as 'sched_*', each with :FIELD+FIELD if not all "
			    "of its fields; !PATTERN leaves out, alone of what is usual; sensor:NAME, "
			    "sensor:PROGRAM:NAME or sensor:/path/of/program are events of applications" },
	[OPTION_EVERY] = { "every", 0, CLI_TIME, "TIME", NULL,
			   "report measures every TIME, not only at the end; in a replay it is the time "
			   "of the events" },
	[OPTION_EXCEPT] = { "except", 0, CLI_TEXT, "FILE", NULL,
			    "except matches by the lines of FILE, 'RULE: condition, ...': where all of a line's "
			    "conditions hold, the match is only counted; may be given several times",
			    .repeats = true, .complete = CLI_COMPLETE_FILE },
	[OPTION_EXPLAIN] = { "explain", 0, CLI_TEXT, "TYPE", NULL,
			     "show what a type of counters is: classes, kind, unit, source, formula, errors in print" },
	[OPTION_EXPORT] = { "type", 't', CLI_CHOICE, "TYPE", export_choices,
			    "the format: callgrind (default) or csv; of estimated stacks: folded, pprof, "
			    "speedscope or svg (a flame graph)" },
	[OPTION_FAIL_ON_MATCH] = { "fail-on-match", 0, CLI_FLAG, .help = "exit with status 1 when a rule matched" },
	[OPTION_FLIGHT] = { "flight", 0, CLI_FLAG,
			    .help = "keep the newest events in memory and write them at SIGUSR1 and at the end" },
	[OPTION_FOR] = { "for", 0, CLI_TIME, "TIME", NULL, "stop after TIME, such as 500ms, 10s, 2min or 1h" },
	[OPTION_FOR_REPORT] = { "for-report", 0, CLI_FLAG,
				.help = "record what 'asterism report' looks at, besides: interrupts, disk requests, "
					"faults of the kernel, inherited priorities" },
	[OPTION_FORMAT] = { "format", 'f', CLI_CHOICE, "FORMAT", format_choices,
			    "how matches are written: text (default), or json: one object per line" },
	[OPTION_FORMAT_EVENTS] = { "format", 'f', CLI_CHOICE, "FORMAT", format_choices,
				   "what is written: text (default), or json" },
	[OPTION_FORMAT_REPORT] = { "format", 'f', CLI_CHOICE, "FORMAT", report_choices,
				   "what is written: text (default), json, csv, html, or the picture of the one report "
				   "that "
				   "--only names: svg or dot; without it the ending of -o FILE decides" },
	[OPTION_FORMAT_QUERY] = { "format", 'f', CLI_CHOICE, "FORMAT", query_choices,
				  "what is written: text (default), json: an object per record, csv, sql: the program "
				  "in SQL, for others to run, events: each record an event for 'asterism replay', or "
				  "catalog: what these events are, for rules" },
	[OPTION_FROM] = { "from", 0, CLI_MOMENT, "TIME", NULL,
			  "leave out events before TIME: 1.5s or 20ms after the first event, @TIME on their clock" },
	[OPTION_FROM_TRACE] = { "from", 0, CLI_TEXT, "TRACE", NULL,
				"nothing is promised of what is over: 'asterism replay' evaluates a trace" },
	[OPTION_GRAPH_FORMAT] = { "format", 'f', CLI_CHOICE, "FORMAT", graph_choices,
				  "what is written: text (default), dot (for Graphviz) or json" },
	[OPTION_GROUP] = { "group", 0, CLI_TEXT, "GROUP", NULL,
			   "with --serve: members of GROUP see the sensors of all users" },
	[OPTION_HEADER] = { "header", 0, CLI_FLAG,
			    .help = "write a C header for programs that use libasterism: a structure per rule for what "
				    "it "
				    "returns" },
	[OPTION_HEARTBEAT] = { "heartbeat", 0, CLI_TEXT, "WHAT", NULL,
			       "report when an event stays away, and when it is back; WHAT is EVENT=TIME, with "
			       ",by=FIELD "
			       "for each value of a field; may be given several times",
			       .repeats = true },
	[OPTION_HELP] = { "help", 'h', CLI_ANSWER, .help = "show this help and exit" },
	[OPTION_INPUT] = { "input", 0, CLI_CHOICE, "FORMAT", input_choices,
			   "format of the events: jsonl (default): one JSON object per line" },
	[OPTION_JOBS] = { "jobs", 0, CLI_NUMBER, "NUMBER", NULL,
			  "match in so many threads at most; otherwise one for each processor" },
	[OPTION_ORDINALS] = { "ordinals", 0, CLI_TEXT, "N..M", NULL,
			      "only the N-th to the M-th event of the input; one of them may be left out" },
	[OPTION_LAST] = { "last", 0, CLI_TIME, "TIME", NULL,
			  "how far back a snapshot goes, such as 2s (default: as far as the memory)" },
	[OPTION_LAYOUT] = { "layout", 0, CLI_CHOICE, "LAYOUT", layout_choices,
			    "names in the trace: asterism's (default), or lttng's, for Trace Compass and its like" },
	[OPTION_LENIENT] = { "lenient", 0, CLI_FLAG,
			     .help = "JSON lines: leave out fields and events that are not known, and say how many at "
				     "the "
				     "end; fields that are missing are 0" },
	[OPTION_LIMIT] = { "timeout", 0, CLI_TIME, "TIME", NULL,
			   "how long a program of a test may run, such as 10s or 2min (default: 60s)" },
	[OPTION_LIVE] = { "live", 0, CLI_FLAG, .help = "only the tests that observe a program" },
	[OPTION_LOOKS] = { "looks", 'n', CLI_NUMBER, "NUMBER", NULL, "with --batch: end after so many looks" },
	[OPTION_MAX_SIZE] = { "max-size", 0, CLI_SIZE, "SIZE", NULL,
			      "keep the trace to SIZE, such as 500M or 2G: the oldest events are deleted" },
	[OPTION_MATCH_LIMIT] = { "limit", 0, CLI_NUMBER, "NUMBER", NULL,
				 "show so many matches of a rule in a program, and count the others; in text 20 "
				 "otherwise, in JSON all" },
	[OPTION_MEASURE] = { "measure", 0, CLI_TEXT, "WHAT", NULL,
			     "count an event and report its rate, intervals and jitter, or what a field comes to; WHAT "
			     "is "
			     "EVENT or EVENT.FIELD, with ,log or ,linear=LOW..HIGH/BUCKETS for a histogram and "
			     ",by=FIELD "
			     "for each value of a field; may be given several times",
			     .repeats = true,
			     .more = "Values may have units: linear=0..10ms/20. There is room for 256 keys, with "
				     ",keys=N for "
				     "as many as N; events of further ones are counted." },
	[OPTION_METRICS] = { "metrics", 0, CLI_TEXT, "ADDRESS", NULL,
			     "serve what is measured to Prometheus at ADDRESS, such as 9161 (of the loopback), "
			     "127.0.0.1:9161 or [::1]:9161" },
	[OPTION_MIN_SEVERITY] = { "min-severity", 0, CLI_CHOICE, "LEVEL", severity_names,
				  "report matches of rules of this SEVERITY and above only; those of other rules, also "
				  "of such without one, are counted" },
	[OPTION_MODE] = { "mode", 0, CLI_BITS, "MODE", NULL,
			  "who may read what is written, as for chmod, such as 640 (default: 600, only you)" },
	[OPTION_NO_CHILDREN] = { "no-children", 0, CLI_FLAG,
				 .help = "with -p: observe these processes only, not their descendants" },
	[OPTION_NO_LIVE] = { "no-live", 0, CLI_FLAG, .help = "only the tests of recorded events" },
	[OPTION_ONLY] = { "only", 0, CLI_LIST, "NAME,...", NULL,
			  "only these reports: overview, timeline, processes, waits, path, priorities, latency, "
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
				"write the same for https://www.speedscope.app to FILE",
				.complete = CLI_COMPLETE_FILE },
	[OPTION_THREAD] = { "thread", 0, CLI_NUMBER, "TID", NULL,
			    "the path of this thread, instead of that of the command", .most = 1 << 22 },
	[OPTION_PAIR] = { "pair", 0, CLI_TEXT, "BEGIN,END", NULL,
			  "the report rates: what begins with an event BEGIN and ends with the next END of the thread "
			  "(default: sys_enter,sys_exit)" },
	[OPTION_ORDER_BY] = { "order-by", 0, CLI_TEXT, "FILE", NULL,
			      "ask conditions in the order that costs least, going by FILE, what 'asterism replay "
			      "--why "
			      "-f json' wrote; 'written': in that of the rule text. Without it the cheapest comes "
			      "first",
			      .complete = CLI_COMPLETE_FILE },
	[OPTION_OUTPUT] = { "output", 'o', CLI_TEXT, "FILE", NULL, "write to FILE instead of standard output",
			    .complete = CLI_COMPLETE_FILE },
	[OPTION_PID] = { "pid", 'p', CLI_NUMBER, "PID", NULL,
			 "observe the process PID and its descendants until it ends; may be given several times",
			 .repeats = true, .complete = CLI_COMPLETE_PROCESS },
	[OPTION_PIDS] = { "pid", 'p', CLI_LIST, "PID,...", NULL, "only events of these processes",
			  .complete = CLI_COMPLETE_PROCESS },
	[OPTION_PLAN] = { "plan", 0, CLI_FLAG,
			  .help = "show what is decided of the code for the kernel, instead of the automaton" },
	[OPTION_PLATFORM] = { "platform", 0, CLI_CHOICE, "PLATFORM", platform_choices,
			      "show what another machine could count: p6, itanium, 604e, win2000 or linux24" },
	[OPTION_POLICY] = { "policy", 0, CLI_TEXT, "FILE", NULL,
			    "let rules do what FILE allows, by lines such as 'allow Stop, Continue'",
			    .complete = CLI_COMPLETE_FILE },
	[OPTION_QUIET] = { "quiet", 'q', CLI_FLAG, .help = "say nothing but results, warnings and errors" },
	[OPTION_QUOTA] = { "quota", 0, CLI_SIZE, "SIZE", NULL,
			   "with --serve: memory for the sensors of each user (default: 64M, which is 31 processes "
			   "with "
			   "rings of the usual size; for root 256M, 124 processes)",
			   .most = UINT64_C(1) << 40 },
	[OPTION_REDACT] = { "redact", 0, CLI_FLAG, .help = "leave out names of threads, programs and files" },
	[OPTION_RULE_TEXT] = { "text", 0, CLI_FLAG, .help = "write the text of the rule that PATTERN means" },
	[OPTION_TESTS] = { "tests", 'k', CLI_TEXT, "PATTERN", NULL,
			   "only tests whose DIR/NAME matches PATTERN, a glob, or contains it" },
	[OPTION_TEST_FORMAT] = { "format", 'f', CLI_CHOICE, "FORMAT", test_choices,
				 "what is written: text (default), tap, or json: one object per line" },
	[OPTION_TIDS] = { "tid", 0, CLI_LIST, "TID,...", NULL, "only events of these threads" },
	[OPTION_TIMES] = { "time", 0, CLI_CHOICE, "FORM", times_choices,
			   "how text shows times: since the start (default), wall (UTC) or clock (ns, "
			   "CLOCK_MONOTONIC)" },
	[OPTION_READ_INTERVAL] = { "interval", 0, CLI_TIME, "TIME", NULL,
				   "how long there is between two readings (default: 1s)" },
	[OPTION_READS] = { "count", 'n', CLI_NUMBER, "NUMBER", NULL, "end after so many readings" },
	[OPTION_RECORDING] = { "recording", 0, CLI_TEXT, "NAME", NULL,
			       "which recording of asterismd is meant, where several run" },
	[OPTION_RING] = { "ring", 0, CLI_SIZE, "SIZE", NULL,
			  "memory for recorded events, per processor (default: 4M)" },
	[OPTION_RULE] = { "rule", 'r', CLI_TEXT, "TEXT", NULL,
			  "a rule as text, in place of a file; its frame, RULE name PATTERN { }, may be left out; may "
			  "be "
			  "given several times",
			  .repeats = true },
	[OPTION_RULES_REPORT] = { "rules", 0, CLI_TEXT, "FILE", NULL,
				  "run the rules in FILE, or @NAME, over the traces first, and show where they match; "
				  "may be given several times",
				  .repeats = true, .complete = "_asterism_operands" },
	[OPTION_RULES] = { "rules", 0, CLI_TEXT, "FILE", NULL,
			   "record what the rules in FILE look at, run them meanwhile, and annotate the trace with "
			   "their matches; "
			   "may be given several times",
			   .repeats = true, .complete = "_asterism_operands" },
	[OPTION_SENSOR_SOCKET] = { "socket", 0, CLI_TEXT, "PATH", NULL,
				   "where the directory of sensors is (default: $ASTERISM_SENSORS, else "
				   "/run/asterism/sensors or $XDG_RUNTIME_DIR/asterism/sensors)",
				   .complete = CLI_COMPLETE_FILE },
	[OPTION_SEND] = { "to", 0, CLI_TEXT, "WHERE", NULL,
			  "send the events elsewhere as well: tcp:HOST:PORT, serial:PATH (in frames), or a file; "
			  "'asterism replay ... tcp-listen:PORT', or serial:PATH, reads them" },
	[OPTION_SERVE] = { "serve", 0, CLI_FLAG, .help = "be the directory, until a signal ends it" },
	[OPTION_SET] = { "set", 0, CLI_TEXT, "NAME=VALUE", NULL,
			 "give the parameter NAME of the rules (PARAM) another value, FILE.NAME: in one file; may be "
			 "given several times",
			 .repeats = true, .check = cmd_settings_check, .complete = "_asterism_settings" },
	[OPTION_SKIP_MISSING] = { "skip-missing", 0, CLI_FLAG,
				  .help = "go on without the rules whose events were not recorded, and say which" },
	[OPTION_SIZE] = { "size", 0, CLI_SIZE, "SIZE", NULL,
			  "keep so many bytes of exact slices on a page (default 32M), those near matches first" },
	[OPTION_SNAPSHOT] = { "snapshot", 0, CLI_TEXT, "DIR", NULL,
			      "at a match write what led to it as a trace, in a directory in DIR",
			      .complete = CLI_COMPLETE_FOLDER },
	[OPTION_SOCKET] = { "socket", 0, CLI_TEXT, "PATH", NULL,
			    "where asterismd listens (default: /run/asterism.sock)", .complete = CLI_COMPLETE_FILE },
	[OPTION_TIMEOUT] = { "timeout", 0, CLI_TIME, "TIME", NULL,
			     "how long to wait: for a result, such as 500ms or 1min (default: 30s), or for the daemon "
			     "to answer at all "
			     "(90s)" },
	[OPTION_TIME_FIELD] = { "time-field", 0, CLI_TEXT, "NAME", NULL,
				"JSON lines: the time is in the field NAME (default: ts), in ns or as "
				"2026-11-22T20:14:05.5Z" },
	[OPTION_TO] = { "to", 0, CLI_MOMENT, "TIME", NULL, "leave out events at or after TIME, written as for --from" },
	[OPTION_TRACE] = { "trace", 0, CLI_TEXT, "TRACE", NULL,
			   "say what the rules will do and cost, from what they do in TRACE; may be given several "
			   "times",
			   .repeats = true, .complete = CLI_COMPLETE_FILE },
	[OPTION_WHEN] = { "time", 0, CLI_CHOICE, "FORM", when_choices,
			  "how matches say when they were: wall (the date, and the host), mono (CLOCK_MONOTONIC, in "
			  "seconds) or delta (seconds since the match before)" },
	[OPTION_WHY] = { "why", 0, CLI_FLAG,
			 .help = "report at the end what became of each rule's runs: how many were opened, went on and "
				 "ended, "
				 "and by what" },
	[OPTION_UNIT] = { "unit", 0, CLI_TEXT, "NAME", NULL,
			  "as --cgroup, for an active unit of systemd, such as nginx or session-3.scope",
			  .repeats = true },
	[OPTION_USER] = { "user", 0, CLI_TEXT, "NAME", NULL,
			  "only processes of this user, by name or number, and their descendants", .repeats = true,
			  .complete = "COMPREPLY=($(compgen -u -- \"$word\"))" },
	[OPTION_VERBOSE] = { "verbose", 'v', CLI_FLAG, .help = "say more" },
	[OPTION_VERSION] = { "version", 'V', CLI_ANSWER, .help = "show the version and exit" },
	[OPTION_WAIT] = { "wait", 0, CLI_FLAG,
			  .help = "go on until all that is observed has ended, descendants that outlive the command or "
				  "PID as well" },
};
