/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TESTS_KERNEL_ALONE_H
#define TESTS_KERNEL_ALONE_H

/*
 * An object on pages of its own, as in a large program: when the kernel reads it, nobody has touched it yet. Pages that
 * are not there come in pieces of 64 KiB.
 */

enum { ALONE_BYTES = 128 << 10 };

#define ALONE(type, name)                                \
	struct {                                         \
		char before[ALONE_BYTES];                \
		__typeof__(type) it;                     \
		char behind[ALONE_BYTES - sizeof(type)]; \
	} name

#endif
