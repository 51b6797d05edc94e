// SPDX-License-Identifier: BSD-2-Clause
/*
 * Solves equations with I - Q, by elimination with the largest pivot of a column. Whether there is an end at all is a
 * matter of their solution: I - Q has a non-negative inverse, and Q a spectral radius below one, exactly if (I - Q) t =
 * 1 has a solution that is not negative (Berman and Plemmons on M-matrices).
 */

#include "model/chain.h"

#include "base/alloc.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* A pivot that is smaller is what rounding leaves of 0. */
#define PIVOT_MIN 1e-12

/* Equations: a x = b. */
struct equations {
	uint32_t count;
	double *a, *b;
};

static void swap_rows(struct equations *equations, uint32_t one, uint32_t other)
{
	uint32_t count = equations->count;

	for (uint32_t i = 0; i < count && one != other; i++) {
		double value = equations->a[(size_t)one * count + i];

		equations->a[(size_t)one * count + i] = equations->a[(size_t)other * count + i];
		equations->a[(size_t)other * count + i] = value;
	}
	double value = equations->b[one];
	equations->b[one] = equations->b[other];
	equations->b[other] = value;
}

static uint32_t pivot_of(const struct equations *equations, uint32_t column)
{
	uint32_t best = column, count = equations->count;

	for (uint32_t i = column + 1; i < count; i++)
		if (fabs(equations->a[(size_t)i * count + column]) > fabs(equations->a[(size_t)best * count + column]))
			best = i;
	return best;
}

static int eliminate(struct equations *equations)
{
	uint32_t count = equations->count;

	for (uint32_t column = 0; column < count; column++) {
		const double *top = equations->a + (size_t)column * count;

		swap_rows(equations, column, pivot_of(equations, column));
		if (!(fabs(top[column]) > PIVOT_MIN))
			return -ERANGE;
		for (uint32_t i = column + 1; i < count; i++) {
			double *row = equations->a + (size_t)i * count, factor = row[column] / top[column];

			if (factor == 0)
				continue;
			for (uint32_t j = column; j < count; j++)
				row[j] -= factor * top[j];
			equations->b[i] -= factor * equations->b[column];
		}
	}
	return 0;
}

static void substitute(struct equations *equations)
{
	for (uint32_t i = equations->count; i-- > 0;) {
		const double *row = equations->a + (size_t)i * equations->count;

		for (uint32_t j = i + 1; j < equations->count; j++)
			equations->b[i] -= row[j] * equations->b[j];
		equations->b[i] /= row[i];
	}
}

static bool is_sane(const struct equations *equations)
{
	for (uint32_t i = 0; i < equations->count; i++)
		if (!isfinite(equations->b[i]) || equations->b[i] < -1e-9)
			return false;
	return true;
}

/* Solves (I - Q) x = x, or its transpose. */
static int solve(const struct model_chain *chain, bool transposed, double *x)
{
	struct equations equations = { .count = chain->count, .b = x };
	int result = -ENOMEM;

	equations.a = alloc_zero((size_t)chain->count * chain->count, sizeof *equations.a);
	for (uint32_t i = 0; i < chain->count && equations.a; i++)
		for (uint32_t j = 0; j < chain->count; j++)
			equations.a[transposed ? (size_t)j * chain->count + i : (size_t)i * chain->count + j] =
				(i == j) - chain->q[(size_t)i * chain->count + j];
	if (equations.a)
		result = eliminate(&equations);
	if (!result) {
		substitute(&equations);
		result = is_sane(&equations) ? 0 : -ERANGE;
	}
	alloc_free(equations.a);
	return result;
}

int model_expect(const struct model_chain *chain, const double *c, double *values)
{
	if (chain->count > MODEL_STATES_MAX)
		return -E2BIG;
	memmove(values, c, chain->count * sizeof *values);
	return solve(chain, false, values);
}

int model_visits(const struct model_chain *chain, double *visits)
{
	int result;

	if (chain->count > MODEL_STATES_MAX)
		return -E2BIG;
	for (uint32_t i = 0; i < chain->count; i++)
		visits[i] = 1;
	result = solve(chain, false, visits); /* is there an end? */
	for (uint32_t i = 0; i < chain->count; i++)
		visits[i] = i == 0;
	return result ? result : solve(chain, true, visits);
}
