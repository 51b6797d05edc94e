// SPDX-License-Identifier: BSD-2-Clause
/* Reports that a heartbeat stays away, or is back. */

#include "session/measure/report.h"

#include "base/date.h"
#include "session/measure/show-priv.h"

#include <inttypes.h>

static void put_news_json(FILE *stream, const struct measures_item *item, const struct heartbeat_news *news)
{
	fprintf(stream, "{\"heartbeat\":\"");
	measure_write_name(stream, item);
	fprintf(stream, "\",\"state\":\"%s\",\"at_ns\":%" PRIu64 ",\"since_ns\":%" PRIu64,
		news->is_back ? "back" : "missing", news->at_ns, news->since_ns);
	if (item->key) {
		fputs(",\"by\":{\"", stream);
		text_write(stream, item->by, TEXT_JSON);
		fputs("\":", stream);
		measure_write_key(stream, item->key, monitor_keys_get(heartbeat_keys(item->heartbeat), news->row));
		putc('}', stream);
	}
	fputs("}\n", stream);
}

static void put_time(FILE *stream, uint64_t at_ns, uint64_t wall_ns)
{
	char date[DATE_BYTES];

	if (!wall_ns) {
		fprintf(stream, "%" PRIu64 ".%09" PRIu64, at_ns / 1000000000, at_ns % 1000000000);
		return;
	}
	date_print(at_ns + wall_ns, false, date);
	fputs(date, stream);
}

static void put_news_text(FILE *stream, const struct measures_item *item, const struct heartbeat_news *news,
			  uint64_t wall_ns)
{
	char memory[1024];
	struct text_buffer text;

	put_time(stream, news->at_ns, wall_ns);
	fputs("  ", stream);
	measure_write_name(stream, item);
	text_init_fixed(&text, memory, sizeof memory);
	if (item->key) {
		text_printf(&text, " %s=", item->by);
		measure_show_key(&text, item->key, monitor_keys_get(heartbeat_keys(item->heartbeat), news->row));
	}
	text_append(&text, news->is_back ? " is back after " : " is missing for ");
	measure_show(&text, NULL, MONITOR_UNSIGNED, (union monitor_value){ .u64 = news->at_ns - news->since_ns });
	fprintf(stream, "%s\n", memory);
}

size_t measure_put_news(FILE *stream, const struct measures *measures, uint64_t wall_ns, bool as_json)
{
	size_t count = 0;

	for (size_t i = 0; i < measures_count(measures); i++) {
		const struct measures_item *item = measures_get(measures, i);
		struct heartbeat_news news;

		if (item->kind != &heartbeat_kind || !item->heartbeat)
			continue;
		for (; heartbeat_next(item->heartbeat, &news); count++) {
			if (as_json)
				put_news_json(stream, item, &news);
			else
				put_news_text(stream, item, &news, wall_ns);
		}
	}
	return count;
}
