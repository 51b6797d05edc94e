/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

/*
 * A session binds rules to a source of events and hands out matches: live, from the running kernel, or replayed, from
 * recorded events. A session call runs to its end in the calling thread; matches come through the callback, in order,
 * the counts afterwards. Its folders, from the bottom:
 *
 *   load      rules from files, settings, what rules may do (policy)
 *   record    a recording: from the kernel's rings to the trace on disk, which events it takes
 *   output    what matches, values, addresses and counts look like, as text and JSON
 *   verdict   what is done at a match: reactions, stopped processes, questions and their answers
 *   executor  the rules at work over a source of events
 *   seccomp   system calls that wait for a verdict
 *   send      what a monitor evaluates, to another machine
 *   measure   rates, intervals, histograms and heartbeats, as they are told and served
 *   derive    events that follow from recorded ones
 *   replay    recorded events through an executor
 *   live      the running system through an executor: scope, launch, loop, end
 *   monitor   sensors through an executor in periods, each event within a time that is known
 */

#include "session/live/live.h"
#include "session/replay/replay.h"

#endif
