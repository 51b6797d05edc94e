/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_TEXT_SIGNALS_H
#define CMD_TEXT_SIGNALS_H

/* Signals to a command that reads: SIGINT and SIGTERM ask it to end with what it has; a closed pipe is an error code.
 */

#include <signal.h>

/* From here on. The first signal sets the flag that is returned; the next one ends the process. */
const volatile sig_atomic_t *signals_take(void);

/* The signal that has set the flag, which is its value; 0: none has. */
int signals_came(void);

/* Says that the input was not read to its end if a signal has come. Returns the status to end with in place of status.
 */
int signals_status(int status);

#endif
