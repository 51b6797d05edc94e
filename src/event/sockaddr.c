// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the address of a socket in the arguments of calls, and reads its fields. It lies in memory of the user: as its
 * family says, 2 (AF_INET) or 10 (AF_INET6), port and address follow, in network order. The address is a string;
 * conditions look at the numbers beside it, the halves of the IPv6 address, which of an IPv4 address are those of the
 * IPv6 address that stands for it (::ffff:127.0.0.1), and 0 of any other family.
 */

#include "event/sockaddr-priv.h"

#include <string.h>

#define FAMILY(address)       "(user_word(" address ") & 0xffff)"
#define HALF(address, offset) "be64(user_word(" address " + " #offset "))"
#define V4(address)           "(be32(user_word(" address ") >> 32) | 0xffff00000000)"
#define IS_V4(address)        "(" FAMILY(address) " == 2)"
#define IS_NONE(address)      "(" FAMILY(address) " == 0)"

/* bind and sendto take an address of no family, 0 (AF_UNSPEC), for one of IPv4; to connect it means to be nowhere. */
#define IS_V4_OR_NONE(address) "((" address " != 0) & (" IS_V4(address) " | " IS_NONE(address) "))"

/* when is a factor before everything, and has before the name: where they are 0 nothing is read. */
#define SOCKADDR(when, has, addr, address, bytes, is_v4)                                                             \
	{                                                                                                            \
		{ "family", EVENT_U16, 0, "enum socket_family", when FAMILY(address), "family of the address" },     \
			{ "port",                                                                                    \
			  EVENT_U16,                                                                                 \
			  0,                                                                                         \
			  "port",                                                                                    \
			  when "(" is_v4(address) " | (" FAMILY(address) " == 10)) * be16(user_word(" address        \
									 ") >> 16)",                                 \
			  "port of the address" },                                                                   \
			{ addr,                                                                                      \
			  EVENT_STRING,                                                                              \
			  ADDRESS_BYTES,                                                                             \
			  "ip",                                                                                      \
			  "user_sockaddr(" when has address ", " bytes ")",                                          \
			  "IP address, or name of the UNIX socket" },                                                \
			{ addr "_v6_hi",                                                                             \
			  EVENT_U64,                                                                                 \
			  0,                                                                                         \
			  "addr",                                                                                    \
			  when "(" FAMILY(address) " == 10) * " HALF(address, 8),                                    \
			  "first half of the IPv6 address" },                                                        \
			{ addr "_v6_lo",                                                                             \
			  EVENT_U64,                                                                                 \
			  0,                                                                                         \
			  "addr",                                                                                    \
			  when "(((" FAMILY(address) " == 10) * " HALF(address, 16) ") | (" is_v4(address) " * " V4( \
				  address) "))",                                                                     \
			  "second half of the IPv6 address" },                                                       \
	}

enum { ADDRESS_BYTES = 112 }; /* 108 of a path, its NUL */

#define NAMED   "syscall_arg(1)"
#define SENT_TO "syscall_arg(4)"

static const struct event_about given[] =
	SOCKADDR("", "(" FAMILY(NAMED) " != 0) * ", "addr", NAMED, "syscall_arg(2)", IS_V4);
static const struct event_about bound[] = SOCKADDR("", "", "addr", NAMED, "syscall_arg(2)", IS_V4_OR_NONE);
/* addr is the argument */
static const struct event_about sent[] = SOCKADDR("", "", "to_addr", SENT_TO, "syscall_arg(5)", IS_V4_OR_NONE);
static const struct event_about received[] =
	SOCKADDR("(ret >= 0) * ", "", "addr", NAMED, "user_word(syscall_arg(2))", IS_V4);

_Static_assert(sizeof given / sizeof *given == EVENT_SOCKADDR_FIELDS, "types have room for so many");

static const struct {
	const char *type;
	const struct event_about *fields;
} rows[] = {
	{ "sys_enter_connect", given },  { "sys_enter_bind", bound },      { "sys_enter_sendto", sent },
	{ "sys_exit_accept", received }, { "sys_exit_accept4", received },
};

const struct event_about *event_sockaddr_fields(const char *type)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (strcmp(rows[i].type, type) == 0)
			return rows[i].fields;
	}
	return NULL;
}

const struct event_about *event_sockaddr_find(const char *type, const char *name)
{
	const struct event_about *fields = event_sockaddr_fields(type);

	for (size_t i = 0; fields && i < EVENT_SOCKADDR_FIELDS; i++) {
		if (strcmp(fields[i].name, name) == 0)
			return &fields[i];
	}
	return NULL;
}
