// SPDX-License-Identifier: BSD-2-Clause
/* What a reading process says, played by one of ours: in order, cut anywhere, altered anywhere. */

#include "base/alloc.h"
#include "trace/babel/listen.h"
#include "trace/babel/wire.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>
#include <cmocka.h>

struct words {
	char bytes[4096];
	size_t length;
};

static void say(struct words *words, uint32_t kind, const void *body, size_t bytes)
{
	struct wire_head head = { kind, (uint32_t)((bytes + 7) / 8 * 8) };

	memcpy(words->bytes + words->length, &head, sizeof head);
	memcpy(words->bytes + words->length + sizeof head, body, bytes);
	words->length += sizeof head + head.bytes;
}

/* Opened, the type thing { n: u32 }, two events with a loss between them, the end. */
static struct words make_words(void)
{
	struct words words = { .length = 0 };
	struct {
		struct wire_type type;
		struct wire_field field;
		char names[10];
	} type = { { 56, 1 }, { EVENT_U32, 8 }, "thing\0n" };
	struct {
		struct event_header header;
		uint64_t n;
	} event = { { .ts = 10, .seq = 1, .type = 0, .comm = "who" }, 7 };
	struct wire_state state = { 3, 15, 1000 };

	say(&words, WIRE_OPENED, "", 0);
	say(&words, WIRE_TYPE, &type, sizeof type);
	say(&words, WIRE_EVENT, &event, sizeof event);
	say(&words, WIRE_STATE, &state, sizeof state);
	event.header.ts = 20;
	say(&words, WIRE_EVENT, &event, sizeof event);
	say(&words, WIRE_END, "", 0);
	return words;
}

struct listening {
	struct event_catalog *catalog;
	struct asterism_diag *diag;
	struct event_source *source;
	int other_end; /* of the socket */
	int result;    /* of opening */
};

/* All words stand in the socket at once. The process only ends: one of fork would copy what a sanitizer has mapped. */
static void listen_to(struct listening *listening, const struct words *words)
{
	int fds[2];
	pid_t pid;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(write(fds[1], words->bytes, words->length), words->length);
	assert_int_equal(shutdown(fds[1], SHUT_WR), 0);
	pid = vfork();
	if (pid == 0)
		_exit(0);
	assert_true(pid > 0);
	listening->other_end = fds[1];
	listening->catalog = event_catalog_new();
	listening->diag = asterism_diag_new();
	listening->source = NULL;
	listening->result = babel_listen(&(struct babel_listen_options){ .fd = fds[0],
									 .pid = pid,
									 .name = "trace",
									 .catalog = listening->catalog,
									 .diag = listening->diag },
					 &listening->source);
}

static void stop_listening(struct listening *listening)
{
	event_source_free(listening->source);
	close(listening->other_end);
	asterism_diag_free(listening->diag);
	event_catalog_free(listening->catalog);
}

/* Reads to the end or the failure; what comes out must be sound. */
static int read_all(struct listening *listening, int *events)
{
	struct event event;
	int result = listening->result;

	*events = 0;
	while (!result && (result = event_source_next(listening->source, &event)) > 0) {
		char last;

		assert_non_null(event.type);
		memcpy(&last, (const char *)event.record + event.type->record_bytes - 1, 1);
		++*events;
		result = 0;
		if (*events > 10)
			break;
	}
	return result;
}

static void understands(void **state)
{
	struct words words = make_words();
	struct listening listening;
	struct event event;

	(void)state;
	listen_to(&listening, &words);
	assert_int_equal(listening.result, 0);
	assert_int_equal(event_source_next(listening.source, &event), 1);
	assert_string_equal(event.type->name, "thing");
	assert_ptr_equal(event.type, event_catalog_find(listening.catalog, "thing"));
	assert_int_equal(event.record->ts, 10);
	assert_int_equal(((const uint64_t *)(event.record + 1))[0], 7);
	assert_int_equal(listening.source->lost, 0);
	assert_int_equal(event_source_next(listening.source, &event), 1);
	assert_int_equal(event.record->ts, 20);
	assert_int_equal(listening.source->lost, 3);
	assert_int_equal(listening.source->lossy_until_ns, 15);
	assert_int_equal(listening.source->machine.wall_ns, 1000);
	assert_int_equal(event_source_next(listening.source, &event), 0);
	assert_int_equal(event_source_next(listening.source, &event), 0);
	stop_listening(&listening);
}

static void reports_a_failure(void **state)
{
	struct words words = { .length = 0 };
	struct wire_failure failure = { -EOPNOTSUPP, "no such thing" };
	struct listening listening;

	(void)state;
	say(&words, WIRE_FAILED, &failure, sizeof failure);
	listen_to(&listening, &words);
	assert_int_equal(listening.result, -EOPNOTSUPP);
	assert_string_equal(asterism_diag_get(listening.diag, 0)->text, "no such thing");
	assert_string_equal(asterism_diag_get(listening.diag, 0)->file, "trace");
	stop_listening(&listening);
}

static void cut_anywhere(void **state)
{
	struct words words = make_words();

	(void)state;
	for (size_t length = words.length; length-- > 0;) {
		struct listening listening;
		int events;

		words.length = length;
		listen_to(&listening, &words);
		assert_int_equal(read_all(&listening, &events), -EINVAL);
		assert_string_equal(asterism_diag_get(listening.diag, 0)->text,
				    "the trace is damaged: libbabeltrace2 cannot read further");
		stop_listening(&listening);
	}
}

static void altered_anywhere(void **state)
{
	static const unsigned char values[] = { 0, 1, 0x7f, 0xff };
	struct words words = make_words();

	(void)state;
	for (size_t at = 0; at < words.length; at++) {
		for (size_t i = 0; i < sizeof values; i++) {
			struct words altered = words;
			struct listening listening;
			int events, result;

			altered.bytes[at] = (char)values[i];
			listen_to(&listening, &altered);
			result = read_all(&listening, &events);
			assert_true(result <= 0 && events <= 2);
			stop_listening(&listening);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(understands),
		cmocka_unit_test(reports_a_failure),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(altered_anywhere),
	};

	return cmocka_run_group_tests_name("trace-babel-listen", tests, NULL, NULL);
}
