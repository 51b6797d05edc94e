/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PLANT_EVENTS_H
#define PLANT_EVENTS_H

/* Events that plant-events.c raises, as an application declares them. */

#include <stdbool.h>
#include <stdint.h>

#define SHOP_HANDLE 7

enum state { OPEN, CLOSED };

struct order_placed {
	uint64_t number;
	char customer[5];
	int8_t rank;
	unsigned short rebate;
	double price;
	enum state state;
	bool is_first, is_last;
	const char *note;
	short codes[3];
	long pid;
};
#define ORDER_PLACED_ID 1

typedef struct order_cancelled_data {
	unsigned int number;
	char reason[];
} order_cancelled;
#define ORDER_CANCELLED_ID 2

#endif
