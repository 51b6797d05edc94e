/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EVENT_C_HEADER_H
#define EVENT_C_HEADER_H

/*
 * C headers as catalogs (docs/formats/catalog.md): each struct with an id is a type whose events an application raises,
 * and whose fields lie in the application's memory as the compiler lays the struct out.
 *
 * Headers are untrusted: their size, depth and numbers are bounded, and all that is not understood where it matters is
 * an error with its place.
 */

#include "event/catalog.h"

/* Whether the file is such a header, and not a catalog that is called like one. */
bool c_header_is(const struct diag_source *source);

/* As event_catalog_parse. */
int c_header_parse(struct event_catalog *catalog, const struct diag_source *source, struct asterism_diag *diag);

#endif
