/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BASE_NOTIFY_H
#define BASE_NOTIFY_H

/* What systemd is told (sd_notify(3)); nothing where it does not listen. */

void notify_ready(void);
void notify_reloading(void);
void notify_stopping(void);

/* To be called every second: feeds the watchdog, if there is one. */
void notify_alive(void);

#endif
