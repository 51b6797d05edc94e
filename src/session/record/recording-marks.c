// SPDX-License-Identifier: BSD-2-Clause
/* Selects the marks of a snapshot: the newest MARKS_MAX since the last one. */

#include "session/record/recording-marks.h"

#include "base/alloc.h"
#include "event/type.h"

#include <errno.h>
#include <stdio.h>

enum { MARKS_MAX = 256 };

struct kept_mark {
	struct recording_mark mark;
	char comm[EVENT_COMM_BYTES];
	char *rule, *values;
};

struct recording_marks {
	uint64_t count; /* ever; the newest MARKS_MAX are kept, each in the place of its number */
	struct kept_mark kept[MARKS_MAX];
};

struct recording_marks *recording_marks_new(void)
{
	return alloc_zero(1, sizeof(struct recording_marks));
}

void recording_marks_free(struct recording_marks *marks)
{
	for (size_t i = 0; marks && i < MARKS_MAX; i++) {
		alloc_free(marks->kept[i].rule);
		alloc_free(marks->kept[i].values);
	}
	alloc_free(marks);
}

int recording_marks_keep(struct recording_marks *marks, const struct recording_mark *mark)
{
	struct kept_mark *kept = &marks->kept[marks->count % MARKS_MAX];
	char *rule = alloc_text(mark->rule), *values = alloc_text(mark->values);

	if (!rule || !values) {
		alloc_free(rule);
		alloc_free(values);
		return -ENOMEM;
	}
	alloc_free(kept->rule);
	alloc_free(kept->values);
	*kept = (struct kept_mark){ .mark = *mark, .rule = rule, .values = values };
	snprintf(kept->comm, sizeof kept->comm, "%s", mark->comm);
	kept->mark.rule = rule;
	kept->mark.values = values;
	kept->mark.comm = kept->comm;
	marks->count++;
	return 0;
}

int recording_mark_write(const struct recording_mark *mark, struct ctf_writer *writer)
{
	const struct ctf_match match = {
		.ts = mark->ts,
		.cpu = mark->cpu,
		.pid = mark->pid,
		.tid = mark->tid,
		.comm = mark->comm,
		.rule = mark->rule,
		.values = mark->values,
		.tainted = mark->tainted,
	};

	return ctf_writer_match(writer, &match);
}

int recording_marks_write(const struct recording_marks *marks, struct ctf_writer *writer, uint64_t since_ns)
{
	uint64_t oldest = marks->count > MARKS_MAX ? marks->count - MARKS_MAX : 0;
	int result = 0;

	for (uint64_t i = oldest; i < marks->count && !result; i++) {
		const struct recording_mark *mark = &marks->kept[i % MARKS_MAX].mark;

		if (mark->ts >= since_ns)
			result = recording_mark_write(mark, writer);
	}
	return result;
}
