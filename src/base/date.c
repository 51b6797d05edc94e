// SPDX-License-Identifier: BSD-2-Clause
/* Decides how moments of CLOCK_REALTIME look. */

#include "base/date.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void date_print(uint64_t ns, bool utc, char text[DATE_BYTES])
{
	const time_t seconds = (time_t)(ns / 1000000000);
	struct tm date = { 0 };
	char zone[16] = "Z";

	if (utc)
		gmtime_r(&seconds, &date);
	else
		localtime_r(&seconds, &date);
	if (!utc)
		snprintf(zone, sizeof zone, "%c%02ld:%02ld", date.tm_gmtoff < 0 ? '-' : '+',
			 labs(date.tm_gmtoff) / 3600 % 100, labs(date.tm_gmtoff) / 60 % 60);
	snprintf(text, DATE_BYTES, "%04d-%02d-%02dT%02d:%02d:%02d.%09" PRIu64 "%s", date.tm_year + 1900,
		 date.tm_mon + 1, date.tm_mday, date.tm_hour, date.tm_min, date.tm_sec, ns % 1000000000, zone);
}
