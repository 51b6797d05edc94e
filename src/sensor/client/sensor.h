/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SENSOR_CLIENT_SENSOR_H
#define SENSOR_CLIENT_SENSOR_H

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
 * program, before other headers where that is compiled with -std=cXX. Where nobody looks - which is when no directory
 *of sensors runs, or nobody asked it for this type - a sensor costs two loads, and the arguments of the one-line form
 *are not evaluated. No sensor ever fails, waits, or makes a system call or takes memory, but for the first event of a
 *thread and of a child of fork. Any thread may write, signal handlers too. Between write and commit a thread should do
 *nothing but fill: an event in flight holds up readers.
 *
 * Fields: F(type, name, unit, documentation). The types are u8 u16 u32 u64 i8 i16 i32 i64 f64 boolean time addr, and
 * text8 text16 text32 text64 text128 text256, which are arrays of so many characters with their NUL; the one-line form
 * takes strings for them and cuts what is longer. The unit is that of amounts, or what numbers mean: "bytes",
 * "duration", "pid", "flags open" (see asterism's catalogs); else "". Unit and documentation are string literals.
 *
 * docs/sensors.md of asterism says more.
 */

#if __SIZEOF_POINTER__ != 8 || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "asterism/sensor.h is for 64-bit little-endian programs: build without -m32, or without sensors"
#endif

#if defined(ASTERISM_SENSOR_IMPLEMENTATION) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#if defined(__GLIBC__) && !defined(__USE_MISC)
#error "with -std=cXX, include asterism/sensor.h before other headers where ASTERISM_SENSOR_IMPLEMENTATION is defined"
#endif
#endif

#include "sensor/client/fields.h"
#include "sensor/client/provider.h"
#include "sensor/client/write.h"

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
		&asterism_sensor_closed, asterism_sensor_note_##NAME.text, UNITS, 0, 0, NULL, 0               \
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
