// SPDX-License-Identifier: BSD-2-Clause
/*
 * Looks up the cgroups and users that options name. Containers and units are found by what their cgroups are called, so
 * no runtime is asked, and none has to be there.
 */

#include "session/live/filter.h"

#include "base/alloc.h"
#include "base/container.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <linux/magic.h>
#include <mntent.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, DEPTH_MAX = 64, ID_DIGITS = 64 };

struct live_filter {
	struct ebpf_scope_filter filter;
	struct ebpf_scope_cgroup *cgroups;
	size_t cgroup_count, cgroup_capacity;
	uid_t *users;
	char mount[PATH_BYTES]; /* of the hierarchy; "": not looked for yet */
	live_filter_id_fn *find_id;
	struct asterism_diag *diag;
};

/* Whether one container or unit, and which, is looked for in a walk through all cgroups. */
struct search {
	struct live_filter *filter;
	const char *name;
	bool (*is_meant)(const char *path, const char *name);
	size_t found;
	int result;
};

static int find_mount(struct live_filter *filter)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *entry, room;
	char text[PATH_BYTES + 512], file[PATH_BYTES + 16];

	while (mounts && !*filter->mount && (entry = getmntent_r(mounts, &room, text, sizeof text))) {
		if (strcmp(entry->mnt_type, "cgroup2") == 0)
			snprintf(filter->mount, sizeof filter->mount, "%s", entry->mnt_dir);
	}
	if (mounts)
		endmntent(mounts);
	if (!*filter->mount) {
		diag_add(filter->diag, ASTERISM_ERROR, NULL,
			 "boot with systemd.unified_cgroup_hierarchy=1 to get cgroups of version 2, or use -p, --comm "
			 "or --user",
			 "--cgroup, --container and --unit need cgroups of version 2, and none are mounted");
		return -EOPNOTSUPP;
	}
	/* Every cgroup but the root has this file. */
	snprintf(file, sizeof file, "%s/cgroup.events", filter->mount);
	if (access(file, F_OK) == 0)
		return diag_error(filter->diag, NULL, -EOPNOTSUPP,
				  "--cgroup, --container and --unit need to see all cgroups; %s shows only some",
				  filter->mount);
	return 0;
}

/* Adds the cgroup at path, which begins with a slash unless it is empty: the root. */
static int add_cgroup(struct live_filter *filter, const char *path)
{
	char folder[2 * PATH_BYTES];
	struct ebpf_scope_cgroup cgroup = { .path = alloc_text(*path ? path : "/") };
	struct stat status;

	snprintf(folder, sizeof folder, "%s%s", filter->mount, path);
	for (const char *at = path; *at; at++)
		cgroup.level += *at == '/';
	if (!cgroup.path ||
	    alloc_grow(&filter->cgroups, &filter->cgroup_capacity, filter->cgroup_count, sizeof *filter->cgroups)) {
		alloc_free((char *)cgroup.path);
		return diag_no_memory(filter->diag);
	}
	cgroup.id = stat(folder, &status) == 0 ? status.st_ino : 0;
	filter->cgroups[filter->cgroup_count++] = cgroup;
	return 0;
}

/* A folder as it is written, or the path of a cgroup, which need not begin with a slash. */
static int find_cgroup(struct live_filter *filter, const char *name)
{
	char folder[2 * PATH_BYTES], *real;
	size_t length = strlen(filter->mount);
	struct statfs system;
	int result;

	snprintf(folder, sizeof folder, "%s%s%s", filter->mount, *name == '/' ? "" : "/", name);
	real = *name ? realpath(name, NULL) : NULL;
	if (!real || strncmp(real, filter->mount, length) != 0 || (real[length] && real[length] != '/')) {
		free(real);
		real = *name ? realpath(folder, NULL) : NULL;
	}
	if (!real || statfs(real, &system) || system.f_type != CGROUP2_SUPER_MAGIC ||
	    strncmp(real, filter->mount, length) != 0)
		result = diag_error(filter->diag, NULL, -EINVAL, "there is no cgroup '%s' in %s", name, filter->mount);
	else
		result = add_cgroup(filter, real + length);
	free(real);
	return result;
}

/* The last folder of a path. */
static const char *last_folder(const char *path)
{
	return strrchr(path, '/') + 1;
}

/* The folder that holds all of a unit, outside of containers. */
static bool is_unit(const char *path, const char *name)
{
	const char *last = last_folder(path);
	size_t length = strlen(name);
	struct container container;

	if (strncmp(last, name, length) != 0 || (last[length] && strcmp(last + length, ".service") != 0))
		return false;
	return !container_of_path(path, &container) || !container.runtime;
}

static bool is_container_named(const struct container *container, const char *name)
{
	size_t runtime = strlen(container->runtime), length;

	if (strncmp(name, container->runtime, runtime) == 0 && name[runtime] == ':')
		name += runtime + 1;
	length = strlen(name);
	if (strlen(container->id) == ID_DIGITS && strspn(container->id, "0123456789abcdef") == ID_DIGITS)
		return length > 0 && strncmp(container->id, name, length) == 0;
	return strcmp(container->id, name) == 0;
}

/* The folder that holds all of a container: the one around it is of none, or of another. */
static bool is_container(const char *path, const char *name)
{
	struct container container, around;
	char outer[PATH_BYTES];

	if (!container_of_path(path, &container) || !container.runtime || !is_container_named(&container, name))
		return false;
	snprintf(outer, sizeof outer, "%.*s", (int)(last_folder(path) - 1 - path), path);
	return !container_of_path(outer, &around) || !around.runtime || strcmp(around.id, container.id) != 0;
}

/* path is room for those of all cgroups below it. */
static void walk_cgroups(struct search *search, char path[PATH_BYTES], int depth)
{
	char folder[2 * PATH_BYTES];
	size_t length = strlen(path);
	struct dirent *entry;
	DIR *entries;

	snprintf(folder, sizeof folder, "%s%s", search->filter->mount, path);
	entries = depth < DEPTH_MAX ? opendir(folder) : NULL;
	while (entries && !search->result && (entry = readdir(entries))) {
		if (entry->d_type != DT_DIR || *entry->d_name == '.' || length + strlen(entry->d_name) + 2 > PATH_BYTES)
			continue;
		sprintf(path + length, "/%s", entry->d_name);
		if (search->is_meant(path, search->name)) {
			search->result = add_cgroup(search->filter, path);
			search->found++;
		}
		walk_cgroups(search, path, depth + 1);
		path[length] = 0;
	}
	if (entries)
		closedir(entries);
}

static int find_containers(struct search *search)
{
	char path[PATH_BYTES] = "";

	walk_cgroups(search, path, 0);
	return search->result;
}

static int find_container_unit(struct live_filter *filter, const char *name)
{
	struct search search = { .filter = filter, .name = name, .is_meant = is_unit };
	int result = find_containers(&search);

	if (result || search.found)
		return result;
	diag_add(filter->diag, ASTERISM_ERROR, NULL, "'systemctl status' lists the units with their processes",
		 "the unit '%s' is not active: no cgroup has that name, with or without .service", name);
	return -EINVAL;
}

static int find_container(struct live_filter *filter, const char *name)
{
	struct search search = { .filter = filter, .name = name, .is_meant = is_container };
	size_t before = filter->cgroup_count;
	char id[LIVE_FILTER_ID_BYTES];
	int result = find_containers(&search), named = 0;

	if (!result && !search.found && filter->find_id && (named = filter->find_id(name, filter->diag, id)) == 1) {
		search.name = id;
		result = find_containers(&search);
	}
	if (result || search.found == 1)
		return result;
	if (named > 1)
		return diag_error(filter->diag, NULL, -EINVAL,
				  "several containers are named '%s': use docker:%s or podman:%s, or the id", name,
				  name, name);
	if (named)
		return diag_error(filter->diag, NULL, -EINVAL, "the container '%s' (%.12s) is not running", name, id);
	if (search.found)
		return diag_error(filter->diag, NULL, -EINVAL, "'%s' is ambiguous: it could be container %s or %s",
				  name, filter->cgroups[before].path, filter->cgroups[before + 1].path);
	diag_add(filter->diag, ASTERISM_ERROR, NULL,
		 "use the beginning of its id, as shown by 'docker ps', 'podman ps' or 'crictl ps'; names are known "
		 "only for containers that root runs with Docker or Podman",
		 "there is no container '%s': no cgroup has that name, or an id that begins with it", name);
	return -EINVAL;
}

static int find_user(struct live_filter *filter, const char *name)
{
	const struct passwd *entry = *name ? getpwnam(name) : NULL;
	char *end = NULL;
	unsigned long number = isdigit((unsigned char)*name) ? strtoul(name, &end, 10) : 0;

	if (!entry && (!end || *end || number > UINT32_MAX - 1))
		return diag_error(filter->diag, NULL, -EINVAL, "unknown user '%s'", name);
	filter->users[filter->filter.user_count++] = entry ? entry->pw_uid : (uid_t)number;
	return 0;
}

static int check_comm(struct live_filter *filter, const char *name)
{
	return *name ? 0 : diag_error(filter->diag, NULL, -EINVAL, "a process name must not be empty");
}

static int each(struct live_filter *filter, const struct live_filter_list *list,
		int (*one)(struct live_filter *filter, const char *name))
{
	int result = 0;

	for (size_t i = 0; i < list->count && !result; i++)
		result = one(filter, list->items[i]);
	return result;
}

static int find_everything(struct live_filter *filter, const struct live_filter_names *names)
{
	bool has_cgroups = names->cgroups.count || names->containers.count || names->units.count;
	int result = has_cgroups ? find_mount(filter) : 0;

	if (!result)
		result = each(filter, &names->cgroups, find_cgroup);
	if (!result)
		result = each(filter, &names->containers, find_container);
	if (!result)
		result = each(filter, &names->units, find_container_unit);
	if (!result)
		result = each(filter, &names->users, find_user);
	return result ? result : each(filter, &names->comms, check_comm);
}

int live_filter_new(const struct live_filter_names *names, struct asterism_diag *diag, struct live_filter **made)
{
	struct live_filter *filter;
	int result;

	*made = NULL;
	if (!names->cgroups.count && !names->containers.count && !names->units.count && !names->comms.count &&
	    !names->users.count)
		return 0;
	filter = alloc_zero(1, sizeof *filter);
	if (!filter)
		return diag_no_memory(diag);
	filter->diag = diag;
	filter->find_id = names->find_id;
	filter->users = alloc_zero(names->users.count, sizeof *filter->users);
	result = filter->users ? find_everything(filter, names) : diag_no_memory(diag);
	if (result) {
		live_filter_free(filter);
		return result;
	}
	filter->filter.cgroups = filter->cgroups;
	filter->filter.cgroup_count = filter->cgroup_count;
	filter->filter.users = filter->users;
	filter->filter.comms = names->comms.items;
	filter->filter.comm_count = names->comms.count;
	*made = filter;
	return 0;
}

void live_filter_free(struct live_filter *filter)
{
	if (!filter)
		return;
	for (size_t i = 0; i < filter->cgroup_count; i++)
		alloc_free((char *)filter->cgroups[i].path);
	alloc_free(filter->cgroups);
	alloc_free(filter->users);
	alloc_free(filter);
}

const struct ebpf_scope_filter *live_filter_get(const struct live_filter *filter)
{
	return filter ? &filter->filter : NULL;
}
