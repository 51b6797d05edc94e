// SPDX-License-Identifier: BSD-2-Clause
/* Formats values for messages and for the arguments of commands. */

#include "react/actions/show.h"

#include "base/real.h"

#include <inttypes.h>

void react_show(FILE *stream, const struct react_value *value)
{
	switch (value->kind) {
	case REACT_I64:
		fprintf(stream, "%" PRId64, value->i64);
		break;
	case REACT_U64:
		fprintf(stream, "%" PRIu64, value->u64);
		break;
	case REACT_F64:
		real_put(stream, value->f64);
		break;
	case REACT_BOOL:
		fputs(value->boolean ? "true" : "false", stream);
		break;
	case REACT_STRING:
		fputs(value->text, stream);
		break;
	}
}
