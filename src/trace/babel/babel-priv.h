/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TRACE_BABEL_BABEL_PRIV_H
#define TRACE_BABEL_BABEL_PRIV_H

/* The seam between the reading process and the module that uses libbabeltrace2. */

#include "trace/babel/babel.h"
#include "trace/ctf/lttng-map.h"

#include <stddef.h>

/* What the module is asked to read. */
struct babel_request {
	const char *name;           /* what messages call it */
	const char *const *folders; /* each holds one file called metadata */
	size_t folder_count;
	struct event_catalog *catalog;
	struct lttng_map *map; /* taken on success */
	struct asterism_diag *diag;
};

#define BABEL_MODULE "asterism-babel.so"
#define BABEL_SYMBOL "trace_babel_module_open"

/* The one symbol of the module. Returns as trace_babel_new. */
typedef int babel_open_fn(const struct babel_request *request, struct event_source **made);
babel_open_fn trace_babel_module_open;

#endif
