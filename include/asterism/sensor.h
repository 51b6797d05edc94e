/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ASTERISM_SENSOR_H
#define ASTERISM_SENSOR_H

/*
 * Events of an application's own, at the price of reading the clock. C11 and C++11; x86-64 and arm64.
 *
 *	#define REQUEST(F) F(u64, id, "", "number") F(u32, bytes, "bytes", "of the body") F(text32, path, "", "asked
 *for") ASTERISM_SENSOR(request_begin, "a request arrives", REQUEST)
 *
 *	ASTERISM_SENSE(request_begin, r->id, r->length, r->path);      one line; or fill the event where it lies:
 *
 *	struct request_begin *e = request_begin_write();
 *	e->id = r->id, e->bytes = r->length;
 *	request_begin_commit(e);
 *
 * Link with -lasterism-sensor, or write `#define ASTERISM_SENSOR_IMPLEMENTATION` before this header in one file of the
 * program, where it comes first. Where nobody looks - which is when no directory of sensors runs, or nobody asked it
 *for this type - a sensor costs two loads, and the arguments of the one-line form are not evaluated. No sensor ever
 *fails, waits, or makes a system call or takes memory, but for the first event of a thread and of a child of fork. Any
 *thread may write, signal handlers too. Between write and commit a thread should do nothing but fill: an event in
 *flight holds up readers.
 *
 * Fields: F(type, name, unit, documentation). The types are u8 u16 u32 u64 i8 i16 i32 i64 f64 boolean time addr, and
 * text8 text16 text32 text64 text128 text256, which are arrays of so many characters with their NUL; the one-line form
 * takes strings for them and cuts what is longer. The unit is that of amounts, or what numbers mean: "bytes",
 * "duration", "pid", "flags open" (see asterism's catalogs); else "". Unit and documentation are string literals.
 *
 * docs/sensors.md of asterism says more.
 */

#if defined(ASTERISM_SENSOR_IMPLEMENTATION) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

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
void asterism_sensor_commit_slowly(const struct asterism_sensor *sensor, void *payload, int is_ordered);

/*
 * For what has no C compiler at hand: a sensor of this paragraph, which is in the notation of catalogs and has payload
 * bytes as the C struct of its fields. NULL: no memory, or too many bytes. Lives as long as the program.
 */
struct asterism_sensor *asterism_sensor_new(const char *text, uint32_t payload_bytes);
int asterism_sensor_is_watched(const struct asterism_sensor *sensor);
void asterism_sensor_write(const struct asterism_sensor *sensor, const void *payload, uint32_t payload_bytes);

ASTERISM_SENSOR_C_END

static inline int asterism_sensor_is_open(const struct asterism_sensor *sensor)
{
	const uint32_t *gate = __atomic_load_n(&sensor->gate, __ATOMIC_ACQUIRE);

	return __builtin_expect(__atomic_load_n(gate, __ATOMIC_RELAXED) & (SENSOR_GATE_RING | SENSOR_GATE_ALWAYS), 0);
}

/* Room for what nobody wants. */
static inline void *asterism_sensor_nowhere(void)
{
	return asterism_sensor_scratch[((uintptr_t)&asterism_sensor_writer >> 12) % ASTERISM_SENSOR_SCRATCHES];
}

static inline uint64_t asterism_sensor_now(uint32_t clock, int is_ordered)
{
	if (clock == RING_CLOCK_TSC) {
#if defined(__x86_64__)
		if (is_ordered)
			__builtin_ia32_lfence();
		return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
		uint64_t ticks;

		if (is_ordered)
			__asm__ volatile("isb" ::: "memory");
		__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
		return ticks;
#endif
	}
	(void)is_ordered;
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

/* Per type of fields: what a member is, an argument, how the one becomes the other, and the word of catalogs. */
#define ASTERISM_SENSOR_NUMBER(to, from) to = from;
#define ASTERISM_SENSOR_TRUTH(to, from)  to = from != 0;
#define ASTERISM_SENSOR_ADDR(to, from)   to = (uint64_t)(uintptr_t)from;
#define ASTERISM_SENSOR_TEXT(to, from)   asterism_sensor_copy(to, sizeof to, from);

#define ASTERISM_SENSOR_MEMBER_u8(name)      uint8_t name;
#define ASTERISM_SENSOR_MEMBER_u16(name)     uint16_t name;
#define ASTERISM_SENSOR_MEMBER_u32(name)     uint32_t name;
#define ASTERISM_SENSOR_MEMBER_u64(name)     uint64_t name;
#define ASTERISM_SENSOR_MEMBER_i8(name)      int8_t name;
#define ASTERISM_SENSOR_MEMBER_i16(name)     int16_t name;
#define ASTERISM_SENSOR_MEMBER_i32(name)     int32_t name;
#define ASTERISM_SENSOR_MEMBER_i64(name)     int64_t name;
#define ASTERISM_SENSOR_MEMBER_f64(name)     double name;
#define ASTERISM_SENSOR_MEMBER_boolean(name) uint8_t name;
#define ASTERISM_SENSOR_MEMBER_time(name)    int64_t name;
#define ASTERISM_SENSOR_MEMBER_addr(name)    uint64_t name;
#define ASTERISM_SENSOR_MEMBER_text8(name)   char name[8];
#define ASTERISM_SENSOR_MEMBER_text16(name)  char name[16];
#define ASTERISM_SENSOR_MEMBER_text32(name)  char name[32];
#define ASTERISM_SENSOR_MEMBER_text64(name)  char name[64];
#define ASTERISM_SENSOR_MEMBER_text128(name) char name[128];
#define ASTERISM_SENSOR_MEMBER_text256(name) char name[256];

#define ASTERISM_SENSOR_TAKE_u8      uint8_t
#define ASTERISM_SENSOR_TAKE_u16     uint16_t
#define ASTERISM_SENSOR_TAKE_u32     uint32_t
#define ASTERISM_SENSOR_TAKE_u64     uint64_t
#define ASTERISM_SENSOR_TAKE_i8      int8_t
#define ASTERISM_SENSOR_TAKE_i16     int16_t
#define ASTERISM_SENSOR_TAKE_i32     int32_t
#define ASTERISM_SENSOR_TAKE_i64     int64_t
#define ASTERISM_SENSOR_TAKE_f64     double
#define ASTERISM_SENSOR_TAKE_boolean int
#define ASTERISM_SENSOR_TAKE_time    int64_t
#define ASTERISM_SENSOR_TAKE_addr    const void *
#define ASTERISM_SENSOR_TAKE_text8   const char *
#define ASTERISM_SENSOR_TAKE_text16  const char *
#define ASTERISM_SENSOR_TAKE_text32  const char *
#define ASTERISM_SENSOR_TAKE_text64  const char *
#define ASTERISM_SENSOR_TAKE_text128 const char *
#define ASTERISM_SENSOR_TAKE_text256 const char *

#define ASTERISM_SENSOR_SET_u8      ASTERISM_SENSOR_NUMBER
#define ASTERISM_SENSOR_SET_u16     ASTERISM_SENSOR_NUMBER
#define ASTERISM_SENSOR_SET_u32     ASTERISM_SENSOR_NUMBER
#define ASTERISM_SENSOR_SET_u64     ASTERISM_SENSOR_NUMBER
#define ASTERISM_SENSOR_SET_i8      ASTERISM_SENSOR_NUMBER
#define ASTERISM_SENSOR_SET_i16     ASTERISM_SENSOR_NUMBER
#define ASTERISM_SENSOR_SET_i32     ASTERISM_SENSOR_NUMBER
#define ASTERISM_SENSOR_SET_i64     ASTERISM_SENSOR_NUMBER
#define ASTERISM_SENSOR_SET_f64     ASTERISM_SENSOR_NUMBER
#define ASTERISM_SENSOR_SET_boolean ASTERISM_SENSOR_TRUTH
#define ASTERISM_SENSOR_SET_time    ASTERISM_SENSOR_NUMBER
#define ASTERISM_SENSOR_SET_addr    ASTERISM_SENSOR_ADDR
#define ASTERISM_SENSOR_SET_text8   ASTERISM_SENSOR_TEXT
#define ASTERISM_SENSOR_SET_text16  ASTERISM_SENSOR_TEXT
#define ASTERISM_SENSOR_SET_text32  ASTERISM_SENSOR_TEXT
#define ASTERISM_SENSOR_SET_text64  ASTERISM_SENSOR_TEXT
#define ASTERISM_SENSOR_SET_text128 ASTERISM_SENSOR_TEXT
#define ASTERISM_SENSOR_SET_text256 ASTERISM_SENSOR_TEXT

#define ASTERISM_SENSOR_WORD_u8      "u8"
#define ASTERISM_SENSOR_WORD_u16     "u16"
#define ASTERISM_SENSOR_WORD_u32     "u32"
#define ASTERISM_SENSOR_WORD_u64     "u64"
#define ASTERISM_SENSOR_WORD_i8      "i8"
#define ASTERISM_SENSOR_WORD_i16     "i16"
#define ASTERISM_SENSOR_WORD_i32     "i32"
#define ASTERISM_SENSOR_WORD_i64     "i64"
#define ASTERISM_SENSOR_WORD_f64     "f64"
#define ASTERISM_SENSOR_WORD_boolean "bool"
#define ASTERISM_SENSOR_WORD_time    "time"
#define ASTERISM_SENSOR_WORD_addr    "addr"
#define ASTERISM_SENSOR_WORD_text8   "string[8]"
#define ASTERISM_SENSOR_WORD_text16  "string[16]"
#define ASTERISM_SENSOR_WORD_text32  "string[32]"
#define ASTERISM_SENSOR_WORD_text64  "string[64]"
#define ASTERISM_SENSOR_WORD_text128 "string[128]"
#define ASTERISM_SENSOR_WORD_text256 "string[256]"

#define ASTERISM_SENSOR_MEMBER(type, name, unit, doc)   ASTERISM_SENSOR_MEMBER_##type(name)
#define ASTERISM_SENSOR_ARGUMENT(type, name, unit, doc) , ASTERISM_SENSOR_TAKE_##type name
#define ASTERISM_SENSOR_FILL(type, name, unit, doc)     ASTERISM_SENSOR_SET_##type(asterism_event->name, name)
#define ASTERISM_SENSOR_FIELD(type, name, unit, doc) \
	"\t" #name ": " ASTERISM_SENSOR_WORD_##type " UNIT " #unit " " #doc ",\n"

#define ASTERISM_SENSOR_PARAGRAPH(NAME, DOC, FIELDS) "EVENT " #NAME " " #DOC " {\n" FIELDS(ASTERISM_SENSOR_FIELD) "}\n"

/* The type in a note of the program's file, for who reads that, and in memory, for the directory. */
#define ASTERISM_SENSOR_DECLARE(NAME, TEXT, UNITS)                                                            \
	static const struct {                                                                                 \
		uint32_t name_bytes, text_bytes, type;                                                        \
		char name[12];                                                                                \
		char text[sizeof(TEXT)];                                                                      \
	} asterism_sensor_note_##NAME __attribute__((section(".note.asterism"), used,                         \
						     aligned(4))) = { 9, sizeof(TEXT), 1, "asterism", TEXT }; \
	ASTERISM_SENSOR_C_BEGIN                                                                               \
	__attribute__((weak, visibility("hidden"))) struct asterism_sensor asterism_sensor_##NAME = {         \
		&asterism_sensor_closed, asterism_sensor_note_##NAME.text, UNITS, 0, 0, NULL                  \
	};                                                                                                    \
	ASTERISM_SENSOR_C_END                                                                                 \
	static __attribute__((constructor(150))) void asterism_sensor_add_##NAME(void)                        \
	{                                                                                                     \
		asterism_sensor_add(&asterism_sensor_##NAME);                                                 \
	}                                                                                                     \
	static __attribute__((constructor(151))) void asterism_sensor_start_##NAME(void)                      \
	{                                                                                                     \
		asterism_sensor_start();                                                                      \
	}                                                                                                     \
	static __attribute__((destructor(150))) void asterism_sensor_remove_##NAME(void)                      \
	{                                                                                                     \
		asterism_sensor_remove(&asterism_sensor_##NAME);                                              \
	}                                                                                                     \
	static inline __attribute__((unused)) int NAME##_is_watched(void)                                     \
	{                                                                                                     \
		return asterism_sensor_is_open(&asterism_sensor_##NAME);                                      \
	}

/* A type of events with fields: struct NAME, and functions NAME_is_watched, NAME_write, NAME_commit, NAME_sense. */
#define ASTERISM_SENSOR(NAME, DOC, FIELDS)                                                                           \
	struct __attribute__((__may_alias__)) NAME {                                                                 \
		FIELDS(ASTERISM_SENSOR_MEMBER)                                                                       \
	};                                                                                                           \
	RING_ASSERT(sizeof(struct NAME) <= SENSOR_PAYLOAD_UNITS_MAX * 8, "a sensor's event has 1 KiB at most");      \
	ASTERISM_SENSOR_DECLARE(NAME, ASTERISM_SENSOR_PARAGRAPH(NAME, DOC, FIELDS), (sizeof(struct NAME) + 7) / 8)   \
	static inline __attribute__((unused)) struct NAME *NAME##_write(void)                                        \
	{                                                                                                            \
		return (struct NAME *)asterism_sensor_begin(&asterism_sensor_##NAME, (sizeof(struct NAME) + 7) / 8); \
	}                                                                                                            \
	static inline __attribute__((unused)) void NAME##_commit(struct NAME *asterism_event)                        \
	{                                                                                                            \
		asterism_sensor_commit(&asterism_sensor_##NAME, asterism_event, 0);                                  \
	}                                                                                                            \
	static inline                                                                                                \
		__attribute__((unused)) void NAME##_sense(int asterism_is_ordered FIELDS(ASTERISM_SENSOR_ARGUMENT))  \
	{                                                                                                            \
		struct NAME *asterism_event = NAME##_write();                                                        \
                                                                                                                     \
		FIELDS(ASTERISM_SENSOR_FILL)                                                                         \
		asterism_sensor_commit(&asterism_sensor_##NAME, asterism_event, asterism_is_ordered);                \
	}

/* A type of events that have nothing but their time and their thread. */
#define ASTERISM_SENSOR_BARE(NAME, DOC)                                                                            \
	ASTERISM_SENSOR_DECLARE(NAME, "EVENT " #NAME " " #DOC " {}\n", 0)                                          \
	static inline __attribute__((unused)) void NAME##_sense(int asterism_is_ordered)                           \
	{                                                                                                          \
		asterism_sensor_commit(&asterism_sensor_##NAME, asterism_sensor_begin(&asterism_sensor_##NAME, 0), \
				       asterism_is_ordered);                                                       \
	}

/* ASTERISM_SENSE(NAME, the fields in their order): at most 24. */
#define ASTERISM_SENSE(...)                                                                                            \
	ASTERISM_SENSE_COUNTED(__VA_ARGS__, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, 0, \
			       ~)                                                                                      \
	(0, __VA_ARGS__)

/* The same, after what the thread knows from others: the clock is not read before what comes first in the program. */
#define ASTERISM_SENSE_ORDERED(...)                                                                                    \
	ASTERISM_SENSE_COUNTED(__VA_ARGS__, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, 0, \
			       ~)                                                                                      \
	(1, __VA_ARGS__)

#define ASTERISM_SENSE_COUNTED(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, which, ...) \
	ASTERISM_SENSE_##which
#define ASTERISM_SENSE_0(ordered, NAME)        \
	do {                                   \
		if (NAME##_is_watched())       \
			NAME##_sense(ordered); \
	} while (0)
#define ASTERISM_SENSE_N(ordered, NAME, ...)                \
	do {                                                \
		if (NAME##_is_watched())                    \
			NAME##_sense(ordered, __VA_ARGS__); \
	} while (0)

#endif

#ifdef ASTERISM_SENSOR_IMPLEMENTATION
#undef ASTERISM_SENSOR_IMPLEMENTATION
#include "sensor/client/client.h"
#endif
