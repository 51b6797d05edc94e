// SPDX-License-Identifier: BSD-2-Clause
/*
 * In the statically linked program alone: no library is ever loaded. The C library would do so for babeltrace2 and
 * debuginfod, and for names of users and hosts where /etc/nsswitch.conf names more than files: it needs its own very
 * version beside the program then, and crashes with others. What asks for a library hears that there is none.
 */

#include <dlfcn.h>
#include <nss.h>
#include <stddef.h>

void *dlopen(const char *name, int flags)
{
	(void)name;
	(void)flags;
	return NULL;
}

void *dlsym(void *library, const char *name)
{
	(void)library;
	(void)name;
	return NULL;
}

char *dlerror(void)
{
	static char text[] = "this program is linked statically, and loads no libraries";

	return text;
}

/* Before main, as any function may ask for a name. */
__attribute__((constructor)) static void name_by_files(void)
{
	__nss_configure_lookup("passwd", "files");
	__nss_configure_lookup("group", "files");
	__nss_configure_lookup("hosts", "files dns");
	__nss_configure_lookup("services", "files");
}
