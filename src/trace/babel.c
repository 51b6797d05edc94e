// SPDX-License-Identifier: BSD-2-Clause
/* Decides what below a folder is a trace, and loads the module that reads it. */

#include "trace/babel-priv.h"

#include "base/alloc.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* LTTng keeps sessions three folders deep; anything much deeper is not a trace but a file system. */
enum { DEPTH_MAX = 6, FOLDERS_MAX = 4096, PATH_BYTES = 4096 };

struct search {
	char **folders;
	size_t count, capacity;
	size_t enough;  /* stop after so many */
	size_t visited; /* folders, so that a search of a whole disk ends */
};

static int visit(struct search *search, const char *folder, unsigned depth);

static int add(struct search *search, const char *folder)
{
	if (alloc_grow(&search->folders, &search->capacity, search->count, sizeof(char *)))
		return -ENOMEM;
	search->folders[search->count] = alloc_text(folder);
	return search->folders[search->count] ? (search->count++, 0) : -ENOMEM;
}

static int visit_below(struct search *search, const char *folder, DIR *directory, unsigned depth)
{
	const struct dirent *entry;
	int result = 0;

	while (!result && search->count < search->enough && (entry = readdir(directory))) {
		char path[PATH_BYTES];
		struct stat status;
		int length = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);

		/* Links are not followed: they may lead in circles. */
		if (entry->d_name[0] == '.' || length < 0 || (size_t)length >= sizeof path || lstat(path, &status) ||
		    !S_ISDIR(status.st_mode))
			continue;
		result = visit(search, path, depth + 1);
	}
	return result;
}

static int visit(struct search *search, const char *folder, unsigned depth)
{
	char path[PATH_BYTES];
	int length = snprintf(path, sizeof path, "%s/metadata", folder), result;
	DIR *directory;

	if (length < 0 || (size_t)length >= sizeof path || depth > DEPTH_MAX || search->visited++ > FOLDERS_MAX)
		return 0;
	if (access(path, F_OK) == 0)
		return add(search, folder);
	directory = opendir(folder);
	if (!directory)
		return 0;
	result = visit_below(search, folder, directory, depth);
	closedir(directory);
	return result;
}

static void search_fini(struct search *search)
{
	for (size_t i = 0; i < search->count; i++)
		alloc_free(search->folders[i]);
	alloc_free(search->folders);
}

bool trace_babel_is_trace(const char *folder)
{
	struct search search = { .enough = 1 };
	bool found;

	visit(&search, folder, 0);
	found = search.count > 0;
	search_fini(&search);
	return found;
}

static int complain(struct asterism_diag *diag, const char *folder, int code, const char *text)
{
	struct diag_source source = { .file = folder };

	return diag_error(diag, &(struct diag_place){ .source = &source }, code, "%s", text);
}

/* The module stays loaded: glib does not like to be unloaded. */
static babel_open_fn *load(struct asterism_diag *diag, const char *folder)
{
	void *module = dlopen(BABEL_MODULE, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	void *symbol = module ? dlsym(module, BABEL_SYMBOL) : NULL;
	babel_open_fn *open_fn = NULL;

	if (symbol)
		memcpy(&open_fn, &symbol, sizeof open_fn);
	else
		diag_add(diag, ASTERISM_ERROR,
			 &(struct diag_place){ .source = &(struct diag_source){ .file = folder } },
			 "install libbabeltrace2-dev, then build and install asterism again",
			 "traces of other tools are read through " BABEL_MODULE ", which is not usable: %s", dlerror());
	return open_fn;
}

int trace_babel_new(const char *folder, struct event_catalog *catalog, struct asterism_diag *diag,
		    struct trace_source **made)
{
	struct search search = { .enough = FOLDERS_MAX };
	struct babel_request request = { .name = folder, .catalog = catalog, .diag = diag };
	babel_open_fn *open_fn = NULL;
	int result = visit(&search, folder, 0);

	if (result)
		diag_no_memory(diag);
	else if (search.count == 0)
		result = complain(diag, folder, -EINVAL, "this directory is no trace: there is no metadata in it");
	if (!result) {
		open_fn = load(diag, folder);
		result = open_fn ? lttng_map_read(diag, &request.map) : -EOPNOTSUPP;
	}
	if (!result) {
		request.folders = (const char *const *)search.folders;
		request.folder_count = search.count;
		result = open_fn(&request, made);
		if (result)
			lttng_map_free(request.map);
	}
	search_fini(&search);
	return result;
}
