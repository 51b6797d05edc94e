/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_MEMORY_LOG_H
#define EBPF_MEMORY_LOG_H

/* What this process does with a rule's log (memory/log.c). */

#include "ebpf/memory/emit.h"
#include "program/match.h"

/* Runs that ended because there was no room for an event; 0 where the rule has no log. */
uint64_t memory_log_refused(const struct memory *memory, uint32_t rule);

/*
 * Of matches of rules that have one. Fills events, with room for all entries of the log, with those of the match, the
 * oldest first, and returns how many there are. They stay where they are until the match is forgotten, once.
 */
uint32_t memory_log_read(const struct memory *memory, const struct matcher_match *match,
			 struct program_match_event *events);
void memory_log_forget(const struct memory *memory, const struct matcher_match *match);

#endif
