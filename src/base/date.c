// SPDX-License-Identifier: BSD-2-Clause
/* Formats moments of CLOCK_REALTIME. */

#include "base/date.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* Takes a fraction of a second, of which nine digits count. */
static const char *read_fraction(const char *at, uint64_t *ns)
{
	*ns = 0;
	if ((*at != '.' && *at != ',') || !isdigit((unsigned char)at[1]))
		return at;
	at++;
	for (uint64_t unit = 100000000; isdigit((unsigned char)*at); at++, unit /= 10)
		*ns += unit * (uint64_t)(*at - '0');
	return at;
}

/* Takes "Z", "+01:00", "+0100" or nothing; NULL: it is none of these. */
static const char *read_zone(const char *at, int64_t *seconds)
{
	int hours, minutes, used = 0;
	char sign = *at;

	*seconds = 0;
	if (sign == 'Z' || sign == 'z')
		return at + 1;
	if (sign != '+' && sign != '-')
		return at;
	if (!isdigit((unsigned char)at[1]) || sscanf(at + 1, "%2d%*1[:]%2d%n", &hours, &minutes, &used) < 2)
		used = 0;
	if (!used && sscanf(at + 1, "%2d%2d%n", &hours, &minutes, &used) < 2)
		return NULL;
	*seconds = (hours * 60 + minutes) * (sign == '-' ? -60 : 60);
	return used ? at + 1 + used : NULL;
}

bool date_read(const char *text, size_t length, uint64_t *ns)
{
	char copy[64];
	struct tm date = { 0 };
	int64_t zone;
	uint64_t fraction;

	if (length >= sizeof copy || memchr(text, 0, length))
		return false;
	memcpy(copy, text, length);
	copy[length] = 0;
	const char *at = strptime(copy, "%Y-%m-%d", &date);

	at = at && (*at == 'T' || *at == 't' || *at == ' ') ? strptime(at + 1, "%H:%M:%S", &date) : NULL;
	if (!at)
		return false;
	at = read_zone(read_fraction(at, &fraction), &zone);
	int64_t seconds = (int64_t)timegm(&date) - zone;

	if (!at || *at || seconds < 0 || seconds >= INT64_MAX / 1000000000)
		return false;
	*ns = (uint64_t)seconds * 1000000000 + fraction;
	return true;
}
