// SPDX-License-Identifier: BSD-2-Clause
/* Heaps against a plain array: whatever is put in, changed and taken out, the first is before all others. */

#include "base/heap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

enum { ROOM = 200, STEPS = 20000 };

struct item {
	uint32_t key;
	uint16_t id;
};

struct model {
	struct item items[ROOM]; /* the heap's */
	size_t count;
	size_t children;
	size_t places[ROOM]; /* by id: from 1 on; 0: not in it */
	uint32_t keys[ROOM];
};

static bool is_before(const void *a, const void *b)
{
	return ((const struct item *)a)->key < ((const struct item *)b)->key;
}

static void on_place(void *context, const void *item, size_t at)
{
	((struct model *)context)->places[((const struct item *)item)->id] = at + 1;
}

static struct heap heap_of(struct model *model)
{
	return (struct heap){ model->items, model->count, sizeof *model->items, model->children, is_before,
			      on_place,     model };
}

static uint32_t random_below(uint32_t limit)
{
	static uint64_t seed = 1;

	seed = seed * 6364136223846793005 + 1442695040888963407;
	return (uint32_t)(seed >> 33) % limit;
}

static void check(const struct model *model)
{
	size_t inside = 0;

	for (size_t i = 1; i < model->count; i++)
		assert_in_range(model->items[(i - 1) / model->children].key, 0, model->items[i].key);
	for (uint16_t id = 0; id < ROOM; id++) {
		if (!model->places[id])
			continue;
		inside++;
		assert_in_range(model->places[id], 1, model->count);
		assert_int_equal(model->items[model->places[id] - 1].id, id);
		assert_int_equal(model->items[model->places[id] - 1].key, model->keys[id]);
	}
	assert_int_equal(inside, model->count);
}

static void put_in(struct model *model, uint16_t id, uint32_t key)
{
	size_t at = model->count++;
	struct heap heap = heap_of(model);

	heap_up(&heap, at, &(struct item){ key, id });
}

static void take_out(struct model *model, uint16_t id)
{
	size_t at = model->places[id] - 1;
	struct item last = model->items[--model->count];
	struct heap heap = heap_of(model);

	model->places[id] = 0;
	if (last.id != id)
		heap_put(&heap, at, &last);
}

static void change(struct model *model, uint16_t id, uint32_t key)
{
	struct heap heap = heap_of(model);
	size_t at = model->places[id] - 1;
	struct item item = { key, id };

	if (random_below(2))
		heap_put(&heap, at, &item);
	else if (key < model->keys[id])
		heap_up(&heap, at, &item);
	else
		heap_down(&heap, at, &item);
}

static void check_with(size_t children)
{
	struct model model = { .children = children };

	for (int step = 0; step < STEPS; step++) {
		uint16_t id = (uint16_t)random_below(ROOM);
		uint32_t key = random_below(50); /* many equal ones */

		if (!model.places[id])
			put_in(&model, id, key);
		else if (random_below(2))
			take_out(&model, id);
		else
			change(&model, id, key);
		model.keys[id] = key;
		check(&model);
	}
	for (uint32_t last = 0, key; model.count; last = key) {
		key = model.items[0].key;
		assert_in_range(key, last, UINT32_MAX);
		take_out(&model, model.items[0].id);
		check(&model);
	}
}

static void the_first_is_before_all_others(void **context)
{
	(void)context;
	check_with(2);
	check_with(3);
	check_with(4);
}

static bool is_less(const void *a, const void *b)
{
	return *(const char *)a < *(const char *)b;
}

static void the_first_child_is_found(void **context)
{
	char letters[] = "adcbezyxwb";
	struct heap heap = { letters, 0, 1, 4, is_less, NULL, NULL };

	(void)context;
	assert_int_equal(heap_child(&heap, 0), 0);
	heap.count = 1;
	assert_int_equal(heap_child(&heap, 0), 1);
	heap.count = 3;
	assert_int_equal(heap_child(&heap, 0), 2);
	heap.count = 10;
	assert_int_equal(heap_child(&heap, 0), 3);
	assert_int_equal(heap_child(&heap, 1), 8);
	assert_int_equal(heap_child(&heap, 2), 9);
	assert_int_equal(heap_child(&heap, 3), 10);
}

/* Without anybody to be told of places. */
static void heaps_sort(void **context)
{
	char letters[] = "fourchildren", sorted[] = "cdefhilnorru";
	struct heap heap = { letters, sizeof letters - 1, 1, 2, is_less, NULL, NULL };

	(void)context;
	for (size_t i = heap.count; i-- > 0;)
		heap_down(&heap, i, &(char){ letters[i] });
	for (size_t i = 0; sorted[i]; i++) {
		assert_int_equal(letters[0], sorted[i]);
		heap.count--;
		heap_down(&heap, 0, &(char){ letters[heap.count] });
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_is_before_all_others),
		cmocka_unit_test(the_first_child_is_found),
		cmocka_unit_test(heaps_sort),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
