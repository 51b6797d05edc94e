/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef MODEL_REPORT_PRIV_H
#define MODEL_REPORT_PRIV_H

#include "model/report.h"

/* 12.3k; 4 digits. */
void model_put_number(struct text_buffer *out, double value);
/* 2.3 ms */
void model_put_seconds(struct text_buffer *out, double seconds);

/* Where a way leads: "match", "end", "state 1"; of machines the state's name. buffer is room for it. */
const char *model_target(const struct model *model, const struct model_way *way, char *buffer, size_t size);

/* How runs leave a state that no way is: by WITHIN, as the time is up; NULL behind the last. */
struct model_other {
	const char *word, *target;
	double count;
};

enum { MODEL_OTHERS = 3 };
void model_others(const struct model_state *state, struct model_other *others);

#endif
