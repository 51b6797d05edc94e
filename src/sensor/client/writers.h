/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SENSOR_CLIENT_WRITERS_H
#define SENSOR_CLIENT_WRITERS_H

/*
 * Which ring a thread writes to. Most rings are a thread's own from its first event to its end. The others are lent for
 * an event: to threads that found none, and to signal handlers that interrupt a thread in its own.
 */

#include "sensor/client/register.h"

/* In a child, whose only thread we are. Its parent's descriptors are closed: they would keep the parent alive. */
ASTERISM_CLIENT_FUNCTION void asterism_client_forget(struct asterism_client *client)
{
	pthread_mutex_init(&client->lock, NULL);
	asterism_client_drop(&client->socket);
	asterism_client_drop(&client->area_fd);
	__atomic_store_n(&client->writers, (struct asterism_client_writers *)NULL, __ATOMIC_RELEASE);
	client->inherited = client->told_count ? client->told_count : client->inherited;
	client->told_count = 0;
	client->has_helper = client->has_waited = client->is_unanswered = 0;
	client->missed = 0;
	asterism_sensor_writer = &asterism_client_nobody;
	memset(&asterism_client_self, 0, sizeof asterism_client_self);
}

ASTERISM_CLIENT_FUNCTION void asterism_client_look_at_self(struct asterism_client_self *self, pid_t pid)
{
	self->by.who.pid = (uint32_t)pid;
	self->by.who.tid = (uint32_t)syscall(SYS_gettid);
	memset(self->by.who.comm, 0, sizeof self->by.who.comm);
	prctl(PR_GET_NAME, self->by.who.comm);
}

ASTERISM_CLIENT_FUNCTION int asterism_client_own_slot(struct sensor_slot *slot, uint32_t tid)
{
	uint64_t nobody = 0;

	if (__atomic_load_n(&slot->owner, __ATOMIC_RELAXED) ||
	    !__atomic_compare_exchange_n(&slot->owner, &nobody, tid, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return 0;
	slot->owners++;
	return 1;
}

/* The thread's own ring, from now on; NULL: there is none left. */
ASTERISM_CLIENT_FUNCTION struct asterism_sensor_writer *asterism_client_claim(struct asterism_client_writers *writers,
									      const struct asterism_client_self *self)
{
	for (uint32_t i = 0; i < writers->own; i++) {
		struct asterism_sensor_writer *writer = &writers->items[i];

		if (!asterism_client_own_slot(&writers->slots[i], self->by.who.tid))
			continue;
		ring_exclusive_own(&writer->ring, &self->by.who);
		writer->open = NULL;
		writer->tid = self->by.who.tid;
		return writer;
	}
	return NULL;
}

/* The end of a thread. What it began and never committed gives way to the next one's. */
ASTERISM_CLIENT_FUNCTION void asterism_client_give_back(void *own)
{
	struct asterism_sensor_writer *writer = (struct asterism_sensor_writer *)own;
	struct asterism_client_writers *writers = asterism_client.writers;

	if (writer != asterism_sensor_writer || !writer->tid) /* a parent's */
		return;
	asterism_sensor_writer = &asterism_client_nobody;
	writer->is_idle = 0;
	writer->open = NULL;
	writer->tid = 0;
	__atomic_store_n(&writers->slots[writer - writers->items].owner, 0, __ATOMIC_RELEASE);
}

/* Room in a ring that is lent until the commit; or nowhere, and it is counted. */
ASTERISM_CLIENT_FUNCTION void *asterism_client_borrow(struct asterism_client_writers *writers,
						      const struct ring_borrower *by, uint32_t units)
{
	for (uint32_t i = writers->own; i < writers->shape.slots; i++) {
		struct asterism_sensor_writer *writer = &writers->items[i];
		struct ring_borrower now = *by;
		void *payload;

		if (!asterism_client_own_slot(&writers->slots[i], by->who.tid))
			continue;
		now.now = asterism_sensor_now(writers->clock, 0);
		payload = ring_exclusive_borrow(&writer->ring, &now, units);
		__atomic_store_n(&writer->open, payload, __ATOMIC_RELAXED);
		return payload;
	}
	__atomic_fetch_add(&writers->slots[0].dropped, 1, __ATOMIC_RELAXED);
	return asterism_sensor_nowhere();
}

/* A child of a raw clone: nothing told it what it is. */
ASTERISM_CLIENT_FUNCTION void asterism_client_notice(struct asterism_client *client)
{
	pid_t before = __atomic_load_n(&client->pid, __ATOMIC_RELAXED), pid = getpid();

	if (before != pid &&
	    __atomic_compare_exchange_n(&client->pid, &before, pid, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		asterism_client_forget(client);
}

/* The writers of this process, which registers if it is one that has not. NULL: it cannot. */
ASTERISM_CLIENT_FUNCTION struct asterism_client_writers *asterism_client_writers_here(struct asterism_client *client)
{
	struct asterism_client_writers *writers = __atomic_load_n(&client->writers, __ATOMIC_ACQUIRE);

	if (writers && __atomic_load_n(&writers->is_ready, __ATOMIC_ACQUIRE))
		return writers;
	asterism_client_notice(client);
	for (uint32_t i = 0; pthread_mutex_trylock(&client->lock); i++) { /* somebody else does it, or is interrupted */
		client->has_waited |= i == 2 * ASTERISM_CLIENT_START_MS;
		if (client->has_waited) /* once is enough */
			return NULL;
		asterism_client_pause(1);
	}
	writers = client->writers;
	if ((!writers || !writers->is_ready) && !client->is_unanswered) /* else the helper does it, in its time */
		asterism_client_register(client, ASTERISM_CLIENT_START_MS);
	writers = client->writers;
	pthread_mutex_unlock(&client->lock);
	return writers && writers->is_ready ? writers : NULL;
}

/* Before the thread's own ring: that is not there yet, or no more, or an event is open in it. */
ASTERISM_CLIENT_FUNCTION void *asterism_client_begin(struct asterism_client *client, uint32_t units)
{
	struct asterism_client_self *self = &asterism_client_self;
	struct asterism_client_writers *writers = asterism_client_writers_here(client);
	struct asterism_sensor_writer *writer = asterism_sensor_writer;

	if (!writers) {
		asterism_client_miss(client);
		return asterism_sensor_nowhere();
	}
	if (self->by.who.pid != (uint32_t)client->pid)
		asterism_client_look_at_self(self, client->pid);
	if (writer->tid || self->is_claiming)
		return asterism_client_borrow(writers, &self->by, units);
	self->is_claiming = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	asterism_client_look_at_self(self, client->pid);
	writer = client->has_key ? asterism_client_claim(writers, self) : NULL;
	if (writer && pthread_setspecific(client->key, writer)) {
		writer->tid = 0;
		__atomic_store_n(&writers->slots[writer - writers->items].owner, 0, __ATOMIC_RELEASE);
		writer = NULL;
	}
	void *payload;

	if (writer) {
		asterism_sensor_writer = writer;
		payload = ring_exclusive_reserve(&writer->ring, units);
		writer->open = payload;
	} else {
		payload = asterism_client_borrow(writers, &self->by, units);
	}
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	self->is_claiming = 0;
	return payload;
}

/* What is not the event open in the thread's own ring: in one that was lent, nowhere, or in a parent's memory. */
ASTERISM_CLIENT_FUNCTION void asterism_client_commit(struct asterism_client *client, uint16_t id, void *payload,
						     int is_ordered)
{
	struct asterism_client_writers *writers = __atomic_load_n(&client->writers, __ATOMIC_ACQUIRE);

	if ((uintptr_t)payload - (uintptr_t)asterism_sensor_scratch < sizeof asterism_sensor_scratch || !writers)
		return;
	for (uint32_t i = writers->own; i < writers->shape.slots; i++) {
		struct asterism_sensor_writer *writer = &writers->items[i];

		if (__atomic_load_n(&writer->open, __ATOMIC_RELAXED) != payload)
			continue;
		ring_exclusive_return(&writer->ring, id, asterism_sensor_now(writers->clock, is_ordered));
		__atomic_store_n(&writer->open, NULL, __ATOMIC_RELAXED);
		__atomic_store_n(&writers->slots[i].owner, 0, __ATOMIC_RELEASE);
		return;
	}
}

#endif
