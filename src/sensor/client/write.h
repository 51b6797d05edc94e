/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SENSOR_CLIENT_WRITE_H
#define SENSOR_CLIENT_WRITE_H

/* What the macros of sensor/client/sensor.h come to: an event is begun and committed in the thread's own ring, inline.
 */

#include "ring/counter.h"
#include "ring/exclusive.h"
#include "sensor/layout.h"

#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
#define ASTERISM_SENSOR_C_BEGIN extern "C" {
#define ASTERISM_SENSOR_C_END   }
#else
#define ASTERISM_SENSOR_C_BEGIN
#define ASTERISM_SENSOR_C_END
#endif

ASTERISM_SENSOR_C_BEGIN

enum { ASTERISM_SENSOR_SCRATCHES = 16 };

/* What follows is for the macros below, and may change: programs use it through them alone. */

struct asterism_sensor {
	const uint32_t *gate;
	const char *text; /* its paragraph of a catalog */
	uint32_t units;   /* of its payload */
	uint32_t id;
	uint32_t uses;
	struct asterism_sensor *next;
	uint64_t key; /* sensor/key.h */
};

/* What a thread writes with. In memory that a child of fork finds zeroed. */
struct asterism_sensor_writer {
	struct ring_exclusive ring;
	uint64_t is_idle; /* its thread may begin an event */
	void *open;       /* that it has begun */
	uint32_t tid;     /* its thread; 0: none */
	uint32_t clock;
};

extern __thread struct asterism_sensor_writer *asterism_sensor_writer __attribute__((tls_model("initial-exec")));
extern const uint32_t asterism_sensor_closed;
extern uint64_t asterism_sensor_scratch[ASTERISM_SENSOR_SCRATCHES][SENSOR_PAYLOAD_UNITS_MAX];

void asterism_sensor_add(struct asterism_sensor *sensor);
void asterism_sensor_remove(struct asterism_sensor *sensor);
void asterism_sensor_start(void);
uint64_t asterism_sensor_monotonic_ns(void);
void *asterism_sensor_begin_slowly(const struct asterism_sensor *sensor);
void asterism_sensor_call(const struct asterism_sensor *sensor, const void *payload);
void asterism_sensor_commit_slowly(const struct asterism_sensor *sensor, void *payload, int is_ordered);

ASTERISM_SENSOR_C_END

static inline int asterism_sensor_is_open(const struct asterism_sensor *sensor)
{
	const uint32_t *gate = __atomic_load_n(&sensor->gate, __ATOMIC_ACQUIRE);

	return __builtin_expect(__atomic_load_n(gate, __ATOMIC_RELAXED) &
					(SENSOR_GATE_RING | SENSOR_GATE_KERNEL | SENSOR_GATE_ALWAYS),
				0);
}

/* Whether programs in the kernel wait for it, too. */
static inline int asterism_sensor_is_called(const struct asterism_sensor *sensor)
{
	const uint32_t *gate = __atomic_load_n(&sensor->gate, __ATOMIC_ACQUIRE);

	return __builtin_expect(__atomic_load_n(gate, __ATOMIC_RELAXED) & SENSOR_GATE_KERNEL, 0);
}

/* Room for what nobody wants. */
static inline void *asterism_sensor_nowhere(void)
{
	return asterism_sensor_scratch[((uintptr_t)&asterism_sensor_writer >> 12) % ASTERISM_SENSOR_SCRATCHES];
}

static inline uint64_t asterism_sensor_now(uint32_t clock, int is_ordered)
{
	if (clock == RING_CLOCK_TSC)
		return ring_counter(is_ordered);
	return asterism_sensor_monotonic_ns();
}

/* Always room for the payload. */
static inline void *asterism_sensor_begin(const struct asterism_sensor *sensor, uint32_t units)
{
	struct asterism_sensor_writer *writer = asterism_sensor_writer;
	void *payload;

	if (!asterism_sensor_is_open(sensor))
		return asterism_sensor_nowhere();
	if (__builtin_expect(!writer->is_idle, 0))
		return asterism_sensor_begin_slowly(sensor);
	writer->is_idle = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	payload = ring_exclusive_reserve(&writer->ring, units);
	writer->open = payload;
	return payload;
}

static inline void asterism_sensor_commit(const struct asterism_sensor *sensor, void *payload, int is_ordered)
{
	struct asterism_sensor_writer *writer = asterism_sensor_writer;

	if (__builtin_expect(writer->open != payload, 0)) {
		asterism_sensor_commit_slowly(sensor, payload, is_ordered);
		return;
	}
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	ring_exclusive_commit(&writer->ring, (uint16_t)sensor->id, asterism_sensor_now(writer->clock, is_ordered));
	if (asterism_sensor_is_called(sensor)) /* as long as no signal handler writes to this ring */
		asterism_sensor_call(sensor, payload);
	writer->open = NULL;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	writer->is_idle = 1;
}

static inline void asterism_sensor_copy(char *to, size_t size, const char *from)
{
	size_t length = 0;

	while (from && length < size - 1 && from[length]) {
		to[length] = from[length];
		length++;
	}
	memset(to + length, 0, size - length);
}

#endif
