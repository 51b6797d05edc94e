// SPDX-License-Identifier: BSD-2-Clause
/* Ways around in graphs given as matrices: found where there is one, in a known order, and against a plain closure. */

#include "base/alloc.h"
#include "base/circle.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum { VERTICES = 6 };

struct matrix {
	bool leads[VERTICES][VERTICES];
};

static uint32_t follow(void *context, uint32_t vertex, uint64_t *edge)
{
	const struct matrix *matrix = context;

	while (*edge < VERTICES) {
		uint32_t next = (uint32_t)(*edge)++;

		if (matrix->leads[vertex][next])
			return next;
	}
	return CIRCLE_END;
}

static int find(struct matrix *matrix, struct circle *found)
{
	const struct circle_graph graph = { VERTICES, follow, matrix };

	return circle_find(&graph, found);
}

static void none_is_found(void **context)
{
	struct matrix matrix = { 0 };
	const struct circle_graph empty = { 0, follow, &matrix };
	struct circle found;

	(void)context;
	assert_int_equal(circle_find(&empty, &found), 0);
	assert_int_equal(find(&matrix, &found), 0);
	for (int i = 0; i < VERTICES; i++) {
		for (int j = i + 1; j < VERTICES; j++)
			matrix.leads[i][j] = true;
	}
	assert_int_equal(find(&matrix, &found), 0);
}

static void the_way_is_reported(void **context)
{
	struct matrix matrix = { 0 };
	struct circle found;

	(void)context;
	matrix.leads[0][2] = matrix.leads[2][4] = matrix.leads[2][3] = matrix.leads[3][1] = matrix.leads[1][2] = true;
	assert_int_equal(find(&matrix, &found), 1);
	assert_int_equal(found.count, 3);
	assert_int_equal(found.vertices[0], 2);
	assert_int_equal(found.vertices[1], 3);
	assert_int_equal(found.vertices[2], 1);
	assert_int_equal(found.edge, 3); /* behind that from 1 to 2 */
	alloc_free(found.vertices);
	matrix.leads[0][0] = true;
	assert_int_equal(find(&matrix, &found), 1);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.vertices[0], 0);
	alloc_free(found.vertices);
}

static bool has_circle(const struct matrix *matrix)
{
	struct matrix closed = *matrix;

	for (int k = 0; k < VERTICES; k++) {
		for (int i = 0; i < VERTICES; i++) {
			for (int j = 0; j < VERTICES; j++)
				closed.leads[i][j] |= closed.leads[i][k] && closed.leads[k][j];
		}
	}
	for (int i = 0; i < VERTICES; i++) {
		if (closed.leads[i][i])
			return true;
	}
	return false;
}

static void random_graphs_are_judged(void **context)
{
	uint64_t seed = 1;
	unsigned with = 0;

	(void)context;
	for (int round = 0; round < 5000; round++) {
		struct matrix matrix = { 0 };
		struct circle found;

		for (int edges = round % 9; edges > 0; edges--) {
			seed = seed * 6364136223846793005 + 1442695040888963407;
			matrix.leads[(seed >> 33) % VERTICES][(seed >> 48) % VERTICES] = true;
		}
		assert_int_equal(find(&matrix, &found), has_circle(&matrix));
		if (!has_circle(&matrix))
			continue;
		with++;
		for (uint32_t i = 0; i < found.count; i++)
			assert_true(matrix.leads[found.vertices[i]][found.vertices[(i + 1) % found.count]]);
		alloc_free(found.vertices);
	}
	assert_in_range(with, 1000, 4000);
}

static void memory_may_be_short(void **context)
{
	struct matrix matrix = { .leads = { [1] = { [1] = true } } };
	struct circle found;

	(void)context;
	for (unsigned long n = 1; n <= 3; n++) {
		alloc_fail_at(n);
		assert_int_equal(find(&matrix, &found), -ENOMEM);
	}
	alloc_fail_at(4);
	assert_int_equal(find(&matrix, &found), 1);
	alloc_fail_at(0);
	alloc_free(found.vertices);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(none_is_found),
		cmocka_unit_test(the_way_is_reported),
		cmocka_unit_test(random_graphs_are_judged),
		cmocka_unit_test(memory_may_be_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
