// SPDX-License-Identifier: BSD-2-Clause
/*
 * Creates shared memory that nobody can pull away: every piece is a memfd whose size is sealed, and which only those
 * can write to who had mapped it before.
 */

#include "sensor/directory-priv.h"

#include "base/clock.h"
#include "base/proc.h"
#include "ring/atomic.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL)

enum { CLOCK_LOOKS = 8, CLOCK_MEASURE_MS = 10 };

static int make_sensor_memory(const char *name, uint64_t bytes)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING), result;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)bytes) == 0)
		return fd;
	result = -errno;
	close(fd);
	return result;
}

/* A page that is ours to write and everybody's to read: its descriptor, and it itself. */
static int make_page(const char *name, void **page)
{
	int fd = make_sensor_memory(name, SENSOR_PAGE_BYTES), result;

	if (fd < 0)
		return fd;
	*page = mmap(NULL, SENSOR_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	if (*page != MAP_FAILED && fcntl(fd, F_ADD_SEALS, SEALS) == 0)
		return fd;
	result = -errno;
	if (*page != MAP_FAILED)
		munmap(*page, SENSOR_PAGE_BYTES);
	close(fd);
	return result;
}

static bool file_has(const char *path, const char *word)
{
	char text[4096];

	return proc_read(path, text, sizeof text) > 0 && strstr(text, word);
}

/* Whether the CPU's counter goes evenly, on all CPUs alike: as far as it says, and the kernel believes. */
static bool has_counter(void)
{
#if defined(__x86_64__)
	return file_has("/proc/cpuinfo", " constant_tsc") && file_has("/proc/cpuinfo", " nonstop_tsc") &&
	       file_has("/sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc");
#elif defined(__aarch64__)
	return true;
#else
	return false;
#endif
}

/* Both clocks at one moment: of some looks the quickest. */
static struct sensor_clock_point look_at_clocks(void)
{
	struct sensor_clock_point best = { 0, 0 };
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < CLOCK_LOOKS; i++) {
		uint64_t before = ring_clock_tsc(), ns = ring_clock_ns(), took = ring_clock_tsc() - before;

		if (took < least) {
			least = took;
			best = (struct sensor_clock_point){ before + took / 2, ns };
		}
	}
	return best;
}

void sensor_memory_tick(struct sensor_clock *clock)
{
	struct sensor_clock_point point = look_at_clocks();
	struct sensor_clock_point *item = &clock->points[clock->count % SENSOR_CLOCK_POINTS];

	if (clock->clock != RING_CLOCK_TSC)
		return;
	ring_order_store(&item->tsc, point.tsc);
	ring_order_store(&item->ns, point.ns);
	ring_order_store_release(&clock->count, clock->count + 1);
}

int sensor_memory_clock(struct sensor_directory *directory)
{
	struct timespec pause = { .tv_nsec = CLOCK_MEASURE_MS * 1000000L };
	void *page;
	int fd = make_page("asterism-clock", &page);
	struct sensor_clock *clock = page;

	if (fd < 0)
		return fd;
	directory->clock_fd = fd;
	directory->clock = clock;
	clock->magic = SENSOR_CLOCK_MAGIC;
	clock->version = SENSOR_LAYOUT_VERSION;
	clock->clock = has_counter() ? RING_CLOCK_TSC : RING_CLOCK_MONOTONIC;
	if (clock->clock != RING_CLOCK_TSC)
		return 0;
	sensor_memory_tick(clock);
	nanosleep(&pause, NULL);
	sensor_memory_tick(clock);
	clock->hz = (uint64_t)((double)(clock->points[1].tsc - clock->points[0].tsc) * 1e9 /
			       (double)(clock->points[1].ns - clock->points[0].ns));
	return 0;
}

/* The header, and what each ring says of itself. */
static void write_area_header(const struct sensor_directory *directory, const struct sensor_known_process *process,
			      char *memory)
{
	const struct sensor_shape *shape = &process->shape;
	struct sensor_area *area = (struct sensor_area *)memory;
	struct sensor_clock_point now = look_at_clocks();

	*area = (struct sensor_area){
		.magic = SENSOR_AREA_MAGIC,
		.version = SENSOR_LAYOUT_VERSION,
		.clock = directory->clock->clock,
		.pid = process->told.pid,
		.uid = process->told.uid,
		.birth_ticks = process->told.birth_ticks,
		.bytes = process->bytes,
		.number = process->told.number,
		.slots = shape->slots,
		.sub_units = shape->sub_units,
		.sub_count = shape->sub_count,
		.slots_offset = (uint32_t)sensor_slots_offset(),
		.rings_offset = (uint32_t)sensor_rings_offset(shape),
		.ring_bytes = (uint32_t)sensor_ring_bytes(shape),
		.made_ns = now.ns,
		.made_tsc = now.tsc,
	};
	for (uint32_t i = 0; i < shape->slots; i++) {
		char *at = memory + sensor_ring_offset(shape, i);
		struct ring ring = { .control = (struct ring_control *)at,
				     .data = (uint64_t *)(at + sensor_data_offset(shape)),
				     .sub_units = shape->sub_units,
				     .sub_count = shape->sub_count,
				     .clock = (enum ring_clock)directory->clock->clock };

		ring_name(&ring);
	}
}

int sensor_memory_area(struct sensor_directory *directory, struct sensor_known_process *process)
{
	int fd = make_sensor_memory("asterism-sensors", process->bytes), result;
	void *memory;

	if (fd < 0)
		return fd;
	memory = mmap(NULL, process->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED) {
		result = -errno;
		close(fd);
		return result;
	}
	write_area_header(directory, process, memory);
	munmap(memory, process->bytes);
	process->area_fd = fd;
	return 0;
}

int sensor_memory_gates(struct sensor_known_process *process)
{
	void *page;
	int fd = make_page("asterism-gates", &page);

	if (fd < 0)
		return fd;
	process->gates_fd = fd;
	process->gates = page;
	return 0;
}

/* From here on area_fd is for reading. Who made the file may hold a lease on it: that is not waited for. */
static int reopen(struct sensor_known_process *process)
{
	char path[32];
	int fd;

	snprintf(path, sizeof path, "/proc/self/fd/%d", process->area_fd);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return errno == EWOULDBLOCK ? -EBADMSG : -errno;
	close(process->area_fd);
	process->area_fd = fd;
	return 0;
}

/* What can be resized until it is sealed may have been. Huge pages may be none when they are looked at. */
int sensor_memory_check(struct sensor_known_process *process)
{
	int seals = fcntl(process->area_fd, F_GET_SEALS);
	struct stat status;
	struct statfs system;

	if (seals < 0 || (seals & SEALS) != SEALS || fstat(process->area_fd, &status) || !S_ISREG(status.st_mode) ||
	    (uint64_t)status.st_size != process->bytes || fstatfs(process->area_fd, &system) ||
	    system.f_type != TMPFS_MAGIC)
		return -EBADMSG;
	return reopen(process);
}

int sensor_memory_seal(struct sensor_known_process *process)
{
	if (fcntl(process->area_fd, F_ADD_SEALS, SEALS))
		return -errno;
	return sensor_memory_check(process);
}
