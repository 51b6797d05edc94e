// SPDX-License-Identifier: BSD-2-Clause
/* Writes estimated stacks as lines, and as speedscope's JSON. */

#include "profile/stacks/paths.h"

#include "base/real.h"
#include "base/text.h"

#include <errno.h>

struct folded {
	FILE *stream;
	const struct profile *profile;
	size_t count;
	double total;
};

static int outcome(FILE *stream)
{
	return ferror(stream) ? errno ? -errno : -EIO : 0;
}

static void put_folded_line(void *context, const uint32_t *functions, unsigned depth, double cost)
{
	const struct folded *folded = context;

	for (unsigned i = 0; i < depth; i++) {
		if (i)
			fputc(';', folded->stream);
		for (const char *at = profile_name(folded->profile, functions[i]); *at; at++)
			fputc(*at == ';' ? ':' : *at, folded->stream);
	}
	fputc(' ', folded->stream);
	real_put(folded->stream, cost);
	fputc('\n', folded->stream);
}

int profile_write_folded(FILE *stream, const struct profile *profile, double least, double *left_out)
{
	struct folded folded = { .stream = stream, .profile = profile };
	int result = profile_each_stack(profile, least, put_folded_line, &folded, left_out);

	return result ? result : outcome(stream);
}

static void put_folded_sample(void *context, const uint32_t *functions, unsigned depth, double cost)
{
	struct folded *folded = context;

	(void)cost;
	fputs(folded->count++ ? ",\n[" : "\n[", folded->stream);
	for (unsigned i = 0; i < depth; i++)
		fprintf(folded->stream, i ? ",%u" : "%u", functions[i]);
	fputc(']', folded->stream);
}

static void put_weight(void *context, const uint32_t *functions, unsigned depth, double cost)
{
	struct folded *folded = context;

	(void)functions;
	(void)depth;
	fputs(folded->total > 0 ? "," : "", folded->stream);
	folded->total += cost;
	real_put(folded->stream, cost);
}

static void put_folded_text(FILE *stream, const char *key, const char *text)
{
	fprintf(stream, "\"%s\":\"", key);
	text_write(stream, text, TEXT_JSON);
	fputc('"', stream);
}

/* What stacks have is the number of a frame, which is that of the function. */
static void put_frames(FILE *stream, const struct profile *profile)
{
	fputs("\"shared\":{\"frames\":[", stream);
	for (uint32_t i = 0; i < profile->function_count; i++) {
		const struct profile_function *function = &profile->functions[i];
		const char *file = profile_get_text(profile, function->file ? function->file : function->object);

		fputs(i ? ",\n{" : "\n{", stream);
		put_folded_text(stream, "name", profile_name(profile, i));
		if (*file) {
			fputc(',', stream);
			put_folded_text(stream, "file", file);
		}
		if (function->file && function->line)
			fprintf(stream, ",\"line\":%u", function->line);
		fputc('}', stream);
	}
	fputs("\n]},\n", stream);
}

int profile_write_speedscope(FILE *stream, const struct profile *profile, double least, double *left_out)
{
	struct folded folded = { .stream = stream, .profile = profile };
	const char *cmd = profile_get_info(profile, "cmd");
	int result;

	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
	      "\"exporter\":\"asterism " ASTERISM_VERSION "\",\n",
	      stream);
	put_folded_text(stream, "name", cmd ? cmd : "stacks estimated");
	fputs(",\n", stream);
	put_frames(stream, profile);
	fputs("\"activeProfileIndex\":0,\"profiles\":[{\"type\":\"sampled\",\"name\":\"", stream);
	text_write(stream, profile_get_text(profile, profile->events[0]), TEXT_JSON);
	fputs(" (stacks estimated)\",\"unit\":\"none\",\"samples\":[", stream);
	result = profile_each_stack(profile, least, put_folded_sample, &folded, left_out);
	fputs("\n],\n\"weights\":[", stream);
	if (!result)
		result = profile_each_stack(profile, least, put_weight, &folded, left_out);
	fputs("],\n\"startValue\":0,\"endValue\":", stream);
	real_put(stream, folded.total);
	fputs("}]}\n", stream);
	return result ? result : outcome(stream);
}
