/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SHOP_H
#define SHOP_H

#include <stdint.h>
#include <sys/prctl.h>

#define SHOP_HANDLE 7
#define NAME_BYTES  12

typedef uint16_t percent_t;
enum state { OPEN, CLOSED };

struct order_placed {
	uint64_t number;
	char customer[NAME_BYTES];
	int8_t rank;
	percent_t rebate;
	double price;
	enum state state;
	bool is_first, is_last;
	const char *note;
	unsigned short codes[3];
	long pid;
};
#define ORDER_PLACED_ID 1 /* what an order is */

typedef struct _ORDER_CANCELLED {
	ULONG OrderNumber;
	USHORT Reason;
} ORDER_CANCELLED;
#define ORDER_CANCELLED_ID (0x10u)

typedef struct {
	int unused;
} * closed_handle;
struct shop_closed {
};
#define shop_closed_ID 3
struct message {
	int32_t kind;
	char text[];
};
#define MESSAGE_ID 4

#ifdef NEVER
struct never {
	int x;
};
#define NEVER_ID 9
#endif

/* None of these is an event. */
struct inner {
	union {
		int a;
		float b;
	} u;
	struct {
		int c : 3;
	} s;
};
static inline int shop_raise(int id, unsigned long bytes, const void *data)
{
	return prctl(0x41535452, SHOP_HANDLE, id, bytes, data);
}
#ifdef __cplusplus
}
#endif
#endif
