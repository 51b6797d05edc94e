// SPDX-License-Identifier: BSD-2-Clause
/* The names of signals, as the C library knows them, and what comes with a signal. */

#include "meaning/family-priv.h"

#include <signal.h>
#include <string.h>

/* Second names, those of the C library's own, and the ends of the real-time signals as programs number them. */
static const struct meaning_row signal_rows[] = {
	MEANING_ONE(SIGIOT),         MEANING_ONE(SIGPOLL),       MEANING_AS("SIGCANCEL", 32),
	MEANING_AS("SIGSETXID", 33), MEANING_AS("SIGRTMIN", 34), MEANING_AS("SIGRTMAX", 64),
};

const struct meaning_family meaning_signals = {
	.rows = signal_rows,
	.count = sizeof signal_rows / sizeof *signal_rows,
	.name = sigabbrev_np,
	.prefix = "SIG",
	.last = 31,
};

static const struct meaning_row masks[] = {
	MEANING_ONE(SIG_BLOCK),
	MEANING_ONE(SIG_UNBLOCK),
	MEANING_ONE(SIG_SETMASK),
};

const struct meaning_family meaning_signal_masks = MEANING_FAMILY(masks);

static const struct meaning_row codes[] = {
	MEANING_ONE(SI_USER),  MEANING_ONE(SI_KERNEL), MEANING_ONE(SI_QUEUE),
	MEANING_ONE(SI_TIMER), MEANING_ONE(SI_MESGQ),  MEANING_ONE(SI_ASYNCIO),
	MEANING_ONE(SI_SIGIO), MEANING_ONE(SI_TKILL),  MEANING_ONE(SI_ASYNCNL),
};

const struct meaning_family meaning_signal_codes = MEANING_FAMILY(codes);

/* TRACE_SIGNAL_* of the kernel. */
static const struct meaning_row fates[] = {
	MEANING_AS("DELIVERED", 0),     MEANING_AS("IGNORED", 1),   MEANING_AS("ALREADY_PENDING", 2),
	MEANING_AS("OVERFLOW_FAIL", 3), MEANING_AS("LOSE_INFO", 4),
};

const struct meaning_family meaning_signal_fates = MEANING_FAMILY(fates);
