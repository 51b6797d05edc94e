// SPDX-License-Identifier: BSD-2-Clause
/*
 * A server that tells what it does: it answers every line that comes over TCP, a thread for each connection. Build it
 * with `make sensor-server`, then
 *
 *	asterism sensors --serve &            unless asterismd --sensors runs
 *	./sensor-server 8642 &
 *	asterism sensors
 *	printf 'hello\nslow\n' | nc -q1 localhost 8642
 *
 * "slow" sleeps 20 ms before it is answered, "sleep N" N ms, "compute N" works as long; the others take 0.1 ms. A
 * request has three phases, told by sensors: it is received, worked on, and answered. requests.rule splits them.
 *
 * Nothing here knows whether somebody looks, and nothing fails or waits where nobody does.
 */

#include "asterism/sensor.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CONNECTION(F) F(u32, connection, "", "its descriptor") F(u16, client_port, "port", "")
#define REQUEST(F)    F(u64, id, "", "counted from 1") F(u32, connection, "", "") F(u32, bytes, "bytes", "of the line")
#define ANSWER(F)     F(u64, id, "", "of the request") F(text16, word, "", "the line's beginning") F(boolean, fine, "", "")

ASTERISM_SENSOR(connection_open, "a client connects", CONNECTION)
ASTERISM_SENSOR(request_begin, "a line has come", REQUEST)
ASTERISM_SENSOR_BARE(request_work, "it is understood, and worked on")
ASTERISM_SENSOR_BARE(request_answer, "the work is done, and answered")
ASTERISM_SENSOR(request_end, "it is answered", ANSWER)
ASTERISM_SENSOR_BARE(connection_close, "a client is gone")

static atomic_ulong requests;

/* Milliseconds of this thread on a processor. */
static double own_ms(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (double)used.tv_sec * 1e3 + (double)used.tv_nsec / 1e6;
}

static void compute(int ms)
{
	double until = own_ms() + ms;
	volatile unsigned sum = 0;

	do
		for (unsigned i = 0; i < 100000; i++)
			sum += i;
	while (own_ms() < until);
}

static void work(const char *line)
{
	struct timespec pause = { .tv_nsec = strncmp(line, "slow", 4) ? 100000 : 20000000 };
	int ms;

	if (sscanf(line, "compute %d", &ms) == 1) {
		compute(ms);
		return;
	}
	if (sscanf(line, "sleep %d", &ms) == 1)
		pause = (struct timespec){ ms / 1000, ms % 1000 * 1000000L };
	nanosleep(&pause, NULL);
}

static void answer(int connection, const char *line)
{
	uint64_t id = ++requests;

	ASTERISM_SENSE(request_begin, id, (uint32_t)connection, (uint32_t)strlen(line));
	ASTERISM_SENSE(request_work);
	work(line);
	ASTERISM_SENSE(request_answer);

	int sent = dprintf(connection, "%lu: %s", (unsigned long)id, line);

	ASTERISM_SENSE(request_end, id, line, sent > 0);
}

static void *serve(void *context)
{
	FILE *stream = context;
	char line[256];

	while (fgets(line, sizeof line, stream))
		answer(fileno(stream), line);
	fclose(stream);
	ASTERISM_SENSE(connection_close);
	return NULL;
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons((uint16_t)atoi(argc > 1 ? argv[1] : "8642")),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 64)) {
		perror("sensor-server");
		return 1;
	}
	for (;;) {
		struct sockaddr_in client;
		socklen_t bytes = sizeof client;
		int connection = accept(listener, (struct sockaddr *)&client, &bytes);
		FILE *stream = connection < 0 ? NULL : fdopen(connection, "r");
		pthread_t thread;

		if (!stream)
			continue;
		ASTERISM_SENSE(connection_open, (uint32_t)connection, ntohs(client.sin_port));
		if (pthread_create(&thread, NULL, serve, stream))
			fclose(stream);
		else
			pthread_detach(thread);
	}
}
