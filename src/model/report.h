/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef MODEL_REPORT_H
#define MODEL_REPORT_H

/* A model and its cost told: for people, as one JSON object on one line, as a drawing for Graphviz. */

#include "base/text.h"
#include "model/cost.h"

struct model_report {
	const struct model *model;
	const struct model_prices *prices;
	const struct model_cost *cost;
	bool ships;              /* the rule runs in user space */
	const char *no_end;      /* what would have ended runs and was not recorded, with ", " between; NULL: nothing */
	uint64_t pool_bytes;     /* that the rule's pool takes; 0: not known */
	struct text_buffer *out; /* within the layer */
};

void model_report_text(const struct model_report *report, struct text_buffer *out);
void model_report_json(const struct model_report *report, struct text_buffer *out);
void model_report_dot(const struct model_report *report, struct text_buffer *out);

#endif
