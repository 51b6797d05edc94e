// SPDX-License-Identifier: BSD-2-Clause
/*
 * Explores how those who borrow a ring for an event can come in each other's way (docs/internals/decisions/0019). The
 * code is that of src/sensor/client, whose every atomic access is a point where another may go on; a reader drains the
 * rings between. Each event must be found once, whole, in the name of who raised it; what found no ring must be
 * counted.
 *
 * Two borrowers of one ring are explored exhaustively (of two rings, too, with the argument `large`), three with two
 * events each are drawn. What is read and written of a ring's
 * memory is explored elsewhere (tests/unit/ring). Every defect of `defects` is one that must be found.
 */

#include "ring/elements.h"
#include "ring/exclusive.h"
#include "sensor/client/write.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <ucontext.h>
#include <cmocka.h>

enum defect {
	NONE,
	TAKES_ANY,     /* a ring is taken whoever has it */
	LOOKS_FIRST,   /* it is looked at, and taken, in two steps */
	RETURNS_EARLY, /* it is given back before the commit */
	NOBODYS_NAME,  /* no context stands before the event of another */
	FORGETS_DROPS, /* an event that found no ring is not counted */
	DEFECTS,
};

static enum defect defect;
static void model_yield(void);
static int model_exchange(uint64_t *word, uint64_t *old, uint64_t new);
static uint64_t *model_borrow(struct ring_exclusive *ring, const struct ring_borrower *by, uint32_t units);
static void model_return(struct ring_exclusive *ring, uint16_t id, uint64_t ts);

#define __atomic_load_n(word, order)           (model_yield(), __atomic_load_n(word, order))
#define __atomic_store_n(word, value, order)   (model_yield(), __atomic_store_n(word, value, order))
#define __atomic_fetch_add(word, value, order) (model_yield(), model_add(word, value))
#define __atomic_compare_exchange_n(word, old, new, weak, yes, no) \
	(sizeof *(word) == 8 && model_exchange((uint64_t *)(void *)(word), (uint64_t *)(void *)(old), (uint64_t)(new)))
#define ring_exclusive_borrow model_borrow
#define ring_exclusive_return model_return

static uint64_t model_add(uint64_t *word, uint64_t value)
{
	*word += defect == FORGETS_DROPS ? 0 : value;
	return *word;
}

#define ASTERISM_SENSOR_IMPLEMENTATION
#include "sensor/client/sensor.h"

#undef __atomic_load_n
#undef __atomic_store_n
#undef __atomic_fetch_add
#undef __atomic_compare_exchange_n
#undef ring_exclusive_borrow
#undef ring_exclusive_return

enum { ACTORS = 3, STACK = 1 << 16, SLOTS = 8, CHOICES_MAX = 512, DRAWN = 60000, EVENTS = 2, UNITS = 2, ID = 1 };

struct actor {
	ucontext_t context;
	char stack[STACK];
	uint32_t tid, events;
	bool is_over;
};

static const struct sensor_shape shape = { SLOTS, 64, 4 };
static struct {
	struct ring_control control;
	uint64_t commits[4];
	uint64_t data[64 * 4];
} memory[SLOTS];
static struct sensor_slot slots[SLOTS];
static struct asterism_client_writers writers;
static struct ring_elements readers[SLOTS];
static const uint32_t units[] = { RING_ELEMENT_NONE, UNITS };
static struct actor actors[ACTORS];
static struct actor *running;
static ucontext_t scheduler;
static uint32_t seen[ACTORS][EVENTS];
static bool violated, is_drawn, is_large;
static uint8_t choices[CHOICES_MAX], limits[CHOICES_MAX];
static uint32_t made, known;
static uint64_t seed = 88172645463325252u;

static void model_yield(void)
{
	if (running)
		swapcontext(&running->context, &scheduler);
}

static int model_exchange(uint64_t *word, uint64_t *old, uint64_t new)
{
	model_yield();
	bool is_free = *word == *old || defect == TAKES_ANY;

	if (is_free && defect == LOOKS_FIRST)
		model_yield();
	if (is_free)
		*word = new;
	return is_free;
}

static uint64_t *model_borrow(struct ring_exclusive *ring, const struct ring_borrower *by, uint32_t count)
{
	model_yield();
	if (defect == NOBODYS_NAME && ring->limit)
		return ring_exclusive_reserve(ring, count);
	return ring_exclusive_borrow(ring, by, count);
}

static void model_return(struct ring_exclusive *ring, uint16_t id, uint64_t ts)
{
	if (defect == RETURNS_EARLY)
		slots[(struct asterism_sensor_writer *)(void *)ring - writers.items].owner = 0;
	model_yield();
	ring_exclusive_return(ring, id, ts);
}

static uint32_t choose(uint32_t count)
{
	if (is_drawn) {
		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		return (uint32_t)(seed >> 33) % count;
	}
	if (made >= CHOICES_MAX)
		fail_msg("too many steps");
	if (made == known)
		choices[known++] = 0;
	limits[made] = (uint8_t)count;
	return choices[made++];
}

static void act(int index)
{
	struct actor *actor = &actors[index];
	struct ring_borrower by = { .who = { .pid = 1, .tid = actor->tid, .comm = "borrower" } };

	for (uint32_t i = 0; i < actor->events; i++) {
		uint64_t *payload = asterism_client_borrow(&writers, &by, UNITS);

		payload[0] = (uint64_t)index;
		model_yield();
		payload[1] = i;
		asterism_client_commit(&asterism_client, ID, payload, 0);
	}
	actor->is_over = true;
	swapcontext(&actor->context, &scheduler);
}

static void drain(void)
{
	for (uint32_t i = writers.own; i < shape.slots; i++) {
		struct ring_element element;
		int result;

		while ((result = ring_elements_look(&readers[i], &element)) == 1) {
			uint64_t who = element.payload[0], number = element.payload[1];

			violated |= !ring_elements_take(&readers[i]) || who >= ACTORS || number >= EVENTS ||
				    readers[i].who.tid != 100 + who || seen[who % ACTORS][number % EVENTS]++;
		}
		violated |= result < 0;
	}
}

static void open_all(uint32_t own)
{
	memset(memory, 0, sizeof memory);
	memset(slots, 0, sizeof slots);
	memset(seen, 0, sizeof seen);
	memset(&writers, 0, sizeof writers);
	writers.shape = shape;
	writers.own = own;
	writers.slots = slots;
	writers.is_ready = 1;
	asterism_client.writers = &writers;
	for (uint32_t i = 0; i < SLOTS; i++) {
		struct ring ring = { &memory[i].control, memory[i].data, shape.sub_units, shape.sub_count };

		ring_exclusive_init(&writers.items[i].ring, ring.control, ring.data, ring.sub_units, ring.sub_count);
		ring_elements_init(&readers[i], &ring, units, 2);
	}
}

/* getcontext returns twice as far as the compiler knows, so nothing is kept across it. */
static void prepare(struct actor *actor, int index)
{
	getcontext(&actor->context);
	actor->context.uc_stack.ss_sp = actor->stack;
	actor->context.uc_stack.ss_size = sizeof actor->stack;
	actor->context.uc_link = NULL;
	makecontext(&actor->context, (void (*)(void))act, 1, index);
}

static void start(uint32_t count, uint32_t events)
{
	for (uint32_t i = 0; i < count; i++) {
		actors[i].tid = 100 + i;
		actors[i].events = events;
		actors[i].is_over = false;
		prepare(&actors[i], (int)i);
	}
}

/* count borrowers of so many rings, and a reader that drains once among them and at the end. */
static void run(uint32_t count, uint32_t lent, uint32_t events)
{
	uint32_t found = 0;
	bool has_drained = false;

	open_all(SLOTS - lent);
	start(count, events);
	made = 0;
	for (;;) {
		struct actor *able[ACTORS];
		uint32_t able_count = 0, choice;

		for (uint32_t i = 0; i < count; i++)
			if (!actors[i].is_over)
				able[able_count++] = &actors[i];
		if (!able_count)
			break;
		choice = choose(able_count + (is_drawn && !has_drained));
		if (choice == able_count) {
			drain();
			has_drained = true;
			continue;
		}
		running = able[choice];
		swapcontext(&scheduler, &running->context);
		running = NULL;
		if (!is_drawn)
			drain();
	}
	drain();
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = 0; j < events; j++)
			found += seen[i][j];
	violated |= found + slots[0].dropped != count * events;
	for (uint32_t i = 0; i < SLOTS; i++)
		violated |= slots[i].owner != 0;
}

static bool next_run(void)
{
	known = made;
	while (known && choices[known - 1] + 1 == limits[known - 1])
		known--;
	if (known)
		choices[known - 1]++;
	return known;
}

static uint64_t explore(uint32_t lent)
{
	uint64_t runs = 0;

	is_drawn = false;
	known = 0;
	do {
		run(2, lent, 1);
		runs++;
	} while (!violated && next_run());
	return runs;
}

static void draw(void)
{
	is_drawn = true;
	for (uint32_t i = 0; i < DRAWN && !violated; i++)
		run(ACTORS, 1 + i % 2, EVENTS);
}

static void test_all(void **unused)
{
	uint64_t runs;

	(void)unused;
	defect = NONE;
	violated = false;
	runs = explore(1);
	if (is_large)
		runs += explore(2);
	assert_false(violated);
	assert_true(runs > 1000);
	print_message("%llu runs\n", (unsigned long long)runs);
	draw();
	assert_false(violated);
}

static void test_defects(void **unused)
{
	(void)unused;
	for (defect = NONE + 1; defect < DEFECTS; defect++) {
		violated = false;
		explore(1);
		if (!violated)
			draw();
		if (!violated)
			fail_msg("defect %d is not found", defect);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_all), cmocka_unit_test(test_defects) };

	is_large = argc > 1 && !strcmp(argv[1], "large");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
