/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef UNIT_EBPF_RULES_H
#define UNIT_EBPF_RULES_H

#include "event/catalog.h"
#include "program/load.h"

/* A program compiled from rule text, with the catalog of its types. A test failure where it cannot be. */
struct rules {
	struct event_catalog *catalog;
	struct program *program;
};

void rules_init(struct rules *rules, const char *text);
void rules_fini(struct rules *rules);

#endif
