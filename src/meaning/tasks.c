// SPDX-License-Identifier: BSD-2-Clause
/* The names of what the kernel's own events carry: states of threads, soft interrupts, kinds of locks and requests. */

#include "meaning/family-priv.h"

/* A state as it is reported has one bit, as it is kept several; whole ones first. */
static const struct meaning_row state_rows[] = {
	MEANING_AS("TASK_RUNNING", 0),
	MEANING_AS("TASK_KILLABLE", 0x102),
	MEANING_AS("TASK_IDLE", 0x402),
	MEANING_BIT_AS("TASK_INTERRUPTIBLE", 0x1),
	MEANING_BIT_AS("TASK_UNINTERRUPTIBLE", 0x2),
	MEANING_BIT_AS("TASK_STOPPED", 0x4),
	MEANING_BIT_AS("TASK_TRACED", 0x8),
	MEANING_BIT_AS("EXIT_DEAD", 0x10),
	MEANING_BIT_AS("EXIT_ZOMBIE", 0x20),
	MEANING_BIT_AS("TASK_PARKED", 0x40),
	MEANING_BIT_AS("TASK_REPORT_IDLE", 0x80),
	MEANING_BIT_AS("TASK_PREEMPTED", 0x100),
};

const struct meaning_family meaning_state = MEANING_FAMILY(state_rows);

static const struct meaning_row softirq_rows[] = {
	MEANING_AS("HI_SOFTIRQ", 0),      MEANING_AS("TIMER_SOFTIRQ", 1), MEANING_AS("NET_TX_SOFTIRQ", 2),
	MEANING_AS("NET_RX_SOFTIRQ", 3),  MEANING_AS("BLOCK_SOFTIRQ", 4), MEANING_AS("IRQ_POLL_SOFTIRQ", 5),
	MEANING_AS("TASKLET_SOFTIRQ", 6), MEANING_AS("SCHED_SOFTIRQ", 7), MEANING_AS("HRTIMER_SOFTIRQ", 8),
	MEANING_AS("RCU_SOFTIRQ", 9),
};

const struct meaning_family meaning_softirq = MEANING_FAMILY(softirq_rows);

static const struct meaning_row lock_rows[] = {
	MEANING_BIT_AS("LCB_F_SPIN", 1), MEANING_BIT_AS("LCB_F_READ", 2),    MEANING_BIT_AS("LCB_F_WRITE", 4),
	MEANING_BIT_AS("LCB_F_RT", 8),   MEANING_BIT_AS("LCB_F_PERCPU", 16), MEANING_BIT_AS("LCB_F_MUTEX", 32),
};

const struct meaning_family meaning_lock = MEANING_FAMILY(lock_rows);

static const struct meaning_row task_rows[] = {
	MEANING_AS("REQ_OP_READ", 0),         MEANING_AS("REQ_OP_WRITE", 1),        MEANING_AS("REQ_OP_FLUSH", 2),
	MEANING_AS("REQ_OP_DISCARD", 3),      MEANING_AS("REQ_OP_SECURE_ERASE", 5), MEANING_AS("REQ_OP_ZONE_APPEND", 7),
	MEANING_AS("REQ_OP_WRITE_ZEROES", 9), MEANING_AS("REQ_OP_DRV_IN", 34),      MEANING_AS("REQ_OP_DRV_OUT", 35),
};

const struct meaning_family meaning_request = MEANING_FAMILY(task_rows);
