/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SENSOR_CATALOG_H
#define SENSOR_CATALOG_H

/*
 * Catalogs that applications carry: EVENTS "sensor:/usr/bin/app" is what its file declares (a folder in the name makes
 * it a path), EVENTS "sensor:NAME" or "sensor:PROGRAM:NAME" what running applications have told the directory.
 */

#include "event/catalog.h"

#define SENSOR_CATALOG_PREFIX "sensor:"

/* The same as events of the kernel: the applications call it as long as somebody holds their gates open for that. */
#define SENSOR_CATALOG_KERNEL_PREFIX "kernel-sensor:"

/* From here on the catalog can read them. */
void sensor_catalog_supply(struct event_catalog *catalog);

/* Whether text has the outside of one EVENT paragraph: nothing before it, nothing behind it, no comment. */
bool sensor_catalog_is_paragraph(const char *text);

/*
 * Calls one with each paragraph that the ELF file at path carries, until it returns something else than 0, which is
 * returned. The file may be anybody's. Returns how many there were; -ENOENT, -errno: it cannot be read; -ENOEXEC: it is
 * no such file, or what it carries is broken.
 */
int sensor_catalog_each(const char *path, int (*one)(void *context, const char *text), void *context);

#endif
