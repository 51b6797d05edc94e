/* SPDX-License-Identifier: BSD-2-Clause */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER sample

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./provider.h"

#if !defined(PROVIDER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define PROVIDER_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(sample, begin, LTTNG_UST_TP_ARGS(int, number, const char *, text),
			   LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, number, number)
						       lttng_ust_field_string(text, text)))
LTTNG_UST_TRACEPOINT_EVENT(sample, end, LTTNG_UST_TP_ARGS(int, number, unsigned char, code),
			   LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, number, number)
						       lttng_ust_field_integer(unsigned char, code, code)))

#endif

#include <lttng/tracepoint-event.h>
