// SPDX-License-Identifier: BSD-2-Clause
/*
 * Replaces an address in quotes by the number or string that it stands for beside a value that is one. What can only be
 * an IPv4 address is a number (ip4). What may be any is a string (ip), with the two halves of the IPv6 address beside
 * it as numbers, daddr_v6_hi and daddr_v6_lo beside daddr, which are compared in its place: an IPv4 address is the one
 * of IPv6 that stands for it.
 */

#include "lang/check/constants-priv.h"

#include "lang/check/machine-priv.h"
#include "meaning/meaning.h"

#include <arpa/inet.h>
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct address {
	bool is_v6;
	uint64_t parts[2]; /* high and low; an IPv4 address is the low one alone */
	unsigned bits;     /* of the net */
};

enum { ADDRESS_BYTES = 64, V4_BITS = 32, V6_BITS = 128, MAPPED_BITS = V6_BITS - V4_BITS };

/* The low half of IPv6 addresses that stand for ones of IPv4, but for these 32 bits; the high one is 0. */
#define MAPPED UINT64_C(0xffff00000000)

/* Whether bits of a net, as written behind the slash, are few enough; without them the net is one address. */
static bool read_bits(const char *text, unsigned most, unsigned *bits)
{
	char *end;

	*bits = most;
	if (!text)
		return true;
	if (*text < '0' || *text > '9')
		return false;
	unsigned long read = strtoul(text, &end, 10);

	*bits = (unsigned)read;
	return !*end && read <= most;
}

static bool read_literal_address(const char *text, bool may_be_net, struct address *address)
{
	char copy[ADDRESS_BYTES], *slash;
	uint32_t v4;
	uint64_t v6[2];

	if (snprintf(copy, sizeof copy, "%s", text) >= (int)sizeof copy)
		return false;
	slash = may_be_net ? strchr(copy, '/') : NULL;
	if (slash)
		*slash++ = 0;
	if (inet_pton(AF_INET, copy, &v4) == 1) {
		*address = (struct address){ .parts = { 0, ntohl(v4) } };
		return read_bits(slash, V4_BITS, &address->bits);
	}
	if (inet_pton(AF_INET6, copy, v6) != 1)
		return false;
	*address = (struct address){ .is_v6 = true, .parts = { be64toh(v6[0]), be64toh(v6[1]) } };
	if (!read_bits(slash, V6_BITS, &address->bits))
		return false;
	if (address->parts[0] == 0 && address->parts[1] >> 32 == MAPPED >> 32 && address->bits >= MAPPED_BITS)
		*address = (struct address){ .parts = { 0, (uint32_t)address->parts[1] },
					     .bits = address->bits - MAPPED_BITS };
	return true;
}

bool lang_is_address(const struct lang_expr *value, const struct lang_expr *text)
{
	return value->meaning && (value->meaning->form == MEANING_IP4 || meaning_is_text(value->meaning)) &&
	       text->op == LANG_CONST && text->kind == LANG_STRING;
}

static struct lang_expr *number_expr(struct lang_check *c, const struct lang_expr *like, uint64_t integer)
{
	struct lang_expr *expr = lang_new_expr(c, LANG_CONST, like->kind, &like->location);

	if (expr)
		expr->integer = integer;
	return expr;
}

static struct lang_expr *join_exprs(struct lang_check *c, enum lang_op op, enum lang_kind kind, struct lang_expr *left,
				    struct lang_expr *right)
{
	struct lang_expr *expr = left && right ? lang_new_expr(c, op, kind, &left->location) : NULL;

	if (expr) {
		expr->left = left;
		expr->right = right;
	}
	return expr;
}

/* Of a number of so many bits, the first ones. */
static uint64_t mask_of(unsigned bits, unsigned width)
{
	return bits == 0 ? 0 : ~UINT64_C(0) << (width - bits) & ~UINT64_C(0) >> (64 - width);
}

/* The first bits of value's width are those of wanted. All of them: the plain equality, which may be a correlation. */
static struct lang_expr *begins_with(struct lang_check *c, struct lang_expr *value, uint64_t wanted, unsigned bits,
				     unsigned width)
{
	uint64_t mask = mask_of(bits, width);

	if (bits == width)
		return join_exprs(c, LANG_EQ, LANG_BOOL, value, number_expr(c, value, wanted));
	return join_exprs(c, LANG_EQ, LANG_BOOL,
			  join_exprs(c, LANG_AND, value->kind, value, number_expr(c, value, mask)),
			  number_expr(c, value, wanted & mask));
}

/* Another field of value's event, an integer, as value is: an array's first, a plain field. NULL: there is none. */
static struct lang_expr *beside(struct lang_check *c, const struct lang_expr *value, const char *name)
{
	const struct event_type *type = c->scope ? c->scope->type : c->rule->elements[value->element].type;
	bool is_copied = value->op == LANG_FIELD || value->op == LANG_FIRST || value->op == LANG_LAST;
	const struct event_field *field = is_copied && type ? lang_event_field(c, type, name) : NULL;
	enum lang_kind kind = field ? lang_kind_of(field->value) : LANG_STRING;

	if (kind != LANG_U64 && kind != LANG_I64)
		return NULL;
	struct lang_expr *expr = lang_new_expr(c, value->op, kind, &value->location);

	if (expr) {
		expr->element = value->element;
		expr->field = field;
	}
	return expr;
}

static struct lang_expr *half(struct lang_check *c, const struct lang_expr *value, const char *ending)
{
	char name[128];
	bool fits = value->field && snprintf(name, sizeof name, "%s%s", value->field->name, ending) < (int)sizeof name;
	struct lang_expr *expr = fits ? beside(c, value, name) : NULL;

	return expr && expr->kind == LANG_U64 ? expr : NULL;
}

/* Whether the net of IPv6 has the address with these halves in it. */
static bool holds(const struct address *net, uint64_t high, uint64_t low)
{
	unsigned bits = net->bits < 64 ? net->bits : 64;

	return ((net->parts[0] ^ high) & mask_of(bits, 64)) == 0 &&
	       ((net->parts[1] ^ low) & mask_of(net->bits - bits, 64)) == 0;
}

static struct lang_expr *both(struct lang_check *c, struct lang_expr *left, struct lang_expr *right)
{
	return join_exprs(c, LANG_LAND, LANG_BOOL, left, right);
}

/* What is no IP address has halves of 0, and what is one of IPv4 is in nets of IPv6 that have all of these in them. */
static struct lang_expr *is_v6(struct lang_check *c, const struct lang_expr *value, const struct address *address,
			       struct lang_expr *high, struct lang_expr *low)
{
	unsigned bits = address->bits < 64 ? address->bits : 64;
	struct lang_expr *family = holds(address, 0, 0) ? beside(c, value, "family") : NULL;
	struct lang_expr *equal = both(c, begins_with(c, high, address->parts[0], bits, 64),
				       begins_with(c, low, address->parts[1], address->bits - bits, 64));

	if (family)
		equal = both(c, join_exprs(c, LANG_EQ, LANG_BOOL, family, number_expr(c, family, AF_INET6)), equal);
	if (!holds(address, 0, MAPPED))
		return equal;
	struct lang_expr *is_v4 = both(c, join_exprs(c, LANG_EQ, LANG_BOOL, high, number_expr(c, high, 0)),
				       begins_with(c, low, MAPPED, 32, 64));
	struct lang_expr *is_not = is_v4 ? lang_new_expr(c, LANG_LNOT, LANG_BOOL, &value->location) : NULL;

	if (is_not)
		is_not->left = is_v4;
	return both(c, equal, is_not);
}

/* value is a string. */
static struct lang_expr *is_any(struct lang_check *c, const struct lang_expr *value, const struct lang_expr *text,
				const struct address *address)
{
	struct lang_expr *high = half(c, value, "_v6_hi"), *low = half(c, value, "_v6_lo");

	if (!high || !low) {
		lang_error(c->report, &text->location, "compare addr_v6_hi and addr_v6_lo instead, both u64",
			   "the event does not have the halves of this address as numbers");
		return NULL;
	}
	if (address->is_v6)
		return is_v6(c, value, address, high, low);
	return both(c, begins_with(c, low, MAPPED | address->parts[1], 32 + address->bits, 64),
		    join_exprs(c, LANG_EQ, LANG_BOOL, high, number_expr(c, high, 0)));
}

/* What a socket of UNIX may be called, and what is no address at all. */
static bool is_local(const char *text)
{
	return !*text || *text == '/' || *text == '@' || *text == '.';
}

struct lang_expr *lang_check_address(struct lang_check *c, struct lang_expr *value, struct lang_expr *text,
				     bool may_be_net)
{
	bool is_text = meaning_is_text(value->meaning);
	struct address address;

	if (is_text && is_local(text->text))
		return lang_type_equal(c, LANG_EQ, value, text, &text->location);
	if (!read_literal_address(text->text, may_be_net, &address)) {
		lang_error(c->report, &text->location,
			   may_be_net ? "addresses are \"127.0.0.1\" or \"::1\", networks \"10.0.0.0/8\""
				      : "write a network as IN { \"10.0.0.0/8\" }",
			   "this is not an IP address");
		return NULL;
	}
	if (is_text)
		return is_any(c, value, text, &address);
	if (!address.is_v6)
		return begins_with(c, value, address.parts[1], address.bits, V4_BITS);
	lang_warn(c->report, &text->location, NULL, "this is never equal: the other value is an IPv4 address");
	return lang_new_expr(c, LANG_CONST, LANG_BOOL, &text->location);
}
