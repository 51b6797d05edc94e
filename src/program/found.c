// SPDX-License-Identifier: BSD-2-Clause
/* Keeps matches in a list: the place of each, then the match as it is packed. */

#include "program/found.h"

#include "base/alloc.h"

#include <errno.h>
#include <string.h>

_Static_assert(sizeof(struct found_place) % 8 == 0, "matches are packed at multiples of 8");

static int make_found_room(struct found_list *list, size_t bytes)
{
	size_t room = list->room * 2 > list->used + bytes ? list->room * 2 : list->used + bytes;
	char *larger;

	if (bytes <= list->room - list->used)
		return 0;
	larger = alloc_resize(list->bytes, room, 1);
	if (!larger)
		return -ENOMEM;
	list->bytes = larger;
	list->room = room;
	return 0;
}

int found_add(struct found_list *list, const struct program *program, struct found_place place,
	      const struct program_match *match)
{
	size_t bytes = sizeof place + program_match_bytes(program, match);

	if (make_found_room(list, bytes))
		return -ENOMEM;
	memcpy(list->bytes + list->used, &place, sizeof place);
	program_match_pack(program, match, list->bytes + list->used + sizeof place);
	list->used += bytes;
	return 0;
}

void found_clear(struct found_list *list)
{
	list->used = 0;
}

void found_fini(struct found_list *list)
{
	alloc_free(list->bytes);
	*list = (struct found_list){ 0 };
}

bool found_peek(const struct found_reader *reader, struct found_place *place)
{
	if (reader->at == reader->list->used)
		return false;
	*place = *(const struct found_place *)(reader->list->bytes + reader->at);
	return true;
}

int found_take(struct found_reader *reader, struct found_room *room, struct program_match *match)
{
	const char *packed = reader->list->bytes + reader->at + sizeof(struct found_place);
	struct program_packed size = program_match_packed(packed);
	struct program_match_copy copy;

	if (size.room_bytes && alloc_grow(&room->bytes, &room->capacity, size.room_bytes - 1, 1))
		return -ENOMEM;
	program_match_unpack(packed, room->bytes, &copy);
	*match = copy.match;
	reader->at += sizeof(struct found_place) + size.bytes;
	return 0;
}
