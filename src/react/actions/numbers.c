// SPDX-License-Identifier: BSD-2-Clause
/* Looks up signals and errors by name. */

#include "react/react.h"

#include <signal.h>
#include <string.h>
#include <strings.h>

/* The largest that Linux gives is 133; those from 512 on never leave the kernel and would make it begin the call anew.
 */
enum { ERRNO_END = 200 };

int react_signal_number(const char *name)
{
	if (strncasecmp(name, "SIG", 3) == 0)
		name += 3;
	for (int number = 1; number < SIGRTMIN; number++) {
		const char *known = sigabbrev_np(number);

		if (known && strcasecmp(known, name) == 0)
			return number;
	}
	return 0;
}

bool react_is_errno(int64_t number)
{
	return number > 0 && number < ERRNO_END && strerrorname_np((int)number);
}

int react_errno_number(const char *name)
{
	for (int number = 1; number < ERRNO_END; number++)
		if (react_is_errno(number) && strcasecmp(strerrorname_np(number), name) == 0)
			return number;
	return 0;
}
