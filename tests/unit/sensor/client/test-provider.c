// SPDX-License-Identifier: BSD-2-Clause
/* Types that are made when the program runs: what is taken, what is refused, and what the directory hears of them. */

#include "sensor/catalog.h"
#include "sensor/client/sensor.h"
#include "sensor/layout.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define NUMBER(F) F(u64, number, "", "")
ASTERISM_SENSOR(compiled, "with the program", NUMBER)

static const struct asterism_sensor_field order[] = { { "u8", "kind", "", "" },
						      { "f64", "price", "bytes", "with \"quotes\"\nand more" },
						      { "text16", "item", NULL, NULL },
						      { "boolean", "fine", NULL, NULL } };

struct order {
	uint8_t kind;
	double price;
	char item[16];
	uint8_t fine;
};

static int refusal(const char *name, const char *type, const char *field)
{
	const struct asterism_sensor_field one = { type, field, NULL, NULL };

	errno = 0;
	assert_null(asterism_sensor_register(name, NULL, &one, 1));
	return errno;
}

static void test_refused(void **state)
{
	struct asterism_sensor_field wide[5] = { { "text256", "a", "", "" },
						 { "text256", "b", "", "" },
						 { "text256", "c", "", "" },
						 { "text256", "d", "", "" },
						 { "u8", "e", "", "" } };
	struct asterism_sensor *sensor;

	(void)state;
	assert_int_equal(refusal("ok", "u7", "a"), EINVAL);
	assert_int_equal(refusal("ok", NULL, "a"), EINVAL);
	assert_int_equal(refusal("ok", "u8", ""), EINVAL);
	assert_int_equal(refusal("ok", "u8", NULL), EINVAL);
	assert_int_equal(refusal("ok", "u8", "a: u8 }"), EINVAL);
	assert_int_equal(refusal("1st", "u8", "a"), EINVAL);
	assert_int_equal(refusal(NULL, "u8", "a"), EINVAL);
	assert_int_equal(refusal("a_name_that_is_longer_than_any_name_of_a_type_of_events_may_ever_be", "u8", "a"),
			 EINVAL);
	assert_int_equal(refusal("compiled", "u8", "a"), EEXIST);
	assert_null(asterism_sensor_register("wide", "", wide, 5));
	assert_int_equal(errno, E2BIG);
	sensor = asterism_sensor_register("wide", "", wide, 4);
	assert_non_null(sensor);
	assert_int_equal(asterism_sensor_bytes(sensor), 1024);
	wide[1].name = "a";
	assert_null(asterism_sensor_register("twice", "", wide, 2));
	assert_int_equal(errno, EINVAL);
	asterism_sensor_unregister(sensor);
	asterism_sensor_unregister(NULL);
}

static void test_shape(void **state)
{
	struct asterism_sensor *sensor = asterism_sensor_register("order", "one \\ comes", order, 4), *again;
	char larger[64] = "";

	(void)state;
	assert_non_null(sensor);
	assert_true(sensor_catalog_is_paragraph(sensor->text));
	assert_int_equal(asterism_sensor_bytes(sensor), sizeof(struct order));
	assert_int_equal(asterism_sensor_log(sensor, larger, sizeof larger), -1);
	assert_int_equal(asterism_sensor_log(sensor, larger, sizeof(struct order)), 0);
	assert_false(asterism_sensor_is_watched(sensor));
	assert_null(asterism_sensor_register("order", "one \\ comes", order, 3));
	assert_int_equal(errno, EEXIST);
	again = asterism_sensor_register("order", "one \\ comes", order, 4);
	assert_non_null(again);
	assert_int_equal(again->id, sensor->id);
	asterism_sensor_unregister(sensor);
	assert_null(asterism_sensor_register("order", "", order, 3));
	asterism_sensor_unregister(again);
	sensor = asterism_sensor_register("order", "", order, 3);
	assert_non_null(sensor);
	asterism_sensor_unregister(sensor);
}

/* Types that come and go by thousands are one; different ones have an end. */
static void test_many(void **state)
{
	uint32_t count = 0;

	(void)state;
	for (int i = 0; i < 2000; i++)
		asterism_sensor_unregister(asterism_sensor_register("order", "", order, 2));
	for (; count < 1000; count++) {
		char name[32];
		struct asterism_sensor *sensor;

		snprintf(name, sizeof name, "number_%u", count);
		sensor = asterism_sensor_register(name, "", order, 1);
		if (!sensor)
			break;
		asterism_sensor_unregister(sensor);
	}
	assert_int_equal(errno, ENOSPC);
	assert_in_range(count, SENSOR_TYPES_MAX - 16, SENSOR_TYPES_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_refused), cmocka_unit_test(test_shape),
					    cmocka_unit_test(test_many) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
