/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_OPTIONS_STATUS_H
#define CMD_OPTIONS_STATUS_H

/* The exit status of every command. Under `run -- CMD` the command's own status stands in for STATUS_FINE. */
enum status {
	STATUS_FINE = 0,
	STATUS_MATCH = 1,  /* --fail-on-match, and there was a match */
	STATUS_USAGE = 2,  /* usage, rule or input error */
	STATUS_LOST = 3,   /* events were lost: the result may be incomplete */
	STATUS_KERNEL = 4, /* privilege or a kernel feature is missing */
	STATUS_SIGNAL = 128,
};

#endif
