// SPDX-License-Identifier: BSD-2-Clause
/*
 * What ordinary programs hand to system calls by address: constants and variables of static storage that nobody has
 * looked into before the kernel does. Each lies on pages of its own, as it does in a large program.
 */

#include "alone.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define ADDRESS                                                                  \
	{                                                                        \
		.sin_family = AF_INET, .sin_port = 0x0900 /* 9 */, .sin_addr = { \
			0x0100007f /* 127.0.0.1 */                               \
		}                                                                \
	}

static const ALONE(struct sockaddr_in, peer) = { .it = ADDRESS };
static const ALONE(char[32], argument) = { .it = "wanted argument" };
static const ALONE(char[32], setting) = { .it = "WANTED=setting" };
static const ALONE(char[32], path) = { .it = "/bin/true" };
static const ALONE(char[8], name) = { .it = "true" };
static const ALONE(char[8], nothing) = { .it = "" };
static ALONE(const char *[3], arguments) = { .it = { "true", argument.it } };
static ALONE(const char *[2], environment) = { .it = { setting.it } };
static const ALONE(char[32], text) = { .it = "wanted text" };
static ALONE(struct iovec, vector) = { .it = { (void *)text.it, sizeof "wanted text" } };
static ALONE(struct msghdr, message) = { .it = { .msg_iov = &vector.it, .msg_iovlen = 1 } };
static const ALONE(struct open_how, how) = { .it = { .flags = O_WRONLY } };
static ALONE(struct pollfd[2], polled) = { .it = { { .fd = 77, .events = POLLIN }, { .fd = 78, .events = POLLIN } } };
static ALONE(off_t, offset) = { .it = 3 };
static ALONE(int[2], ends);

static int to_peer(int call)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	return (int)syscall(call, fd, &peer.it, sizeof peer.it);
}

static int connect_it(void)
{
	return to_peer(SYS_connect);
}

static int bind_it(void)
{
	return to_peer(SYS_bind);
}

static int send_to(void)
{
	return sendto(socket(AF_INET, SOCK_DGRAM, 0), "x", 1, 0, (const struct sockaddr *)&peer.it, sizeof peer.it) !=
	       1;
}

static int exec_it(void)
{
	return (int)syscall(SYS_execve, path.it, arguments.it, environment.it);
}

static int exec_at(void)
{
	return (int)syscall(SYS_execveat, AT_FDCWD, path.it, arguments.it, environment.it, 0);
}

/* By a name in a folder whose descriptor has three digits. */
static int exec_in(void)
{
	int folder = dup2(open("/bin", O_PATH), 123);

	return (int)syscall(SYS_execveat, folder, name.it, arguments.it, environment.it, 0);
}

static int exec_descriptor(void)
{
	int fd = dup2(open("/bin/true", O_PATH), 45);

	return (int)syscall(SYS_execveat, fd, nothing.it, arguments.it, environment.it, AT_EMPTY_PATH);
}

static void *exec_thread(void *unused)
{
	(void)unused;
	exec_it();
	return NULL;
}

/* Another thread becomes the program, and takes over the number of the first. */
static int exec_by_thread(void)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, exec_thread, NULL) || pause();
}

/* Into a pipe: /dev/null would not look at the text. */
static int write_vector(void)
{
	int fds[2];

	return pipe(fds) || writev(fds[1], &vector.it, 1) < 0;
}

static int send_message(void)
{
	int fds[2];

	return socketpair(AF_UNIX, SOCK_STREAM, 0, fds) || sendmsg(fds[0], &message.it, 0) < 0;
}

static int write_nowhere(void)
{
	return writev(open("/dev/null", O_WRONLY), &vector.it, 1) < 0;
}

static int open_how(void)
{
	return syscall(SYS_openat2, AT_FDCWD, "/dev/null", &how.it, sizeof how.it) < 0;
}

/* The second number is used after it is closed. */
static int make_pipe(void)
{
	char byte = 0;

	if (pipe(ends.it))
		return 1;
	return close(ends.it[1]) || write(ends.it[1], &byte, 1) == 1;
}

static int poll_them(void)
{
	return poll(polled.it, 2, 10) != 2;
}

static int send_file(void)
{
	int from = open("/proc/self/exe", O_RDONLY), fds[2];

	return pipe(fds) || sendfile(fds[1], from, &offset.it, 5) != 5;
}

static const struct {
	const char *name;
	int (*call)(void);
} calls[] = { { "connect", connect_it },     { "bind", bind_it },
	      { "sendto", send_to },         { "execve", exec_it },
	      { "execveat", exec_at },       { "execin", exec_in },
	      { "execfd", exec_descriptor }, { "execthread", exec_by_thread },
	      { "writev", write_vector },    { "sendmsg", send_message },
	      { "nowhere", write_nowhere },  { "openat2", open_how },
	      { "pipe", make_pipe },         { "poll", poll_them },
	      { "sendfile", send_file } };

int main(int count, char **names)
{
	for (size_t i = 0; count == 2 && i < sizeof calls / sizeof *calls; i++)
		if (strcmp(names[1], calls[i].name) == 0)
			return calls[i].call() != 0;
	fputs("usage: untouched-structures CALL\n", stderr);
	return 2;
}
