/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SENSOR_CLIENT_PROVIDER_H
#define SENSOR_CLIENT_PROVIDER_H

/*
 * Types of events that are known only when the program runs: those of plug-ins, of scripts, of tables. They are as
 * those that macros declare, but for what a rule can know before: that, a catalog must say.
 */

#include "sensor/client/write.h"

/* As F(type, name, unit, documentation): the type is the word that stands there, "u64", "text32". NULL is "". */
struct asterism_sensor_field {
	const char *type, *name, *unit, *documentation;
};

ASTERISM_SENSOR_C_BEGIN

/*
 * A type of events with count fields, in their order; none of the texts need live on. Who reads "*" or that name does
 * so from now on, also who began to before. The same name with the same fields is the same type; each registration has
 * an unregistration. May wait up to some hundred ms for the directory; not for signal handlers.
 *
 * Raises the event `sensor_registration` first, which says the type's name.
 *
 * Returns NULL and errno: EINVAL: a name is no identifier, a type no word of F(), two fields have one name; E2BIG: more
 * than 1 KiB in an event, or of text than a message has room for; EEXIST: the program has other fields under that
 * name; ENOSPC: it has had 512 types; ENOMEM.
 */
struct asterism_sensor *asterism_sensor_register(const char *name, const char *documentation,
						 const struct asterism_sensor_field *fields, size_t count);

/* Its last event has been written; no other thread is in a call with it, nor will be. What was written stays readable.
 */
void asterism_sensor_unregister(struct asterism_sensor *sensor);

/* Whether somebody looks: else what would be written need not be gathered. */
int asterism_sensor_is_watched(const struct asterism_sensor *sensor);

/*
 * An event, if somebody looks: data has the fields one after the other, as a C struct has them - numbers aligned to
 * their size, texts to 1 - of which those behind bytes are 0. Threads, signal handlers and costs as with macros.
 * Returns 0; -1: the type has no room for so many bytes, and nothing was written.
 */
int asterism_sensor_log(const struct asterism_sensor *sensor, const void *data, size_t bytes);

/* The size of that struct, rounded up to a multiple of 8. */
size_t asterism_sensor_bytes(const struct asterism_sensor *sensor);

ASTERISM_SENSOR_C_END

#endif
