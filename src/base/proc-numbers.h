/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BASE_PROC_NUMBERS_H
#define BASE_PROC_NUMBERS_H

/* Folders of /proc whose entries are numbers: processes, threads, descriptors. */

/* Calls one for each such entry of the folder at path, until it returns something else than 0, which is returned. No
 * folder is one without entries. */
int proc_numbers(const char *path, int (*one)(void *context, int number), void *context);

#endif
