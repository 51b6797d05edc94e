/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFILE_COMPLETE_H
#define PROFILE_COMPLETE_H

#include "base/diag.h"
#include "profile/profile.h"

/*
 * How the inclusive cost of a function is shared among its callers. Quotient: as the simulation shares it (Christopeit,
 * "Vervollstaendigung von Profile-Messungen durch Kombination", 2004). Calls: by numbers of calls, as gprof does
 * (Graham, Kessler, McKusick, 1982). Contexts: self costs are shared among the ways in which the function was reached.
 */
enum profile_by { PROFILE_BY_QUOTIENT, PROFILE_BY_CALL_COUNTS, PROFILE_BY_CONTEXTS };

struct profile_completion {
	enum profile_by by;
	bool collapse; /* functions that call each other in a circle become one */
};

/*
 * Gives the self costs of sampled the calls of simulated. The result has all functions of both; what is said of it
 * ("method", "unattached", ...) is in its infos, and what speaks against it in warnings of diag. 0, -EINVAL or -ENOMEM.
 */
int profile_complete(const struct profile *sampled, const struct profile *simulated,
		     const struct profile_completion *completion, struct asterism_diag *diag,
		     struct profile **completed);

#endif
