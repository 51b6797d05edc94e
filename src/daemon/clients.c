// SPDX-License-Identifier: BSD-2-Clause
/* Serves clients: whom it listens to, for how long, and when a client is disconnected. */

#include "daemon/clients.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "daemon/results.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* How long a request or a reply may stand still, and how long a client may have nothing to say. */
#define STALLED_NS UINT64_C(5000000000)
#define IDLE_NS    UINT64_C(600000000000)

/* Requests of one client that are served before others have their turn. */
enum { REQUESTS_AT_ONCE = 16 };

void client_refuse(struct client *client, const char *word, const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	text_printf(&client->reply, "{\"ok\":false,\"error\":\"%s\",\"message\":", word);
	text_json(&client->reply, text);
	text_append(&client->reply, "}\n");
}

void client_agree(struct client *client)
{
	text_append(&client->reply, "{\"ok\":true}\n");
}

static void close_client(struct clients *clients, struct client *client)
{
	close(client->fd);
	frame_fini(&client->frame);
	text_fini(&client->reply);
	results_clear(client);
	*client = (struct client){ .fd = -1 };
	clients->count--;
}

static void watch_client(struct clients *clients, struct client *client, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.u64 = clients->tag + (size_t)(client - clients->items) };

	if (client->watched != events && epoll_ctl(clients->epoll_fd, EPOLL_CTL_MOD, client->fd, &event) == 0)
		client->watched = events;
}

static bool is_waiting_to_send(const struct client *client)
{
	return client->reply.length > client->sent || client->reply.failure;
}

/* Sends what there is. Returns false when the client is gone. */
static bool send_reply(struct clients *clients, struct client *client)
{
	while (client->reply.length > client->sent && !client->reply.failure) {
		ssize_t length = send(client->fd, client->reply.bytes + client->sent,
				      client->reply.length - client->sent, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (length < 0 && errno == EINTR)
			continue;
		if (length < 0 && errno == EAGAIN) {
			watch_client(clients, client, EPOLLOUT);
			return true;
		}
		if (length <= 0) {
			close_client(clients, client);
			return false;
		}
		client->sent += (size_t)length;
		client->since_ns = clock_now_ns();
	}
	if (client->reply.failure || client->is_ending) {
		close_client(clients, client);
		return false;
	}
	text_fini(&client->reply);
	client->sent = 0;
	watch_client(clients, client, EPOLLIN | EPOLLRDHUP);
	return true;
}

static void serve_line(struct clients *clients, struct client *client, const struct frame_message *line)
{
	char why[REQUEST_WHY_BYTES];
	int result = request_read(line->bytes, line->length, &client->request, why);

	if (result) {
		client_refuse(client, result == -ENOSYS ? "unknown-operation" : "malformed", "%s", why);
	} else if (client->user != 0 && client->request.length > CLIENT_BODY_BYTES_MAX) {
		client_refuse(client, "refused", "rules sent by a user other than root are limited to %d bytes",
			      CLIENT_BODY_BYTES_MAX);
		client->is_ending = true;
	} else if (request_has_body(client->request.op)) {
		frame_expect(&client->frame, client->request.length);
		client->awaits_body = true;
	} else {
		clients->serve(clients->context, client, &client->request, NULL);
	}
}

static void serve_one(struct clients *clients, struct client *client, const struct frame_message *message)
{
	client->since_ns = clock_now_ns();
	if (message->is_body) {
		client->awaits_body = false;
		clients->serve(clients->context, client, &client->request, message);
	} else {
		serve_line(clients, client, message);
	}
}

/* A client that awaits a result is not read from, but its end is seen. */
static void look_away(struct clients *clients, struct client *client)
{
	if (client->awaits_result)
		watch_client(clients, client, EPOLLRDHUP);
}

/* Serves what has come in as far as replies are taken. Returns false when the client is gone. */
static bool serve_client(struct clients *clients, struct client *client)
{
	client->has_more = false;
	for (int i = 0; i < REQUESTS_AT_ONCE; i++) {
		struct frame_message message;
		int found;

		if (client->awaits_result || is_waiting_to_send(client))
			return true;
		found = frame_next(&client->frame, &message);
		if (!found)
			return true;
		if (found < 0) {
			client_refuse(client, "too-long", "the request is longer than %d bytes", FRAME_LINE_BYTES_MAX);
			client->is_ending = true;
		} else {
			serve_one(clients, client, &message);
		}
		if (!send_reply(clients, client))
			return false;
		look_away(clients, client);
	}
	client->has_more = true;
	return true;
}

/* Returns false when the client is gone. */
static bool receive_request(struct clients *clients, struct client *client)
{
	bool was_open = frame_is_open(&client->frame);
	size_t room;
	char *bytes = frame_room(&client->frame, &room);
	ssize_t length;

	if (!bytes)
		return true;
	length = recv(client->fd, bytes, room, MSG_DONTWAIT);
	if (length < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (length <= 0) {
		close_client(clients, client);
		return false;
	}
	frame_add(&client->frame, (size_t)length);
	/* A message has so long from its first byte; only a body, which may be large, as long as it goes on. */
	if (!was_open || client->awaits_body)
		client->since_ns = clock_now_ns();
	return true;
}

void clients_step(struct clients *clients, size_t index, uint32_t events)
{
	struct client *client = &clients->items[index];

	if (index >= CLIENTS_MAX || client->fd < 0)
		return;
	if (client->awaits_result) {
		if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
			close_client(clients, client);
		return;
	}
	if (is_waiting_to_send(client) && !send_reply(clients, client))
		return;
	if (is_waiting_to_send(client))
		return;
	if (serve_client(clients, client) && client->fd >= 0 && !is_waiting_to_send(client) &&
	    receive_request(clients, client))
		serve_client(clients, client);
}

/* The time that client has, from now on, before something is done about it. */
static uint64_t due_ns(const struct client *client)
{
	if (client->awaits_result)
		return client->deadline_ns;
	if (is_waiting_to_send(client) || frame_is_open(&client->frame))
		return client->since_ns + STALLED_NS;
	return client->since_ns + IDLE_NS;
}

static void do_due(struct clients *clients, struct client *client)
{
	if (client->awaits_result) {
		client->awaits_result = false;
		client_refuse(client, "timeout", "no result came before the timeout");
	} else if (!is_waiting_to_send(client)) {
		client_refuse(client, "late", "the request was not complete before the timeout");
		client->is_ending = true;
	} else {
		close_client(clients, client);
		return;
	}
	client->since_ns = clock_now_ns();
	if (send_reply(clients, client))
		serve_client(clients, client);
}

uint64_t clients_poll(struct clients *clients, uint64_t now_ns)
{
	uint64_t next_ns = UINT64_MAX;

	for (size_t i = 0; i < CLIENTS_MAX; i++) {
		struct client *client = &clients->items[i];

		if (client->fd < 0)
			continue;
		if (client->awaits_result && results_reply(client)) {
			if (!send_reply(clients, client) || !serve_client(clients, client))
				continue;
		}
		if (client->has_more && !serve_client(clients, client))
			continue;
		if (due_ns(client) <= now_ns)
			do_due(clients, client);
		if (client->fd >= 0 && client->has_more)
			next_ns = now_ns;
		if (client->fd >= 0 && due_ns(client) < next_ns)
			next_ns = due_ns(client);
	}
	return next_ns;
}

static size_t clients_of_user(const struct clients *clients, uid_t user)
{
	size_t count = 0;

	for (size_t i = 0; i < CLIENTS_MAX; i++)
		count += clients->items[i].fd >= 0 && clients->items[i].user == user;
	return count;
}

static void refuse_at_once(struct clients *clients, int fd)
{
	static const char text[] = "{\"ok\":false,\"error\":\"busy\",\"message\":\"too many clients are connected\"}\n";

	clients->refused++;
	send(fd, text, sizeof text - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	close(fd);
}

static struct client *free_client_place(struct clients *clients)
{
	for (size_t i = 0; i < CLIENTS_MAX; i++) {
		if (clients->items[i].fd < 0)
			return &clients->items[i];
	}
	return NULL;
}

static void enter_client(struct clients *clients, int fd)
{
	struct client *client = free_client_place(clients);
	struct ucred peer;
	socklen_t length = sizeof peer;
	struct epoll_event event = { .events = EPOLLIN | EPOLLRDHUP };

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length)) {
		close(fd);
		return;
	}
	if (!client || (peer.uid != 0 && clients_of_user(clients, peer.uid) >= CLIENTS_OF_USER_MAX)) {
		refuse_at_once(clients, fd);
		return;
	}
	event.data.u64 = clients->tag + (size_t)(client - clients->items);
	if (epoll_ctl(clients->epoll_fd, EPOLL_CTL_ADD, fd, &event)) {
		close(fd);
		return;
	}
	*client = (struct client){ .fd = fd, .user = peer.uid, .watched = event.events, .since_ns = clock_now_ns() };
	clients->count++;
}

void clients_accept(struct clients *clients)
{
	for (int i = 0; i < CLIENTS_MAX; i++) {
		int fd = accept4(clients->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0)
			return;
		enter_client(clients, fd);
	}
}

void clients_close(struct clients *clients)
{
	for (size_t i = 0; i < CLIENTS_MAX; i++) {
		if (clients->items[i].fd >= 0)
			close_client(clients, &clients->items[i]);
	}
	if (clients->listen_fd >= 0) {
		close(clients->listen_fd);
		unlink(clients->path);
	}
	clients->listen_fd = -1;
}
