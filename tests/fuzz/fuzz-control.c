// SPDX-License-Identifier: BSD-2-Clause
/*
 * Bytes of any sort on the control socket of asterismd, in pieces of any size: what they are cut into is the same
 * however they come, nothing is kept beyond the limits, and a request that is accepted keeps the promises of request.h.
 */

#include "base/alloc.h"
#include "daemon/frame.h"
#include "daemon/request.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void promise(bool kept)
{
	if (!kept)
		abort();
}

/* What a stream was cut into. */
struct outcome {
	size_t messages, bodies, requests;
	uint64_t hash;
	bool too_long;
};

static void note(struct outcome *outcome, const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		outcome->hash = (outcome->hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
}

static void check_request(const struct request *request)
{
	promise(request->op < REQUEST_OPS);
	promise(memchr(request->unit, 0, sizeof request->unit) != NULL);
	promise(request->length <= FRAME_BODY_BYTES_MAX && request->timeout_ms <= REQUEST_TIMEOUT_MS_MAX);
	promise(!request->length || request->op == REQUEST_LOAD);
	promise((request->ticket != 0) == (request->op == REQUEST_CONTINUE || request->op == REQUEST_ABORT));
	if (request_is_unit_name(request->unit))
		promise(!strchr(request->unit, '.') && !strchr(request->unit, '/'));
}

static void take(struct frame *frame, const struct frame_message *message, struct outcome *outcome)
{
	char why[REQUEST_WHY_BYTES] = "";
	struct request request;

	outcome->messages++;
	outcome->bodies += message->is_body;
	note(outcome, message->bytes, message->length);
	if (message->is_body)
		return;
	promise(message->bytes[message->length] == 0 && message->length <= FRAME_LINE_BYTES_MAX);
	if (request_read(message->bytes, message->length, &request, why)) {
		promise(why[0] && memchr(why, 0, sizeof why));
		return;
	}
	check_request(&request);
	outcome->requests++;
	if (request.op == REQUEST_LOAD)
		promise(frame_expect(frame, request.length) == 0);
}

static void feed(const uint8_t *data, size_t size, size_t piece, struct outcome *outcome)
{
	struct frame frame = { 0 };
	struct frame_message message;
	size_t at = 0;
	int found = 0;

	while (found >= 0) {
		size_t room = 0;
		char *bytes;

		while ((found = frame_next(&frame, &message)) > 0)
			take(&frame, &message, outcome);
		if (found < 0 || at == size)
			break;
		bytes = frame_room(&frame, &room);
		promise(bytes && room > 0 && frame.capacity <= FRAME_BODY_BYTES_MAX + 2);
		if (room > piece)
			room = piece;
		if (room > size - at)
			room = size - at;
		memcpy(bytes, data + at, room);
		frame_add(&frame, room);
		at += room;
	}
	outcome->too_long = found < 0;
	frame_fini(&frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t pieces[] = { 1, 7, 4096 };
	struct outcome whole = { 0 };

	feed(data, size, SIZE_MAX, &whole);
	for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
		struct outcome cut = { 0 };

		if (pieces[i] == 1 && size > 1 << 14)
			continue;
		feed(data, size, pieces[i], &cut);
		promise(memcmp(&cut, &whole, sizeof cut) == 0);
	}
	return 0;
}
