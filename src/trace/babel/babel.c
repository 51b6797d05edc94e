// SPDX-License-Identifier: BSD-2-Clause
/* Finds the traces below a directory, and starts the process that reads them. */

#include "trace/babel/babel-priv.h"

#include "base/alloc.h"
#include "base/text.h"
#include "trace/babel/listen.h"
#include "trace/babel/wire.h"
#include "trace/ctf/read.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* LTTng keeps sessions three folders deep; anything much deeper is not a trace but a file system. */
enum { DEPTH_MAX = 6, FOLDERS_MAX = 4096, PATH_BYTES = 4096 };

/* So many traces are named where a folder has many. */
enum { NAMED_MAX = 3 };

struct search {
	char **folders;
	size_t count, capacity;
	size_t enough;  /* stop after so many */
	size_t visited; /* folders, so that a search of a whole disk ends */
	char *closed;   /* the first folder that could not be looked into, for the reason that error is */
	int error;
};

static int visit_folder(struct search *search, const char *folder, unsigned depth);

static int add_babel_folder(struct search *search, const char *folder)
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
		const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
		int length = snprintf(path, sizeof path, "%s%s%s", folder, slash, entry->d_name);

		/* Links are not followed: they may lead in circles. */
		if (entry->d_name[0] == '.' || length < 0 || (size_t)length >= sizeof path || lstat(path, &status) ||
		    !S_ISDIR(status.st_mode))
			continue;
		result = visit_folder(search, path, depth + 1);
	}
	return result;
}

static int keep_out(struct search *search, const char *folder, int error)
{
	if (search->closed)
		return 0;
	search->error = error;
	search->closed = alloc_text(folder);
	return search->closed ? 0 : -ENOMEM;
}

static int visit_folder(struct search *search, const char *folder, unsigned depth)
{
	char path[PATH_BYTES];
	int length = snprintf(path, sizeof path, "%s/metadata", folder), result;
	DIR *directory;

	if (length < 0 || (size_t)length >= sizeof path || depth > DEPTH_MAX || search->visited++ > FOLDERS_MAX)
		return 0;
	if (access(path, F_OK) == 0)
		return add_babel_folder(search, folder);
	directory = opendir(folder);
	if (!directory)
		return keep_out(search, folder, errno);
	result = visit_below(search, folder, directory, depth);
	closedir(directory);
	return result;
}

static void search_fini(struct search *search)
{
	for (size_t i = 0; i < search->count; i++)
		alloc_free(search->folders[i]);
	alloc_free(search->folders);
	alloc_free(search->closed);
}

bool trace_babel_is_trace(const char *folder)
{
	struct search search = { .enough = 1 };
	bool found;

	visit_folder(&search, folder, 0);
	found = search.count > 0;
	search_fini(&search);
	return found;
}

static int complain_of_folder(struct asterism_diag *diag, const char *folder, int code, const char *text)
{
	struct diag_source source = { .file = folder };

	return diag_error(diag, &(struct diag_location){ .source = &source }, code, "%s", text);
}

/* What a folder that cannot be looked into hides may be what is meant, so it is not passed over in silence. */
static void report_closed(const struct search *search, struct asterism_diag *diag)
{
	struct diag_source source = { .file = search->closed };
	struct diag_location location = { .source = &source };

	diag_add(diag, search->count ? ASTERISM_WARNING : ASTERISM_ERROR, &location, NULL,
		 "cannot read this directory: %s", strerror(search->error));
}

static int compare_names(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

/* The first few of these traces, with what is between any two of them. */
static void put_first(struct text_buffer *text, char *const *traces, size_t count, const char *between)
{
	for (size_t i = 0; i < count && i < NAMED_MAX; i++)
		text_printf(text, "%s%s", i ? between : "", traces[i]);
	if (count > NAMED_MAX)
		text_printf(text, "%s...", between);
}

static int complain_own(const struct search *own, const char *folder, struct asterism_diag *diag)
{
	struct diag_source source = { .file = folder };
	struct text_buffer list = { 0 }, names = { 0 };
	char *listed = NULL, *hint = NULL;
	bool several = own->count > 1;
	int result;

	put_first(&list, own->folders, own->count, ", ");
	text_printf(&names, "name the trace%s, such as 'asterism replay RULE ", several ? "s themselves" : " itself");
	put_first(&names, own->folders, own->count, " ");
	text_printf(&names, "' or 'asterism dump %s'", own->folders[0]);
	result = text_take(&list, &listed) | text_take(&names, &hint);
	if (result)
		diag_no_memory(diag);
	else if (several)
		diag_add(diag, ASTERISM_ERROR, &(struct diag_location){ .source = &source }, hint,
			 "this is a directory with %zu traces, not a trace: %s", own->count, listed);
	else
		diag_add(diag, ASTERISM_ERROR, &(struct diag_location){ .source = &source }, hint,
			 "this is a directory with a trace in it, not a trace: %s", listed);
	alloc_free(listed);
	alloc_free(hint);
	return result ? -ENOMEM : -EINVAL;
}

/*
 * Traces of ours have a reader of their own: this one would find their events, but of no process, and take the times of
 * several sessions for those of one.
 */
static int refuse_own(const struct search *search, const char *folder, struct asterism_diag *diag)
{
	struct search own = { .folders = alloc_zero(search->count + 1, sizeof(char *)) };
	int result = 0;

	if (!own.folders)
		return diag_no_memory(diag);
	for (size_t i = 0; i < search->count; i++) {
		if (trace_ctf_is_own(search->folders[i]))
			own.folders[own.count++] = search->folders[i];
	}
	qsort(own.folders, own.count, sizeof(char *), compare_names);
	if (own.count)
		result = complain_own(&own, folder, diag);
	alloc_free(own.folders);
	return result;
}

/* The reading process keeps nothing of ours open, says nothing on our terminal, and goes when we go. */
__attribute__((noreturn)) static void read_apart(int fd, const struct babel_request *request, pid_t parent)
{
	enum { SOCKET_FD = 3 };
	int null = open("/dev/null", O_RDWR);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || null < 0 || dup2(fd, SOCKET_FD) < 0)
		_exit(1);
	for (int i = 0; i < SOCKET_FD; i++)
		dup2(null, i);
	close_range(SOCKET_FD + 1, ~0u, 0);
	/* The terminal's signals are for the other process to decide on. */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	babel_serve(SOCKET_FD, request);
	_exit(0);
}

static int start_babel_server(const struct babel_request *request, struct event_source **made)
{
	struct babel_listen_options options = {
		.name = request->name,
		.catalog = request->catalog,
		.diag = request->diag,
	};
	pid_t parent = getpid();
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return complain_of_folder(request->diag, request->name, -errno, strerror(errno));
	options.pid = fork();
	if (options.pid == 0)
		read_apart(fds[1], request, parent);
	close(fds[1]);
	if (options.pid < 0) {
		close(fds[0]);
		return complain_of_folder(request->diag, request->name, -EAGAIN, "cannot create a process to read it");
	}
	options.fd = fds[0];
	return babel_listen(&options, made);
}

int trace_babel_new(const char *folder, struct event_catalog *catalog, struct asterism_diag *diag,
		    struct event_source **made)
{
	struct search search = { .enough = FOLDERS_MAX };
	struct babel_request request = { .name = folder, .catalog = catalog, .diag = diag };
	int result = visit_folder(&search, folder, 0);

	if (!result && search.closed)
		report_closed(&search, diag);
	if (result)
		diag_no_memory(diag);
	else if (search.count == 0 && search.closed)
		result = -search.error;
	else if (search.count == 0)
		result = complain_of_folder(diag, folder, -EINVAL, "this directory is not a trace: it has no metadata");
	else
		result = refuse_own(&search, folder, diag);
	request.folders = (const char *const *)search.folders;
	request.folder_count = search.count;
	if (!result)
		result = start_babel_server(&request, made);
	search_fini(&search);
	return result;
}
