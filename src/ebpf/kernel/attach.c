// SPDX-License-Identifier: BSD-2-Clause
/* Attaches programs to tracepoints, and asks the kernel how often it could not run them. */

#include "ebpf/kernel/attach.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int report_no_attach(struct asterism_diag *diag, const char *tracepoint, int error)
{
	return diag_error(diag, NULL, error, "cannot attach a program to the tracepoint %s: %s", tracepoint,
			  error == -EPERM || error == -EACCES ? "this needs the capabilities CAP_BPF and CAP_PERFMON"
							      : strerror(-error));
}

int attach_raw(int program_fd, const char *tracepoint, struct asterism_diag *diag)
{
	int fd = bpf_raw_tracepoint_open(NULL, program_fd);

	return fd < 0 ? report_no_attach(diag, tracepoint, -errno) : fd;
}

/* One event on one CPU is enough: a tracepoint's programs run wherever it fires. */
static int open_event(uint32_t id)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof attr,
		.config = id,
		.sample_period = 1,
		.wakeup_events = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int attach_classic(int program_fd, const char *tracepoint, uint32_t id, struct asterism_diag *diag)
{
	int error = 0, fd = open_event(id);

	if (fd < 0)
		return report_no_attach(diag, tracepoint, fd);
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, program_fd) < 0 || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
		error = -errno;
	if (error) {
		close(fd);
		return report_no_attach(diag, tracepoint, error);
	}
	return fd;
}

int64_t attach_misses(int program_fd)
{
	struct bpf_prog_info info = { 0 };
	uint32_t length = sizeof info;

	if (bpf_obj_get_info_by_fd(program_fd, &info, &length) < 0 ||
	    length < offsetof(struct bpf_prog_info, recursion_misses) + sizeof info.recursion_misses)
		return -1;
	return (int64_t)info.recursion_misses;
}
