// SPDX-License-Identifier: BSD-2-Clause
/* Writes lines out, and counts those that could not be written. */

#include "daemon/output.h"

#include "base/alloc.h"
#include "base/create.h"
#include "base/text.h"
#include "daemon/log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define RETRY_NS UINT64_C(1000000000)

static const char unix_prefix[] = "unix:";

static int open_socket(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof address.sun_path)
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
		return fd;
	int error = -errno;

	close(fd);
	return error;
}

static int open_where(const struct output *output, const char **why)
{
	const struct create_how how = { .mode = output->mode, .flags = O_APPEND | O_NONBLOCK };
	const char *where = output->where;
	int fd;

	if (strncmp(where, unix_prefix, sizeof unix_prefix - 1) != 0)
		return create_file(strcmp(where, "-") == 0 ? "/dev/stdout" : where, &how, why);
	fd = open_socket(where + sizeof unix_prefix - 1);
	if (fd < 0)
		*why = strerror(-fd);
	return fd;
}

static void report_lost_output(struct output *output, int error, const char *why)
{
	if (error && error != output->error)
		log_line(output->is_open ? LOG_LEVEL_WARNING : LOG_LEVEL_ERROR, "cannot write matches to %s: %s",
			 output->where, why);
	else if (!error && output->error)
		log_line(LOG_LEVEL_INFO, "writing matches to %s again; %llu were lost so far", output->where,
			 (unsigned long long)output->lines_dropped);
	output->error = error;
}

static int connect_output(struct output *output)
{
	struct stat status;
	const char *why;
	int fd = open_where(output, &why);

	if (fd < 0) {
		report_lost_output(output, -fd, why);
		return fd;
	}
	output->fd = fd;
	output->is_socket = fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode);
	return 0;
}

int output_open(struct output *output, const char *where, mode_t mode)
{
	int result;

	*output = (struct output){ .where = where, .mode = mode, .fd = -1 };
	output->bytes = alloc_zero(OUTPUT_BYTES, 1);
	if (!output->bytes) {
		log_line(LOG_LEVEL_ERROR, "out of memory");
		return -ENOMEM;
	}
	output->is_open = strncmp(where, unix_prefix, sizeof unix_prefix - 1) == 0;
	result = connect_output(output);
	if (output->is_open)
		return 0;
	output->is_open = result == 0;
	return result;
}

void output_close(struct output *output)
{
	if (output->fd >= 0)
		close(output->fd);
	alloc_free(output->bytes);
	*output = (struct output){ .fd = -1 };
}

/* The lines that wait are lost, but for the rest of one that is partly written. */
static void drop_output_lines(struct output *output)
{
	size_t kept = 0;

	if (output->is_open_line && output->length)
		kept = (size_t)((char *)memchr(output->bytes, '\n', output->length) - output->bytes) + 1;
	for (size_t i = kept; i < output->length; i++)
		output->lines_dropped += output->bytes[i] == '\n';
	output->length = kept;
}

/* What waits will never be delivered. */
static void hang_up(struct output *output, uint64_t now_ns)
{
	output->lines_dropped += output->is_open_line;
	drop_output_lines(output);
	output->length = 0;
	output->is_open_line = false;
	if (output->fd >= 0)
		close(output->fd);
	output->fd = -1;
	output->retry_ns = now_ns + RETRY_NS;
}

void output_reopen(struct output *output)
{
	output_flush(output, 0);
	if (strcmp(output->where, "-") == 0)
		return;
	hang_up(output, 0);
	connect_output(output); /* that it takes lines again is said when it has */
}

void output_line(struct output *output, const char *text, size_t length)
{
	if (length + 1 > OUTPUT_BYTES - output->length) {
		output->lines_dropped++;
		return;
	}
	memcpy(output->bytes + output->length, text, length);
	output->length += length;
	output->bytes[output->length++] = '\n';
}

void output_match(struct output *output, const char *unit, const char *text, size_t length)
{
	char memory[1024];
	struct text_buffer start;
	size_t before = output->length;

	text_init_fixed(&start, memory, sizeof memory);
	text_append(&start, "{\"unit\":");
	text_json(&start, unit);
	text_append(&start, ",");
	if (start.failure || start.length + length > OUTPUT_BYTES - before || length < 2) {
		output->lines_dropped++;
		return;
	}
	memcpy(output->bytes + before, start.bytes, start.length);
	output->length += start.length;
	output_line(output, text + 1, length - 1);
}

static ssize_t put_queued_output(const struct output *output)
{
	if (output->is_socket)
		return send(output->fd, output->bytes, output->length, MSG_DONTWAIT | MSG_NOSIGNAL);
	return write(output->fd, output->bytes, output->length);
}

static void took(struct output *output, size_t length)
{
	for (size_t i = 0; i < length; i++)
		output->lines_written += output->bytes[i] == '\n';
	output->is_open_line = output->bytes[length - 1] != '\n';
	output->length -= length;
	memmove(output->bytes, output->bytes + length, output->length);
}

/* A disk that is full may have room again, a reader that is gone has not. */
static bool is_final(int error)
{
	return error != ENOSPC && error != EDQUOT && error != EFBIG;
}

void output_flush(struct output *output, uint64_t now_ns)
{
	ssize_t length;

	if (!output->length)
		return;
	if (output->fd < 0 && (now_ns < output->retry_ns || connect_output(output))) {
		hang_up(output, now_ns < output->retry_ns ? output->retry_ns - RETRY_NS : now_ns);
		return;
	}
	length = put_queued_output(output);
	if (length > 0) {
		took(output, (size_t)length);
		if (!output->length)
			report_lost_output(output, 0, NULL);
		return;
	}
	if (length < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	int error = length < 0 ? errno : EIO;

	report_lost_output(output, error, strerror(error));
	if (is_final(error))
		hang_up(output, now_ns);
	else
		drop_output_lines(output);
}
