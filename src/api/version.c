// SPDX-License-Identifier: BSD-2-Clause
/* Tells the version. That it is that of the headers is a matter of a test. */

#include "api/export.h"

const char *asterism_version(void)
{
	return ASTERISM_VERSION;
}
