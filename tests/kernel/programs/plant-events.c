// SPDX-License-Identifier: BSD-2-Clause
/* Raises the events of plant-events.h, an order that is cancelled and one that is not: `plant-events [HANDLE]`. */

#include "plant-events.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

enum { CUSTOM = 0x41535452 };

int main(int argc, char **argv)
{
	unsigned long handle = argc > 1 ? strtoul(argv[1], NULL, 10) : SHOP_HANDLE;
	struct order_placed order = {
		.number = UINT64_C(1) << 40,
		.customer = { 'A', 'l', 'i', 'c', 'e' }, /* as long as it gets, without a NUL */
		.rank = -3,
		.rebate = 65535,
		.price = 9.75,
		.state = CLOSED,
		.is_last = true,
		.codes = { -1, 0, 300 },
		.pid = -5,
	};
	char cancelled[64] = { 0 };
	const unsigned number = 17;

	prctl(CUSTOM, handle, ORDER_PLACED_ID, sizeof order, &order);
	order.number = number;
	strcpy(order.customer, "Bob");
	prctl(CUSTOM, handle, ORDER_PLACED_ID, sizeof order, &order);
	memcpy(cancelled, &number, sizeof number);
	strcpy(cancelled + sizeof(order_cancelled), "too late");
	prctl(CUSTOM, handle, ORDER_CANCELLED_ID, sizeof(order_cancelled) + strlen("too late") + 1, cancelled);
	prctl(CUSTOM, handle, ORDER_CANCELLED_ID, sizeof(order_cancelled) - 1, cancelled); /* too short to be one */
	return 0;
}
