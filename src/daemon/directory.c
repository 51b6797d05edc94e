// SPDX-License-Identifier: BSD-2-Clause
/*
 * Loads the rule files of the directory. What somebody other than root could have written is refused: its rules would
 * have root's rights here.
 */

#include "base/alloc.h"
#include "base/clock.h"
#include "base/hash.h"
#include "daemon/daemon.h"
#include "daemon/log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct file {
	char *bytes;
	size_t length;
};

static int complain_of_unit(char error[UNIT_ERROR_BYTES], int code, const char *text)
{
	snprintf(error, UNIT_ERROR_BYTES, "%s", text);
	return code;
}

bool daemon_trusts(const struct stat *status)
{
	return (status->st_uid == 0 || status->st_uid == geteuid()) && !(status->st_mode & (S_IWGRP | S_IWOTH));
}

static int read_unit_file(int fd, struct file *file, char error[UNIT_ERROR_BYTES])
{
	struct stat status;
	ssize_t length = 1;

	if (fstat(fd, &status) || !S_ISREG(status.st_mode))
		return complain_of_unit(error, -EINVAL, "it is not a regular file");
	if (!daemon_trusts(&status))
		return complain_of_unit(error, -EPERM, "the file is writable by users other than root");
	if (status.st_size > FRAME_BODY_BYTES_MAX)
		return complain_of_unit(error, -EFBIG, "the file is too large: rule files may have 16 MiB");
	file->bytes = alloc_zero((size_t)status.st_size + 1, 1);
	if (!file->bytes)
		return complain_of_unit(error, -ENOMEM, "out of memory");
	while (length > 0 && file->length < (size_t)status.st_size) {
		length = read(fd, file->bytes + file->length, (size_t)status.st_size - file->length);
		if (length > 0)
			file->length += (size_t)length;
	}
	return length < 0 ? complain_of_unit(error, -errno, strerror(errno)) : 0;
}

static int read_directory_file(int folder, const char *name, struct file *file, char error[UNIT_ERROR_BYTES])
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int result;

	*file = (struct file){ 0 };
	if (fd < 0)
		return complain_of_unit(error, -errno, strerror(errno));
	result = read_unit_file(fd, file, error);
	close(fd);
	return result;
}

static int complain_of_memory(uint64_t bytes, char error[UNIT_ERROR_BYTES])
{
	snprintf(error, UNIT_ERROR_BYTES, "loading it would raise the daemon's memory to %llu KiB, above --memory-max",
		 (unsigned long long)(bytes >> 10));
	return -ENOMEM;
}

/* What the rules will take is known before, but for what is the kernel's own: so it is looked at twice. */
int daemon_activate(struct daemon *daemon, struct unit *unit, char error[UNIT_ERROR_BYTES])
{
	uint64_t bytes;
	int result;

	if (unit_is_active(unit))
		return complain_of_unit(error, -EINVAL, "it is already active");
	if (!budget_has_room(&daemon->budget, unit_kernel_bytes(unit), &bytes))
		return complain_of_memory(bytes, error);
	result = asterism_rules_activate(unit->rules);
	if (result)
		return complain_of_unit(error, result, asterism_session_error(daemon->session));
	if (budget_has_room(&daemon->budget, 0, &bytes)) {
		unit_log_notes(daemon->session, unit->name);
		return 0;
	}
	asterism_rules_deactivate(unit->rules);
	return complain_of_memory(bytes, error);
}

/*
 * The new unit is at work before the old one goes, so that there is no gap: from one moment on it tells of matches, and
 * the old one of those before, of those too that its programs are about to hand out when it is detached. An event
 * between the two programs at that moment has a time on either side, and is told by both.
 */
static int swap(struct daemon *daemon, struct unit *old, struct unit *unit, char error[UNIT_ERROR_BYTES])
{
	bool was_active = unit_is_active(old);
	int result = 0;

	unit->from_ns = was_active ? UINT64_MAX : 0;
	if (was_active || !old->rules)
		result = daemon_activate(daemon, unit, error);
	if (result) {
		unit_free(unit);
		return result;
	}
	if (was_active)
		unit->from_ns = old->until_ns = clock_now_ns();
	unit->is_seen = true;
	units_replace(&daemon->units, old, unit);
	log_line(LOG_LEVEL_INFO, "%s: loaded", unit->name);
	return 0;
}

static int add_unit(struct daemon *daemon, struct unit *unit, char error[UNIT_ERROR_BYTES])
{
	int result = daemon_activate(daemon, unit, error);

	if (result) {
		unit_free(unit);
		return result;
	}
	unit->is_seen = true;
	units_add(&daemon->units, unit);
	log_line(LOG_LEVEL_INFO, "%s: loaded", unit->name);
	return 0;
}

/* Whether it is at work as its file has it; the probes that it names may be in files that have been replaced. */
static bool is_current(const struct unit *unit, const struct unit_source *source)
{
	struct asterism_rules_stats stats = { .size = sizeof stats };

	if (!unit->rules || unit->length != source->length ||
	    unit->hash != hash_bytes(HASH_START, source->bytes, source->length))
		return false;
	return asterism_rules_stats(unit->rules, &stats) || !stats.files_replaced;
}

/* Makes what a file holds be at work, in place of old where there is one. */
static int use(struct daemon *daemon, struct unit *old, const struct unit_source *source, char error[UNIT_ERROR_BYTES])
{
	struct unit *unit;
	int result;

	if (old && is_current(old, source)) {
		old->error[0] = 0;
		return 0;
	}
	if (!old && daemon->units.count >= daemon->options->units_max)
		return complain_of_unit(error, -ENOSPC, "the limit of units is reached (--units-max)");
	result = unit_new(daemon->session, source, &unit);
	if (result)
		return complain_of_unit(error, result,
					result == -ENOMEM ? "out of memory" : asterism_session_error(daemon->session));
	return old ? swap(daemon, old, unit, error) : add_unit(daemon, unit, error);
}

/* What is wrong with a file stands beside the unit that it was to become; there is one in any case. */
static void remember(struct daemon *daemon, const char *name, const char *error)
{
	const struct unit_source nothing = { .name = name, .is_file = true };
	struct unit *unit = units_find(&daemon->units, name);

	size_t length = strlen(name);
	bool says_where = strncmp(error, name, length) == 0 && error[length] == ':';

	log_line(LOG_LEVEL_ERROR, "%s%s%s", says_where ? "" : name, says_where ? "" : ": ", error);
	if (unit && unit->rules)
		log_line(LOG_LEVEL_ERROR, "%s: the version loaded before stays %s", name,
			 unit_is_active(unit) ? "active" : "loaded, inactive");
	if (!unit && daemon->units.count < daemon->options->units_max &&
	    unit_new(daemon->session, &nothing, &unit) == 0)
		units_add(&daemon->units, unit);
	if (!unit)
		return;
	unit->is_seen = true;
	snprintf(unit->error, sizeof unit->error, "%s", error);
}

static bool take_file(struct daemon *daemon, int folder, const char *name)
{
	char error[UNIT_ERROR_BYTES] = "";
	struct unit *old = units_find(&daemon->units, name);
	struct unit_source source = { .name = name, .is_file = true };
	struct file file;
	int result = read_directory_file(folder, name, &file, error);

	if (old)
		old->is_seen = true;
	if (!result) {
		source.bytes = file.bytes;
		source.length = file.length;
		result = use(daemon, old, &source, error);
	}
	alloc_free(file.bytes);
	if (result)
		remember(daemon, name, error);
	return result == 0;
}

static int refuse_folder(const struct daemon *daemon, int error, const char *why)
{
	log_line(LOG_LEVEL_ERROR, "cannot use the rules directory %s: %s", daemon->options->rules, why);
	return -error;
}

static int is_rule_file(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return entry->d_name[0] != '.' && dot && strlen(entry->d_name) < REQUEST_UNIT_BYTES &&
	       (strcmp(dot, ".rule") == 0 || strcmp(dot, ".astc") == 0);
}

static int take_files(struct daemon *daemon, int folder, size_t *wrong)
{
	struct dirent **entries;
	int count = scandirat(folder, ".", &entries, is_rule_file, alphasort);

	if (count < 0)
		return refuse_folder(daemon, errno, strerror(errno));
	for (int i = 0; i < count; i++) {
		*wrong += !take_file(daemon, folder, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return 0;
}

static void drop_unseen(struct daemon *daemon)
{
	for (struct unit *unit = daemon->units.first, *next; unit; unit = next) {
		next = unit->next;
		if (!unit->is_file || unit->is_seen)
			continue;
		log_line(LOG_LEVEL_INFO, "%s: unloaded, its file was removed", unit->name);
		units_remove(&daemon->units, unit);
	}
}

int daemon_read_directory(struct daemon *daemon, size_t *wrong)
{
	int folder = open(daemon->options->rules, O_RDONLY | O_DIRECTORY | O_CLOEXEC), result;
	struct stat status;
	size_t count = 0;

	if (folder < 0)
		return refuse_folder(daemon, errno, strerror(errno));
	for (struct unit *unit = daemon->units.first; unit; unit = unit->next)
		unit->is_seen = false;
	if (fstat(folder, &status) || !daemon_trusts(&status))
		result = refuse_folder(daemon, EPERM, "it is writable by users other than root");
	else
		result = take_files(daemon, folder, &count);
	if (!result)
		drop_unseen(daemon);
	close(folder);
	if (wrong)
		*wrong = count;
	return result;
}
