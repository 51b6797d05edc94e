// SPDX-License-Identifier: BSD-2-Clause
/* As source-live: what a process does on purpose with connections and files. */

#include "source-harness.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define NUMBER(name) field_number(&outcome, record, name)
#define TEXT(name)   field_text(&outcome, record, name)
#define MAPPED       UINT64_C(0xffff00000000) /* before an IPv4 address in the low half of one of IPv6 */

/* ---- members of unions, bytes swapped */

enum { ATTEMPTS = 10 };

static void plant_connection(struct reported *reported)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof address;
	int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);

	if (bind(server, (void *)&address, length) || listen(server, 1) ||
	    getsockname(server, (void *)&address, &length) || connect(client, (void *)&address, length))
		_exit(6);
	reported->numbers[0] = ntohs(address.sin_port);
	getsockname(client, (void *)&address, &length);
	reported->numbers[1] = ntohs(address.sin_port);
	close(accept(server, NULL, NULL));
	close(client);
	close(server);
}

/* What was seen of a connection: how often a state was reached, by whom. */
struct seen {
	size_t client, server, listening;
};

static struct seen check_connection(const struct outcome *at)
{
	const struct outcome outcome = *at;
	const struct event_header *record;
	uint64_t port = outcome.reported->numbers[0], own = outcome.reported->numbers[1];
	struct seen seen = { 0 };

	harness_check_order(&outcome);
	for (size_t i = 0; (record = record_get(&outcome, "inet_sock_set_state", i)); i++) {
		CHECK_EQUAL(record->pid, outcome.child);
		CHECK_EQUAL(NUMBER("family"), AF_INET);
		CHECK_EQUAL(NUMBER("protocol"), IPPROTO_TCP);
		CHECK(NUMBER("skaddr") >> 63);
		if (NUMBER("newstate") == 10) {
			CHECK_EQUAL(NUMBER("saddr_v6_lo"), MAPPED | INADDR_LOOPBACK);
			seen.listening++;
		}
		if (NUMBER("newstate") != 1)
			continue;
		CHECK_EQUAL(NUMBER("saddr_v6_lo"), MAPPED | INADDR_LOOPBACK);
		CHECK_EQUAL(NUMBER("daddr_v6_lo"), MAPPED | INADDR_LOOPBACK);
		CHECK(strcmp(TEXT("saddr"), "127.0.0.1") == 0 && strcmp(TEXT("daddr"), "127.0.0.1") == 0);
		seen.client += NUMBER("sport") == own && NUMBER("dport") == port && NUMBER("oldstate") == 2;
		seen.server += NUMBER("sport") == port && NUMBER("dport") == own && NUMBER("oldstate") == 3;
	}
	return seen;
}

/* Where the kernel has much to do, a thread of its own may be who is there when the connection is made. */
static void test_connection(const struct harness *harness)
{
	struct seen seen = { 0 };

	for (int i = 0; i < ATTEMPTS && !(seen.client && seen.server); i++) {
		struct outcome outcome;

		harness_run(harness, &(struct plan){ .types = { "inet_sock_set_state" }, .plant = plant_connection },
			    &outcome);
		seen = check_connection(&outcome);
		outcome_fini(&outcome);
	}
	CHECK_EQUAL(seen.listening, 1);
	CHECK_EQUAL(seen.client, 1);
	CHECK_EQUAL(seen.server, 1);
}

/* ---- a file that is written, and what its file system does of it: long chains of pointers */

static void plant_file(struct reported *reported)
{
	char path[] = "/tmp/asterism-source-XXXXXX";
	int file = mkstemp(path);
	struct stat status;

	if (file < 0 || fstat(file, &status))
		_exit(7);
	reported->numbers[0] = status.st_ino;
	reported->numbers[1] = (uint64_t)status.st_dev >> 8 << 20 | (status.st_dev & 0xff);
	reported->numbers[2] = (uint64_t)write(file, path, 11);
	reported->numbers[3] = (uint64_t)file;
	fsync(file);
	close(file);
	unlink(path);
}

static void test_file(const struct harness *harness)
{
	struct outcome outcome;

	harness_run(
		harness,
		&(struct plan){ .types = { "sys_enter_write", "sys_exit_write", "block_rq_issue", "block_bio_queue" },
				.plant = plant_file },
		&outcome);
	const struct event_header *record = record_get(&outcome, "sys_enter_write", 0);

	harness_check_order(&outcome);
	harness_check_header(&outcome, record);
	CHECK_EQUAL(NUMBER("fd"), outcome.reported->numbers[3]);
	CHECK_EQUAL(NUMBER("count"), 11);
	record = record_get(&outcome, "sys_exit_write", 0);
	CHECK_EQUAL(NUMBER("ret"), 11);
	record = record_get(&outcome, "block_bio_queue", 0);
	if (record)
		CHECK(NUMBER("nr_sector") > 0);
	outcome_fini(&outcome);
}

static void test_ext4(const struct harness *harness)
{
	struct outcome outcome;

	if (!harness_offers(harness, "ext4_sync_file_enter"))
		return;
	harness_run(harness, &(struct plan){ .types = { "ext4_sync_file_enter" }, .plant = plant_file }, &outcome);
	const struct event_header *record = record_get(&outcome, "ext4_sync_file_enter", 0);

	harness_check_order(&outcome);
	if (!record) {
		snprintf(harness_skipped, sizeof harness_skipped, "/tmp is no ext4");
	} else {
		CHECK_EQUAL(NUMBER("ino"), outcome.reported->numbers[0]);
		CHECK_EQUAL(NUMBER("dev"), outcome.reported->numbers[1]);
		CHECK_EQUAL(NUMBER("datasync"), 0);
	}
	outcome_fini(&outcome);
}

int main(int argc, char **argv)
{
	static const struct harness_test tests[] = {
		{ "connection", test_connection },
		{ "file", test_file },
		{ "ext4", test_ext4 },
	};

	return harness_main(argc, argv, tests, sizeof tests / sizeof *tests);
}
