// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides what an address in quotes stands for beside a value that is one. IPv4 addresses are numbers. Events that may
 * carry either have the two halves of IPv6 addresses beside them: daddr_v6_hi and daddr_v6_lo beside daddr.
 */

#include "lang/check/constants-priv.h"

#include "lang/check/machine-priv.h"
#include "meaning/meaning.h"

#include <arpa/inet.h>
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct address {
	bool is_v6;
	uint64_t parts[2]; /* v4: the first alone */
	unsigned bits;     /* of the net */
};

enum { ADDRESS_BYTES = 64, V4_BITS = 32, V6_BITS = 128 };

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

static bool read_address(const char *text, bool may_be_net, struct address *address)
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
		*address = (struct address){ .parts = { ntohl(v4) } };
		return read_bits(slash, V4_BITS, &address->bits);
	}
	if (inet_pton(AF_INET6, copy, v6) != 1)
		return false;
	*address = (struct address){ .is_v6 = true, .parts = { be64toh(v6[0]), be64toh(v6[1]) } };
	return read_bits(slash, V6_BITS, &address->bits);
}

bool lang_is_address(const struct lang_expr *value, const struct lang_expr *text)
{
	return value->meaning && value->meaning->form == MEANING_IP4 && text->op == LANG_CONST &&
	       text->kind == LANG_STRING;
}

static struct lang_expr *number(struct lang_check *c, const struct lang_expr *like, uint64_t integer)
{
	struct lang_expr *expr = lang_new_expr(c, LANG_CONST, like->kind, &like->location);

	if (expr)
		expr->integer = integer;
	return expr;
}

static struct lang_expr *join(struct lang_check *c, enum lang_op op, enum lang_kind kind, struct lang_expr *left,
			      struct lang_expr *right)
{
	struct lang_expr *expr = left && right ? lang_new_expr(c, op, kind, &left->location) : NULL;

	if (expr) {
		expr->left = left;
		expr->right = right;
	}
	return expr;
}

/* The first bits of value's width are those of wanted. All of them: the plain equality, which may be a correlation. */
static struct lang_expr *begins_with(struct lang_check *c, struct lang_expr *value, uint64_t wanted, unsigned bits,
				     unsigned width)
{
	uint64_t mask = bits == 0 ? 0 : ~UINT64_C(0) << (width - bits) & ~UINT64_C(0) >> (64 - width);

	if (bits == width)
		return join(c, LANG_EQ, LANG_BOOL, value, number(c, value, wanted));
	return join(c, LANG_EQ, LANG_BOOL, join(c, LANG_AND, value->kind, value, number(c, value, mask)),
		    number(c, value, wanted & mask));
}

/* The field that holds a half of the IPv6 address beside value, as value is: an array's first, a plain field. */
static struct lang_expr *half(struct lang_check *c, const struct lang_expr *value, const char *ending)
{
	const struct event_type *type = c->scope ? c->scope->type : c->rule->elements[value->element].type;
	char name[128];
	const struct event_field *field;
	bool is_copied = value->op == LANG_FIELD || value->op == LANG_FIRST || value->op == LANG_LAST;

	if (!is_copied || !type || snprintf(name, sizeof name, "%s%s", value->field->name, ending) >= (int)sizeof name)
		return NULL;
	field = event_field_find(type, name);
	if (!field || lang_kind_of(field->value) != LANG_U64)
		return NULL;
	struct lang_expr *expr = lang_new_expr(c, value->op, LANG_U64, &value->location);

	if (expr) {
		expr->element = value->element;
		expr->field = field;
	}
	return expr;
}

static struct lang_expr *is_v6(struct lang_check *c, const struct lang_expr *value, const struct lang_expr *text,
			       const struct address *address)
{
	struct lang_expr *high = half(c, value, "_v6_hi"), *low = half(c, value, "_v6_lo");
	unsigned high_bits = address->bits < 64 ? address->bits : 64;

	if (!high || !low) {
		lang_warn(c->report, &text->location, NULL,
			  "this is never equal: the value beside it is an IPv4 address");
		return lang_new_expr(c, LANG_CONST, LANG_BOOL, &text->location);
	}
	high = begins_with(c, high, address->parts[0], high_bits, 64);
	return join(c, LANG_LAND, LANG_BOOL, high,
		    begins_with(c, low, address->parts[1], address->bits - high_bits, 64));
}

struct lang_expr *lang_check_address(struct lang_check *c, struct lang_expr *value, const struct lang_expr *text,
				     bool may_be_net)
{
	struct address address;

	if (!read_address(text->text, may_be_net, &address)) {
		lang_error(c->report, &text->location,
			   may_be_net ? "\"10.0.0.0/8\", \"127.0.0.1\" and \"::1\" are"
				      : "nets stand in IN { \"10.0.0.0/8\" }",
			   "this is no IP address");
		return NULL;
	}
	if (address.is_v6)
		return is_v6(c, value, text, &address);
	return begins_with(c, value, address.parts[0], address.bits, V4_BITS);
}
