// SPDX-License-Identifier: BSD-2-Clause
/* Opens and closes gates, and says what the registry waits for. */

#include "sensor/directory-priv.h"

#include <errno.h>
#include <sys/epoll.h>

void sensor_gate_set(const struct sensor_directory *directory, struct sensor_known_process *process, uint32_t type)
{
	const struct sensor_known_type *known = &process->types[type];
	uint32_t gate = known->readers ? SENSOR_GATE_RING : 0;

	if (known->kernels)
		gate |= SENSOR_GATE_KERNEL;
	if (directory->options.always || process->is_always)
		gate |= SENSOR_GATE_ALWAYS;
	if (process->gates && known->is_taken)
		__atomic_store_n(&process->gates[type + 1], gate, __ATOMIC_RELEASE);
}

int sensor_wait_add(struct sensor_directory *directory, int fd, uint64_t tag)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = tag };

	return epoll_ctl(directory->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

void sensor_wait_set(struct sensor_directory *directory, int fd, uint64_t tag, bool is_full)
{
	struct epoll_event event = { .events = is_full ? EPOLLIN | EPOLLOUT : EPOLLIN, .data.u64 = tag };

	epoll_ctl(directory->epoll_fd, EPOLL_CTL_MOD, fd, &event);
}
