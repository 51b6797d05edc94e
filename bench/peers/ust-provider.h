/* SPDX-License-Identifier: BSD-2-Clause */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER asterism_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "ust-provider.h"

#if !defined(UST_PROVIDER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define UST_PROVIDER_H

#include <lttng/tracepoint.h>
#include <stdint.h>

LTTNG_UST_TRACEPOINT_EVENT(asterism_bench, write, LTTNG_UST_TP_ARGS(uint64_t, a, uint64_t, b, uint64_t, c, uint64_t, d),
			   LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, a, a)
						       lttng_ust_field_integer(uint64_t, b, b)
							       lttng_ust_field_integer(uint64_t, c, c)
								       lttng_ust_field_integer(uint64_t, d, d)))

#endif

#include <lttng/tracepoint-event.h>
