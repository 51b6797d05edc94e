/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ASTERISM_VERSION_H
#define ASTERISM_VERSION_H

#ifdef __cplusplus
extern "C" {
#endif

/* The version of these headers. */
#define ASTERISM_VERSION_MAJOR 0
#define ASTERISM_VERSION_MINOR 2
#define ASTERISM_VERSION_PATCH 0

/*
 * The version of the library that runs, as "0.2.0"; it may be newer than the headers. Never NULL, lives for ever, any
 * thread.
 */
const char *asterism_version(void);

#ifdef __cplusplus
}
#endif

#endif
