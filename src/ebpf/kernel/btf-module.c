// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the module that defines a tracepoint. A file is only read as type information where its bytes hold the name of
 * the prototype. What is not there any more when it is opened was unloaded meanwhile, and no error.
 */

#include "ebpf/kernel/btf-module.h"

#include "base/alloc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MODULE_BYTES_MAX = 64 * 1024 * 1024, WANTED_BYTES = 128 };

struct file {
	uint8_t *bytes;
	size_t length;
};

/* The first reason stays. */
static int refuse_module(const struct btf_module_search *search, const char *name, int code, const char *why)
{
	if (!*search->reason)
		snprintf(search->reason, search->size, "the type information of the module %s, %s/%s, %s", name,
			 search->folder, name, why);
	return code;
}

static int read_btf_bytes(int fd, size_t length, uint8_t *bytes)
{
	for (size_t done = 0; done < length;) {
		ssize_t got = read(fd, bytes + done, length - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : -EINVAL;
		done += (size_t)got;
	}
	return 0;
}

static int read_module_file(const struct btf_module_search *search, int folder, const char *name, struct file *file)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK), result = 0;
	struct stat status;

	if (fd < 0)
		return errno == ENOENT ? -ENOENT : refuse_module(search, name, -EACCES, strerror(errno));
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size <= 0 ||
	    status.st_size > MODULE_BYTES_MAX) {
		close(fd);
		return refuse_module(search, name, -EINVAL, "has no usable size");
	}
	file->length = (size_t)status.st_size;
	file->bytes = alloc_zero(file->length, 1);
	result = file->bytes ? read_btf_bytes(fd, file->length, file->bytes) : -ENOMEM;
	close(fd);
	if (!result)
		return 0;
	alloc_free(file->bytes);
	return result == -ENOMEM ? result : refuse_module(search, name, -EACCES, "cannot be read");
}

/* Whether the module called name has it: 0, -ENOENT, or as btf_module_find. */
static int try_module(const struct btf_module_search *search, int folder, const char *name, struct btf_module *found)
{
	const char *wanted = strchr(search->tracepoint, ':') + 1;
	char prototype[WANTED_BYTES];
	struct btf_tracepoint tracepoint;
	struct file file;
	int length = snprintf(prototype, sizeof prototype, "btf_trace_%s", wanted);

	if (length >= (int)sizeof prototype || strlen(name) >= sizeof found->name)
		return -ENOENT;
	int result = read_module_file(search, folder, name, &file);

	if (result)
		return result;
	struct btf_kernel *btf = NULL;

	if (!memmem(file.bytes, file.length, prototype, (size_t)length + 1))
		result = -ENOENT;
	else
		result = btf_kernel_from_split(search->base, file.bytes, file.length, NULL, &btf);
	if (result == -EINVAL)
		refuse_module(search, name, result, "is malformed");
	if (!result)
		result = btf_kernel_tracepoint(btf, wanted, &tracepoint);
	if (result) {
		btf_kernel_close(btf);
		alloc_free(file.bytes);
		return result;
	}
	*found = (struct btf_module){ .btf = btf, .bytes = file.bytes };
	snprintf(found->name, sizeof found->name, "%s", name);
	return 0;
}

/* All but the kernel's own and first, which was tried. The first failure counts where no module has it. */
static int try_others(const struct btf_module_search *search, DIR *folder, const char *first, struct btf_module *found)
{
	const struct dirent *entry;
	int failed = -ENOENT;

	while ((entry = readdir(folder))) {
		if (entry->d_name[0] == '.' || !strcmp(entry->d_name, "vmlinux") || !strcmp(entry->d_name, first))
			continue;
		int result = try_module(search, dirfd(folder), entry->d_name, found);

		if (!result || result == -ENOMEM)
			return result;
		if (failed == -ENOENT)
			failed = result;
	}
	return failed;
}

int btf_module_find(const struct btf_module_search *search, struct btf_module *found)
{
	const char *colon = strchr(search->tracepoint, ':');
	DIR *folder = colon ? opendir(search->folder) : NULL;
	char first[BTF_MODULE_NAME_BYTES];

	if (!folder)
		return -ENOENT;
	*search->reason = '\0';
	snprintf(first, sizeof first, "%.*s", (int)(colon - search->tracepoint), search->tracepoint);
	int result = strchr(first, '/') || first[0] == '.' || !strcmp(first, "vmlinux")
			     ? -ENOENT
			     : try_module(search, dirfd(folder), first, found);

	if (result && result != -ENOMEM) {
		int others = try_others(search, folder, first, found);

		result = result == -ENOENT || !others || others == -ENOMEM ? others : result;
	}
	closedir(folder);
	return result;
}

void btf_module_close(struct btf_module *module)
{
	btf_kernel_close(module->btf);
	alloc_free(module->bytes);
	*module = (struct btf_module){ 0 };
}
