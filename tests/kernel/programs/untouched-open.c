// SPDX-License-Identifier: BSD-2-Clause
/* The shortest program that opens a file by a literal, whose page nobody has touched before; by another call if told.
 */

#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int count, char **arguments)
{
	struct open_how how = { .flags = O_RDONLY };

	if (count > 1 && strcmp(arguments[1], "open") == 0)
		return syscall(SYS_open, "/etc/shadow", O_RDONLY) < 0;
	if (count > 1)
		return syscall(SYS_openat2, AT_FDCWD, "/etc/shadow", &how, sizeof how) < 0;
	return open("/etc/shadow", O_RDONLY) < 0;
}
