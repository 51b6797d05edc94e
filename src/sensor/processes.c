// SPDX-License-Identifier: BSD-2-Clause
/*
 * Gives processes their memory, and keeps what they say of their types. What a process says of its types is hostile: a
 * text is one EVENT paragraph that the catalog's parser takes, without any source.
 */

#include "sensor/directory-priv.h"

#include "base/alloc.h"
#include "base/proc.h"
#include "event/catalog.h"
#include "sensor/catalog.h"
#include "sensor/payload.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MIB = 1 << 20, USER_MIB = 64, ROOT_MIB = 256, USER_PROCESSES = 64 };

static uint64_t bytes_max(const struct sensor_directory *directory, uint32_t uid)
{
	if (directory->options.user_bytes_max)
		return directory->options.user_bytes_max;
	return (uint64_t)(uid ? USER_MIB : ROOT_MIB) * MIB;
}

/* As many as the quota has room for with rings of the usual size; more with smaller ones, up to a number. */
uint32_t sensor_process_max(const struct sensor_directory *directory, uint32_t uid)
{
	const struct sensor_shape usual = { SENSOR_SLOTS, SENSOR_SUB_UNITS, SENSOR_SUB_COUNT };
	uint64_t fit = bytes_max(directory, uid) / sensor_area_bytes(&usual);

	if (!uid || fit > SENSOR_PROCESSES_MAX)
		return SENSOR_PROCESSES_MAX;
	return fit > USER_PROCESSES ? (uint32_t)fit : USER_PROCESSES;
}

/* What a user's processes, or all (uid UINT32_MAX), take; and the one that ended first. */
struct use {
	uint64_t bytes;
	uint32_t count, ended;
	struct sensor_known_process *oldest;
};

static struct use use_of(struct sensor_directory *directory, uint32_t uid)
{
	struct use use = { 0 };

	for (size_t i = 0; i < SENSOR_PROCESSES_MAX; i++) {
		struct sensor_known_process *process = &directory->processes[i];

		if (process->state == SENSOR_NO_PROCESS || (uid != UINT32_MAX && process->told.uid != uid))
			continue;
		use.bytes += process->bytes;
		use.count++;
		if (process->state != SENSOR_HAS_ENDED)
			continue;
		use.ended++;
		if (!use.oldest || process->told.number < use.oldest->told.number)
			use.oldest = process;
	}
	return use;
}

static struct sensor_known_process *find_free_process(struct sensor_directory *directory)
{
	for (size_t i = 0; i < SENSOR_PROCESSES_MAX; i++) {
		if (directory->processes[i].state == SENSOR_NO_PROCESS)
			return &directory->processes[i];
	}
	return NULL;
}

/*
 * By the size of its program headers, as the kernel told it at its start; its file might be one that a user serves, who
 * is not waited for. Other users' processes say it to who may trace them only.
 */
bool sensor_process_is_narrow(uint32_t pid)
{
	char path[64];
	uint32_t vector[256];
	ssize_t length;

	snprintf(path, sizeof path, "/proc/%u/auxv", pid);
	length = proc_read(path, (char *)vector, sizeof vector);
	for (ssize_t i = 0; i + 1 < length / (ssize_t)sizeof *vector; i += 2) {
		if (vector[i] == AT_PHENT && vector[i + 1] == sizeof(Elf32_Phdr))
			return true;
	}
	return false;
}

void sensor_process_describe(struct sensor_process *told)
{
	struct proc_stat stat;
	char path[64], text[4096];
	ssize_t length;

	if (!proc_stat((pid_t)told->pid, 0, &stat)) {
		snprintf(told->comm, sizeof told->comm, "%.15s", stat.name);
		told->birth_ticks = stat.birth_ticks;
		told->parent = (uint32_t)stat.parent;
	}
	snprintf(path, sizeof path, "/proc/%u/exe", told->pid);
	length = readlink(path, told->path, sizeof told->path - 1);
	if (length < 0 || length == sizeof told->path - 1)
		memset(told->path, 0, sizeof told->path);
	snprintf(path, sizeof path, "/proc/%u/status", told->pid);
	if (proc_read(path, text, sizeof text) > 0) {
		uint64_t ids[2];

		told->is_foreign = proc_numbers(text, "NSpid:", ids, 2) > 1;
	}
}

static bool has_process_room(struct sensor_directory *directory, uint64_t bytes, enum sensor_share share)
{
	return share == SENSOR_SHARE_BYTES ? use_of(directory, UINT32_MAX).bytes + bytes <= directory->bytes_max
					   : find_free_process(directory) != NULL;
}

/* Those that have ended give way, then who has most. */
static bool make_share_room(struct sensor_directory *directory, const struct sensor_client *client, uint64_t bytes,
			    enum sensor_share share)
{
	while (!has_process_room(directory, bytes, share)) {
		struct sensor_known_process *oldest = use_of(directory, UINT32_MAX).oldest;

		if (oldest)
			sensor_process_free(directory, oldest);
		else if (!sensor_share_make_room(directory, share, client->uid,
						 share == SENSOR_SHARE_BYTES ? bytes : 1))
			return share == SENSOR_SHARE_BYTES && !client->uid;
	}
	return true;
}

struct sensor_known_process *sensor_process_new(struct sensor_directory *directory, const struct sensor_client *client,
						uint64_t bytes, const char **why)
{
	struct sensor_known_process *process;
	struct use use;

	while ((use = use_of(directory, client->uid)).oldest &&
	       (use.bytes + bytes > bytes_max(directory, client->uid) ||
		use.count >= sensor_process_max(directory, client->uid)))
		sensor_process_free(directory, use.oldest);
	*why = "the user's quota of sensor memory is exhausted";
	if (use.bytes + bytes > bytes_max(directory, client->uid))
		return NULL;
	*why = "the user's quota of processes with sensors is exhausted";
	if (use.count >= sensor_process_max(directory, client->uid))
		return NULL;
	*why = "the sensor memory of all users together is exhausted";
	if (!make_share_room(directory, client, bytes, SENSOR_SHARE_BYTES))
		return NULL;
	*why = "the limit of processes with sensors is reached";
	if (!make_share_room(directory, client, bytes, SENSOR_SHARE_PROCESSES))
		return NULL;
	process = find_free_process(directory);
	*process = (struct sensor_known_process){
		.state = SENSOR_IS_MAPPING,
		.told = { .head = { SENSOR_PROCESS, SENSOR_PROTOCOL_VERSION },
			  .number = ++directory->last_number,
			  .pid = client->pid,
			  .uid = client->uid,
			  .gid = client->gid,
			  .clock = directory->clock->clock },
		.bytes = bytes,
		.area_fd = -1,
		.gates_fd = -1,
		.pid_fd = -1,
	};
	sensor_process_describe(&process->told);
	process->pid_fd = (int)syscall(SYS_pidfd_open, (pid_t)client->pid, 0);
	if (process->pid_fd >= 0)
		sensor_wait_add(directory, process->pid_fd,
				SENSOR_TAG_PROCESS + (uint64_t)(process - directory->processes));
	directory->stats.bytes += bytes;
	return process;
}

static void close_area_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Those that the application wants open itself stay so: it may not have noticed yet that nobody is here. */
static void close_gates(struct sensor_known_process *process)
{
	for (uint32_t i = 0; i < process->type_count; i++)
		__atomic_store_n(&process->gates[i + 1],
				 process->is_always && process->types[i].is_taken ? SENSOR_GATE_ALWAYS : 0,
				 __ATOMIC_RELEASE);
}

void sensor_process_end(struct sensor_directory *directory, struct sensor_known_process *process)
{
	struct use use;

	if (process->gates) {
		close_gates(process);
		munmap(process->gates, SENSOR_PAGE_BYTES);
	}
	process->gates = NULL;
	process->client = NULL;
	close_area_fd(&process->gates_fd);
	close_area_fd(&process->pid_fd);
	if (process->state != SENSOR_IS_READY) {
		sensor_process_free(directory, process);
		return;
	}
	process->state = SENSOR_HAS_ENDED;
	process->told.is_ended = 1;
	while ((use = use_of(directory, UINT32_MAX)).ended > SENSOR_ENDED_MAX)
		sensor_process_free(directory, use.oldest);
}

void sensor_process_free(struct sensor_directory *directory, struct sensor_known_process *process)
{
	/* Who knows it hears of its end first, as far as its socket takes it. */
	if (process->state == SENSOR_HAS_ENDED)
		sensor_observers_tell(directory);
	for (size_t i = 0; i < SENSOR_CLIENTS_MAX; i++)
		sensor_observer_forget(&directory->clients[i], (size_t)(process - directory->processes));
	for (uint32_t i = 0; i < process->type_count; i++)
		alloc_free(process->types[i].text);
	alloc_free(process->types);
	if (process->gates)
		munmap(process->gates, SENSOR_PAGE_BYTES);
	close_area_fd(&process->area_fd);
	close_area_fd(&process->gates_fd);
	close_area_fd(&process->pid_fd);
	directory->stats.bytes -= process->bytes;
	*process = (struct sensor_known_process){ .state = SENSOR_NO_PROCESS };
}

/* Reads the text into type. */
static enum sensor_fault read_sensor_type(const char *text, struct sensor_known_type *type)
{
	const struct event_catalog_access access = { .files = EVENT_FILES_NONE, .is_foreign = true };
	struct event_catalog *catalog = sensor_catalog_is_paragraph(text) ? event_catalog_new() : NULL;
	enum sensor_fault fault = SENSOR_IS_WRONG;
	const struct event_type *read;

	if (!catalog)
		return fault;
	event_catalog_restrict(catalog, &access);
	if (event_catalog_parse(catalog, "sensor", text, strlen(text), NULL) == 0 &&
	    (read = event_catalog_get(catalog, 0)) && !event_catalog_get(catalog, 1) && !read->hook_count &&
	    strlen(read->name) < sizeof type->name) {
		int units = sensor_payload_lay(read, NULL);

		snprintf(type->name, sizeof type->name, "%s", read->name);
		type->units = units < 0 ? 0 : (uint32_t)units;
		fault = units < 0 ? SENSOR_IS_TOO_LARGE : SENSOR_FINE;
	}
	event_catalog_free(catalog);
	return fault;
}

static bool has_known_type(const struct sensor_known_process *process, const char *name)
{
	for (uint32_t i = 0; i < process->type_count; i++) {
		const struct sensor_known_type *type = &process->types[i];

		if (type->is_taken && !type->is_absent && !strcmp(type->name, name))
			return true;
	}
	return false;
}

enum sensor_fault sensor_process_add(struct sensor_known_process *process, const char *text)
{
	struct sensor_known_type *type = &process->types[process->type_count++];
	enum sensor_fault fault;

	*type = (struct sensor_known_type){ .units = 0 };
	process->text_bytes += strlen(text) + 1;
	if (process->text_bytes > SENSOR_TEXT_BYTES_MAX)
		return SENSOR_IS_TOO_LARGE;
	fault = read_sensor_type(text, type);
	if (fault)
		return fault;
	if (has_known_type(process, type->name))
		return SENSOR_IS_KNOWN;
	type->text = alloc_text(text);
	type->is_taken = type->text != NULL;
	return type->is_taken ? SENSOR_FINE : SENSOR_IS_TOO_LARGE;
}

void sensor_process_mark(struct sensor_known_process *process, uint32_t type, bool is_absent)
{
	struct sensor_known_type *known = &process->types[type];

	if (known->is_taken && (is_absent || !has_known_type(process, known->name)))
		known->is_absent = is_absent;
}
