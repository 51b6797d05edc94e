/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_SECCOMP_VETO_H
#define SESSION_SECCOMP_VETO_H

/*
 * Rules with Veto at work: every system call that they look at is held until they have seen it, and fails where they
 * want it to. They run in a thread of their own, so that an answer never waits for a consumer of matches. The rest
 * belongs to the session's thread. docs/veto.md says what is guaranteed.
 */

#include "session/load/policy.h"
#include "session/load/rules.h"
#include "session/output/totals.h"
#include "session/seccomp/listener.h"

struct veto;

/*
 * Prepares the rules that have a Veto which the session allows; *made is NULL when there are none. Returns 0; -EINVAL
 * when such a rule asks for too much, or no command is launched; -ENOMEM.
 */
int veto_new(const struct session_rules *rules, const struct session_policy *policy, bool launches,
	     struct asterism_diag *diag, struct veto **made);

/* Held calls fail with ENOSYS from here on. veto may be NULL, here and below. */
void veto_free(struct veto *veto);

/* Per rule of the program, whether it runs elsewhere; NULL: all do. */
const bool *veto_other_rules(const struct veto *veto);

/* What the command is to take upon itself, for launch_prepare; NULL: nothing. */
const struct sock_fprog *veto_filter(const struct veto *veto);

/* A command that was launched with the filter and waits to begin. */
struct veto_command {
	pid_t pid;
	int error_fd;              /* closed by the command once it has begun */
	struct listener *listener; /* its listener changes hands */
};

/* Begins to answer the calls of the command; launch_go is next. Returns 0, -EAGAIN, -errno. */
int veto_start(struct veto *veto, const struct veto_command *command, struct asterism_diag *diag);

/* Readable when veto_poll has something to do; -1: never. */
int veto_fd(const struct veto *veto);

/* Hands out the matches so far. Returns 0, what take returned, -ENOMEM. */
int veto_poll(struct veto *veto, program_match_fn *take, void *context);

/* Waits until the matches of every call that has been answered can be handed out. */
void veto_settle(struct veto *veto);

/*
 * What can be had without more than a look at memory: of the rules judged here, into rules, one per rule of the
 * program. Returns 0; the -errno for which the end of a process cannot be noticed (struct ends), so that another one
 * with its number is taken for it.
 */
int veto_look(struct veto *veto, struct program_rule_stats *rules);

/* Adds the counts so far. */
void veto_count(struct veto *veto, struct session_totals *totals);

#endif
