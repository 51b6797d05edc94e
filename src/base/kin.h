/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BASE_KIN_H
#define BASE_KIN_H

/*
 * Some processes, and who descends from them, by looking at who somebody's ancestors are when that is asked: so those
 * whose parents have ended before are not known. Several threads may use one.
 */

#include <stdbool.h>
#include <sys/types.h>

struct kin;

/* Returns NULL where there is no memory. */
struct kin *kin_new(void);
void kin_free(struct kin *kin);

/* Returns 0, -ESRCH: there is no such process; -ENOMEM. */
int kin_add(struct kin *kin, pid_t pid);

/* Whether it was added, or, with descendants, one of its ancestors. */
bool kin_has(struct kin *kin, pid_t pid, bool descendants);

#endif
