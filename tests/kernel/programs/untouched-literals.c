// SPDX-License-Identifier: BSD-2-Clause
/*
 * What shipped rules look for, done by an ordinary program whose names are constants that nobody has looked at before
 * the kernel does: `untouched-literals WHAT [CALL]`, where CALL is the call that opens.
 */

#include "alone.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const ALONE(char[16], secret) = { .it = "/etc/shadow" };
static const ALONE(char[16], nowhere) = { .it = "/nowhere/wanted" };
static const ALONE(char[32], fetched) = { .it = "/tmp/asterism-untouched" };
static const ALONE(char[16], shell) = { .it = "/bin/true" };
static const ALONE(char[16], outside) = { .it = ".." };

static int open_by(const char *call, const char *path, int flags)
{
	struct open_how how = { .flags = (unsigned int)flags, .mode = flags & O_CREAT ? 0700 : 0 };

	if (strcmp(call, "open") == 0)
		return (int)syscall(SYS_open, path, flags, 0700);
	if (strcmp(call, "openat2") == 0)
		return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
	if (strcmp(call, "creat") == 0)
		return (int)syscall(SYS_creat, path, 0700);
	return open(path, flags, 0700);
}

static int missing(const char *call)
{
	return open_by(call, nowhere.it, O_RDONLY) >= 0;
}

/* After something has come from a socket. */
static int receive(const char *call)
{
	int ends[2];
	char byte;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) || write(ends[0], "x", 1) != 1 || recv(ends[1], &byte, 1, 0) != 1)
		return 1;
	return open_by(call, secret.it, O_RDONLY) < 0;
}

/* Becomes a program that it writes after connecting to itself. */
static int fetch(const char *call)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof address;
	int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
	int from = open("/bin/true", O_RDONLY | O_CLOEXEC), to;
	char bytes[65536];
	ssize_t count;

	if (bind(server, (struct sockaddr *)&address, length) || listen(server, 1) ||
	    getsockname(server, (struct sockaddr *)&address, &length) ||
	    connect(client, (struct sockaddr *)&address, length))
		return 1;
	to = open_by(call, fetched.it, O_WRONLY | O_CREAT | O_TRUNC);
	while ((count = read(from, bytes, sizeof bytes)) > 0)
		if (write(to, bytes, (size_t)count) != count)
			return 1;
	close(to);
	return execl(fetched.it, "true", (char *)NULL);
}

/* What a dropper does that runs from a folder for temporary files. */
static int drop(const char *call)
{
	for (int i = 0; i < 3; i++)
		if (fork() == 0)
			_exit(0);
	while (wait(NULL) > 0)
		;
	DIR *folder = opendir("/");

	while (readdir(folder))
		;
	return open_by(call, fetched.it, O_WRONLY | O_CREAT) < 0;
}

static int escape(const char *call)
{
	return chroot("jail") || open_by(call, outside.it, O_RDONLY) < 0;
}

static int serve(const char *call)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(9) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	(void)call;
	if (connect(fd, (struct sockaddr *)&address, sizeof address) || dup2(fd, 0) || dup2(fd, 1) != 1)
		return 1;
	return execl(shell.it, "true", (char *)NULL);
}

static const struct {
	const char *name;
	int (*act)(const char *call);
} acts[] = { { "missing", missing }, { "receive", receive }, { "fetch", fetch },
	     { "drop", drop },       { "escape", escape },   { "serve", serve } };

int main(int count, char **names)
{
	for (size_t i = 0; count > 1 && i < sizeof acts / sizeof *acts; i++)
		if (strcmp(names[1], acts[i].name) == 0)
			return acts[i].act(count > 2 ? names[2] : "openat") != 0;
	fputs("usage: untouched-literals WHAT [CALL]\n", stderr);
	return 2;
}
