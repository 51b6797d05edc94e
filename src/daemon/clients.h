/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DAEMON_CLIENTS_H
#define DAEMON_CLIENTS_H

/*
 * The clients of the control socket. Each has one request at a time, and gets one reply to it; the next one is not read
 * before that has been taken. Who is slow waits alone; who begins something and does not end it is sent away. A client
 * that has asked for results once has them kept, so many at most, until it asks for the next.
 */

#include "base/text.h"
#include "daemon/frame.h"
#include "daemon/request.h"

#include "asterism/asterism.h"

#include <sys/types.h>

enum {
	CLIENTS_MAX = 64,
	CLIENTS_OF_USER_MAX = 32,        /* so that root always finds room */
	CLIENT_BODY_BYTES_MAX = 1 << 20, /* of users other than root */
	CLIENT_RESULTS_MAX = 256,
	CLIENT_RESULTS_BYTES_MAX = 1 << 20,
};

/* A match or a question on its way to clients; several may hold it. */
struct result {
	unsigned holders;
	char unit[REQUEST_UNIT_BYTES];
	uint64_t ticket; /* 0: no question */
	uint64_t deadline_ns;
	size_t length;
	char text[];
};

struct client {
	int fd; /* -1: none */
	uid_t user;
	struct frame frame;
	struct request request; /* whose body or result is awaited */
	struct text_buffer reply;
	size_t sent;       /* of the reply */
	uint64_t since_ns; /* the last progress of what is under way */
	bool is_ending;    /* goes when the reply is sent */
	bool has_more;     /* requests have come in that were not served yet */
	bool awaits_body, awaits_result;
	uint64_t deadline_ns; /* awaits_result */
	bool wants_results;   /* has asked for some */
	char wanted_unit[REQUEST_UNIT_BYTES];
	struct result *results[CLIENT_RESULTS_MAX];
	size_t first, count, result_bytes;
	uint64_t dropped; /* results without room since the last reply */
	uint32_t watched; /* what epoll is asked for */
};

struct clients {
	struct client items[CLIENTS_MAX];
	int epoll_fd, listen_fd;
	uint64_t tag; /* of clients in epoll: this + the index */
	const char *path;
	size_t count;
	uint64_t refused, dropped;
	/* Does what a request asks for; body is that of LOAD. Writes the reply, or sets awaits_result. */
	void (*serve)(void *context, struct client *client, const struct request *request,
		      const struct frame_message *body);
	void *context;
};

/* Listens at path. Returns 0 or -errno after a line in the log. */
int clients_open(struct clients *clients, const char *path, const char *group);
void clients_close(struct clients *clients);

/* The socket is readable. */
void clients_accept(struct clients *clients);

/* Client number index can be read or written, as events of epoll say. */
void clients_step(struct clients *clients, size_t index, uint32_t events);

/* Answers clients that have waited long enough, and closes those that hold things up. Returns when that is due next. */
uint64_t clients_poll(struct clients *clients, uint64_t now_ns);

/* Whether somebody would get a result of this unit; only_root: somebody who may answer. */
bool clients_want(const struct clients *clients, const char *unit, bool only_root);

/* Hands a result to all who want it. Returns how many of them may answer. */
size_t clients_give(struct clients *clients, struct result *result);

/* A result, held once; text need not end with a NUL. NULL: memory is short, or it is too long. */
struct result *result_new(const char *unit, const char *text, size_t length);
void result_drop(struct result *result);

/* {"ok":false,"error":word,"message":...} */
void client_refuse(struct client *client, const char *word, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* {"ok":true} */
void client_agree(struct client *client);

#endif
