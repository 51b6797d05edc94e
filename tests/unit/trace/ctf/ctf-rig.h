/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CTF_RIG_H
#define CTF_RIG_H

/* A trace in a folder of its own, for tests of writing and reading. */

#include "packets.h"
#include "trace/ctf/read.h"

enum { TICK = EVENT_PACKED_ID_FIRST, TEXT, TYPES = 2, WALL_NS = 1000000007 };

struct rig {
	char folder[64], path[128];
	struct event_catalog *catalog;
	struct asterism_diag *diag;
	struct ctf_writer_event events[TYPES];
	struct ctf_writer_options options;
	struct ctf_writer *writer;
	struct packets *cpus[2];
};

int rig_set_up(void **state);
int rig_tear_down(void **state);

void rig_remove(const char *path);

void rig_open_writer(struct rig *rig);
void rig_close_writer(struct rig *rig);
struct event_source *rig_open_reader(struct rig *rig);

void rig_add_tick(struct rig *rig, unsigned cpu, uint64_t ts, uint64_t n);
void rig_add_text(struct rig *rig, unsigned cpu, uint64_t ts, const char *text, int64_t i);
void rig_flush(struct rig *rig, unsigned cpu);

/* Six events on two processors, in two packets each. */
void rig_write_small(struct rig *rig);

/* The number in the field called name. */
uint64_t rig_word(const struct event *event, const char *name);

#endif
