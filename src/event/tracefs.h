/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EVENT_TRACEFS_H
#define EVENT_TRACEFS_H

/*
 * The folder where tracefs is. Where it is mounted nowhere and we may, it is mounted at its own place, as tracers do.
 * NULL with errno where it is not to be had: EACCES, EPERM (it is closed to us), ENODEV (the kernel has none).
 */
const char *event_tracefs_folder(void);

#endif
