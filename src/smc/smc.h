/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SMC_SMC_H
#define SMC_SMC_H

/*
 * State machines in the language of SMC, the State Machine Compiler (.sm), made machines of the rule language. What
 * their calls and transitions mean here a binding says (docs/machines.md). One thread at a time.
 */

#include "base/diag.h"

#include <stdbool.h>

enum { SMC_BYTES_MAX = 1 << 20, SMC_BINDING_BYTES_MAX = 1 << 16 };

/* Gives the binding of a class that is not given beforehand; false: there is none. */
typedef bool smc_find_binding_fn(const char *class, struct diag_source *binding);

struct smc_input {
	struct diag_source machine;
	struct diag_source binding; /* text NULL: find gives it */
	smc_find_binding_fn *find;
};

/*
 * Translates the machine. Returns 0 and the text of the rule, for alloc_free; -EINVAL or -ENOMEM after messages, each
 * with its place in the one file or the other.
 */
int smc_translate(struct smc_input *input, struct asterism_diag *diag, char **rule);

#endif
