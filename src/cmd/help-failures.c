// SPDX-License-Identifier: BSD-2-Clause
/* Decides what is said of failures. A row is a promise; tests/kernel/session/failures.bats and tests/faults hold it. */

#include "cmd/help-failures.h"

static const struct cli_entry failures[] = {
	{ "standard output or the file of -o cannot be written (the disk is full, an error of the device)",
	  { "yes, to the end of what is observed",
	    "at once; at the end how many matches are missing. Writing is tried again; what is there are whole matches",
	    "3" } },
	{ "the reader of the matches is gone (a closed pipe), and a rule may act or something is recorded",
	  { "yes, to the end of what is observed", "nothing", "that of the command" } },
	{ "the reader of the matches is gone, no rule may act and nothing is recorded",
	  { "no: the session ends, the command goes on", "nothing", "that of the command" } },
	{ "the trace of record cannot be written",
	  { "yes, to the end of what is observed",
	    "at once; at the end how many events and annotations of matches are missing. Writing is tried again; the "
	    "gap is in the trace, where it happened",
	    "3" } },
	{ "a snapshot cannot be written",
	  { "yes, to the end of what is observed", "at once; at the end how many are not whole", "3" } },
	{ "events come faster than a ring or a pool can take them, or one event raises more than there is room for",
	  { "yes; open runs are treated as ON LOSS says, and rules that matter replace their oldest runs",
	    "of a pool at once, of all at the end, per rule, how many and what helps",
	    "3; of what was replaced: that of the command" } },
	{ "a process makes 32-bit system calls, or works by io_uring, which is no system call: neither raises an event",
	  { "yes; rules that look for such calls do not see what is done so",
	    "of each such rule at once, at the end how many (calls_32bit, io_uring)", "3" } },
	{ "asterism cannot wait for events, take them or see to its actions, and a rule may act or something is "
	  "recorded",
	  { "yes, to the end of what is observed; it is tried again", "at once", "2, or 4 where the kernel refuses" } },
	{ "the same, but no rule may act and nothing is recorded",
	  { "no: the session ends, the command goes on", "at once", "2, or 4 where the kernel refuses" } },
	{ "a session cannot begin: no privilege, no room for the trace, a rule that the kernel refuses",
	  { "no: the command is not started", "at once", "2 or 4" } },
	{ "a signal ends run or record before the session has begun, as while programs are loaded",
	  { "no: the command is not started", "at once", "128 and the signal: 130 at Ctrl-C" } },
	{ "Ctrl-C, SIGTERM or SIGHUP, and the launched command ignores the signal, which it gets, too",
	  { "for two seconds, or until a second signal: then the session ends, the command goes on without being "
	    "observed",
	    "at the end, with the command's process id", "128 and the last signal: 130 at Ctrl-C" } },
	{ "a launched command does not end when --for is over: it ignores the SIGTERM that it gets",
	  { "no: the command goes on without being observed", "at the end, with the command's process id", "0" } },
	{ "asterism is killed (kill -9)",
	  { "no: what was in the kernel is gone within a second, stopped processes go on, held system calls fail",
	    "nothing; what was written can be read", "137" } },
	{ "asterism and its watchdog, asterism-keep, are killed in the same instant (kill -9 of both, cgroup.kill)",
	  { "no: what was in the kernel is gone within a second, but stopped processes stand still: let them go on by "
	    "'kill -CONT PID', a frozen cgroup by 'echo 0 >.../cgroup.freeze'",
	    "nothing; what was written can be read", "137" } },
	{ "the output of asterismd cannot be written",
	  { "yes", "in its log; its metrics say how many matches are missing. Writing is tried again",
	    "it stays up" } },
	{ "a signal ends a replay or stat before the end of its input",
	  { "no: it ends, with the results so far", "at once", "128 and the signal: 130 at Ctrl-C" } },
	{ "the output of a replay cannot be written",
	  { "no: the replay ends", "at once (nothing where a reader is gone)", "2 (0 where a reader is gone)" } },
	{ NULL, { NULL } },
};

const struct cli_section help_failures = {
	.title = "FAILURES",
	.heading = "When something fails",
	.labels = { "rules on", "reported", "exit status" },
	.entries = failures,
};

void help_failures_page(FILE *stream)
{
	fputs("| what fails | are rules still on | what is reported | exit status |\n|---|---|---|---|\n", stream);
	for (const struct cli_entry *row = failures; row->term; row++)
		fprintf(stream, "| %s | %s | %s | %s |\n", row->term, row->texts[0], row->texts[1], row->texts[2]);
}
