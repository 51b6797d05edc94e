// SPDX-License-Identifier: BSD-2-Clause
/*
 * Hands strings to system calls from memory that nobody has touched: `untouched MEMORY CALL TEXT`. The text lies at the
 * end of a page of a file that is mapped afresh, so that the kernel is the first to read it there.
 */

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

void take_name(const char *text);

enum { PAGE = 4096, PAGES = 4 };

static void check(int bad, const char *what)
{
	if (bad) {
		perror(what);
		exit(99);
	}
}

/* A file with text at offset, and nothing behind bytes, mapped with protection. */
static char *map_text(const char *text, size_t offset, size_t bytes, int protection)
{
	char name[] = "/tmp/untouched-XXXXXX";
	int fd = mkstemp(name);

	check(fd < 0, "mkstemp");
	check(unlink(name), "unlink");
	check(ftruncate(fd, PAGES * PAGE), "ftruncate");
	check(pwrite(fd, text, strlen(text) + 1, (off_t)offset) < 0, "pwrite");
	check(ftruncate(fd, (off_t)bytes), "ftruncate");
	char *at = mmap(NULL, PAGES * PAGE, protection, MAP_PRIVATE, fd, 0);

	check(at == MAP_FAILED, "mmap");
	check(close(fd), "close");
	return at + offset;
}

static const char *whole(const char *text)
{
	return map_text(text, 0, PAGES * PAGE, PROT_READ);
}

/* Half on one page, half on the next. */
static const char *across(const char *text)
{
	return map_text(text, PAGE - strlen(text) / 2, PAGES * PAGE, PROT_READ);
}

/* The first half is there, and has been touched; behind it the file ends. */
static const char *cut(const char *text)
{
	const char *at = map_text(text, PAGE - strlen(text) / 2, PAGE, PROT_READ);

	check(*(volatile const char *)at != *text, "the text");
	return at;
}

static const char *forbidden(const char *text)
{
	return map_text(text, 0, PAGES * PAGE, PROT_NONE);
}

struct supply {
	int fd;
	char *to;
	const char *text;
};

/* Gives whoever needs the page the text. */
static void *supply(void *context)
{
	const struct supply *supply = context;
	static char page[PAGE];
	struct uffd_msg message;

	check(read(supply->fd, &message, sizeof message) != sizeof message, "a fault");
	snprintf(page, sizeof page, "%s", supply->text);
	struct uffdio_copy copy = { .dst = (uintptr_t)supply->to, .src = (uintptr_t)page, .len = PAGE };

	check(ioctl(supply->fd, UFFDIO_COPY, &copy), "UFFDIO_COPY");
	return NULL;
}

/* A page that is there only when somebody waits for it. */
static const char *supplied(const char *text)
{
	static struct supply own;
	struct uffdio_api api = { .api = UFFD_API };
	pthread_t thread;

	own.fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	check(own.fd < 0 || ioctl(own.fd, UFFDIO_API, &api), "userfaultfd");
	own.to = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	own.text = text;
	struct uffdio_register range = { .range = { (uintptr_t)own.to, PAGE }, .mode = UFFDIO_REGISTER_MODE_MISSING };

	check(own.to == MAP_FAILED || ioctl(own.fd, UFFDIO_REGISTER, &range), "UFFDIO_REGISTER");
	check(pthread_create(&thread, NULL, supply, &own), "pthread_create");
	return own.to;
}

static const char *touched(const char *text)
{
	return text;
}

static void open_it(const char *text)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, text, O_RDONLY, 0);

	if (fd >= 0)
		close(fd);
}

static void exec_it(const char *text)
{
	char *const arguments[] = { "untouched", NULL }, *const environment[] = { NULL };

	syscall(SYS_execve, text, arguments, environment);
}

/* After something has come from a socket. */
static void open_after_receiving(const char *text)
{
	int ends[2];
	char byte;

	check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
	check(write(ends[0], "x", 1) != 1 || recv(ends[1], &byte, 1, 0) != 1, "recv");
	open_it(text);
}

/* Connects somewhere, copies a program to the path, and becomes it. */
static void fetch(const char *text)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof address;
	int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
	int from = open("/bin/true", O_RDONLY | O_CLOEXEC), to;
	char bytes[65536];
	ssize_t count;

	check(bind(server, (struct sockaddr *)&address, length) || listen(server, 1) ||
		      getsockname(server, (struct sockaddr *)&address, &length),
	      "a server");
	check(connect(client, (struct sockaddr *)&address, length), "connect");
	to = (int)syscall(SYS_openat, AT_FDCWD, text, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
	check(to < 0 || from < 0, "open");
	while ((count = read(from, bytes, sizeof bytes)) > 0)
		check(write(to, bytes, (size_t)count) != count, "write");
	check(close(to), "close");
	exec_it(text);
}

/* Changes the root directory and stays outside of it. */
static void escape(const char *text)
{
	check(syscall(SYS_chroot, text) != 0, "chroot");
	open_it(".");
}

/* For a probe. */
__attribute__((noinline)) void take_name(const char *text)
{
	__asm__ volatile("" ::"r"(text));
}

static const struct {
	const char *name;
	const char *(*place)(const char *text);
} memories[] = { { "whole", whole },         { "across", across },     { "cut", cut },
		 { "forbidden", forbidden }, { "supplied", supplied }, { "touched", touched } };

static const struct {
	const char *name;
	void (*call)(const char *text);
} calls[] = { { "open", open_it }, { "exec", exec_it },  { "receive", open_after_receiving },
	      { "fetch", fetch },  { "escape", escape }, { "name", take_name } };

int main(int count, char **args)
{
	for (size_t i = 0; count == 4 && i < sizeof memories / sizeof *memories; i++) {
		for (size_t j = 0; j < sizeof calls / sizeof *calls; j++) {
			if (strcmp(args[1], memories[i].name) || strcmp(args[2], calls[j].name))
				continue;
			calls[j].call(memories[i].place(args[3]));
			return 0;
		}
	}
	fputs("usage: untouched MEMORY CALL TEXT\n", stderr);
	return 2;
}
