// SPDX-License-Identifier: BSD-2-Clause
/* Observes a child: until it is reaped, and three looks more. */

#include "live-rules.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOKS_AFTER = 3, LOOK_MS = 5 };

int live_rules_read(const char *text, struct asterism_diag *diag, struct session_rules **rules)
{
	char path[] = "/tmp/asterism-rules-XXXXXX";
	const char *files[] = { path };
	int fd = mkstemp(path), result = -EIO;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) == (ssize_t)strlen(text))
		result = session_rules_read(files, 1, diag, rules);
	close(fd);
	unlink(path);
	return result;
}

int live_rules_watch(struct ebpf *ebpf, pid_t child, struct gate *gate, int *status)
{
	struct pollfd ready = { .fd = ebpf_fd(ebpf), .events = POLLIN };
	uint64_t wait_ns;
	int result = ebpf_scope_add(ebpf, child), after = 0;

	if (!result)
		result = gate_open(gate);
	gate_close(gate);
	while (!result && after < LOOKS_AFTER) {
		if (after || waitpid(child, status, WNOHANG) == child)
			after++;
		poll(&ready, 1, LOOK_MS);
		result = ebpf_poll(ebpf, &wait_ns);
	}
	return result;
}

void live_rules_remark(const struct asterism_diag *diag)
{
	const struct asterism_message *message;

	for (size_t i = 0; (message = asterism_diag_get(diag, i)); i++)
		printf("#   %s\n", message->text);
}
