/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFILE_PPROF_H
#define PROFILE_PPROF_H

/* The numbers of fields in github.com/google/pprof/proto/profile.proto, as far as they are read or written. */

enum pprof_wire { PPROF_VARINT = 0, PPROF_FIXED64 = 1, PPROF_BYTES = 2, PPROF_FIXED32 = 5 };

enum pprof_profile_field {
	PPROF_SAMPLE_TYPE = 1,
	PPROF_SAMPLE = 2,
	PPROF_MAPPING = 3,
	PPROF_LOCATION = 4,
	PPROF_FUNCTION = 5,
	PPROF_STRING = 6,
	PPROF_PERIOD = 12,
	PPROF_COMMENT = 13,
};
enum pprof_type_field { PPROF_TYPE_NAME = 1, PPROF_TYPE_UNIT = 2 };
enum pprof_sample_field { PPROF_SAMPLE_LOCATION = 1, PPROF_SAMPLE_VALUE = 2 };
enum pprof_mapping_field { PPROF_MAPPING_ID = 1, PPROF_MAPPING_FILE = 5, PPROF_MAPPING_HAS_FUNCTIONS = 7 };
enum pprof_location_field {
	PPROF_LOCATION_ID = 1,
	PPROF_LOCATION_MAPPING = 2,
	PPROF_LOCATION_ADDRESS = 3,
	PPROF_LOCATION_LINE = 4,
};
enum pprof_line_field { PPROF_LINE_FUNCTION = 1, PPROF_LINE_NUMBER = 2 };
enum pprof_function_field {
	PPROF_FUNCTION_ID = 1,
	PPROF_FUNCTION_NAME = 2,
	PPROF_FUNCTION_FILE = 4,
	PPROF_FUNCTION_LINE = 5,
};

#endif
