// SPDX-License-Identifier: BSD-2-Clause
/* Messages between two threads: all of them, in order, whole; those without room counted. */

#include "monitor/queue.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <cmocka.h>

enum { MESSAGES = 200000, LARGEST = 100 };

static bool send(struct monitor_queue *queue, const void *bytes, size_t count)
{
	void *room = monitor_queue_reserve(queue, count);

	if (!room)
		return false;
	memcpy(room, bytes, count);
	monitor_queue_send(queue);
	return true;
}

static void test_full(void **state)
{
	struct monitor_queue queue;
	const char *message;
	size_t bytes;
	int sent = 0;

	(void)state;
	assert_int_equal(monitor_queue_init(&queue, 64), 0);
	assert_null(monitor_queue_look(&queue, &bytes));
	while (send(&queue, "abcdefg", 8))
		sent++;
	assert_int_equal(sent, 2);
	assert_int_equal(queue.overflowed, 1);
	message = monitor_queue_look(&queue, &bytes);
	assert_int_equal(bytes, 8);
	assert_string_equal(message, "abcdefg");
	monitor_queue_drop(&queue);
	assert_true(send(&queue, "hijklmn", 8));
	monitor_queue_drop(&queue);
	assert_null(monitor_queue_reserve(&queue, 65));
	monitor_queue_fini(&queue);
}

/* What is reserved and not sent is not there. */
static void test_reserved(void **state)
{
	struct monitor_queue queue;
	size_t bytes;

	(void)state;
	assert_int_equal(monitor_queue_init(&queue, 256), 0);
	assert_non_null(monitor_queue_reserve(&queue, 30));
	assert_null(monitor_queue_look(&queue, &bytes));
	assert_true(send(&queue, "x", 2));
	assert_string_equal(monitor_queue_look(&queue, &bytes), "x");
	monitor_queue_fini(&queue);
}

static void fill(uint8_t *bytes, uint32_t number, size_t count)
{
	memset(bytes, (int)(number * 31), count);
	memcpy(bytes, &number, sizeof number);
}

static size_t size_of(uint32_t number)
{
	return sizeof number + number * 2654435761u % LARGEST;
}

static void *send_all(void *context)
{
	uint8_t bytes[LARGEST + sizeof(uint32_t)];

	for (uint32_t i = 0; i < MESSAGES; i++) {
		fill(bytes, i, size_of(i));
		while (!send(context, bytes, size_of(i)))
			sched_yield();
	}
	return NULL;
}

static void test_threads(void **state)
{
	struct monitor_queue queue;
	uint8_t expected[LARGEST + sizeof(uint32_t)];
	pthread_t sender;

	(void)state;
	assert_int_equal(monitor_queue_init(&queue, 1024), 0);
	assert_int_equal(pthread_create(&sender, NULL, send_all, &queue), 0);
	for (uint32_t i = 0; i < MESSAGES;) {
		size_t bytes;
		const void *message = monitor_queue_look(&queue, &bytes);

		if (!message) {
			sched_yield();
			continue;
		}
		fill(expected, i, size_of(i));
		assert_int_equal(bytes, size_of(i));
		assert_memory_equal(message, expected, bytes);
		monitor_queue_drop(&queue);
		i++;
	}
	pthread_join(sender, NULL);
	monitor_queue_fini(&queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_reserved),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
