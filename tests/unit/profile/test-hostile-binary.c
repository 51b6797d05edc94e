// SPDX-License-Identifier: BSD-2-Clause
/* Files for pprof and gmon.out that somebody has changed: read within a little memory, with one message or with a
 * profile. */

#include "read-text.h"
#include "../size.h"

#include "profile/complete.h"
#include "profile/read.h"
#include "profile/stacks.h"
#include "profile/stacks/paths.h"
#include "profile/write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>

enum { MUTANTS = 6000, LIMIT_MIB = 600, BYTES = 1 << 16 };

struct bytes {
	size_t length;
	char bytes[BYTES];
};

/* What is written of a small profile, packed. */
static void make_packed(struct bytes *packed)
{
	const struct profile_completion completion = { .by = PROFILE_BY_QUOTIENT };
	struct profile *completed,
		*simulated = read_text("events: Ir\nob=(1) o\nfl=(1) x.c\nfn=m\n1 10\ncfn=a\ncalls=1 1\n"
				       "1 30\ncfn=b\ncalls=1 1\n1 60\nfn=a\n1 10\ncfn=b\n"
				       "calls=1 1\n1 20\nfn=b\n1 80\n");
	FILE *stream = fmemopen(packed->bytes, sizeof packed->bytes, "w");
	double left_out;

	assert_int_equal(profile_complete(simulated, simulated, &completion, NULL, &completed), 0);
	assert_int_equal(profile_write_pprof(stream, completed, 1e-4, &left_out), 0);
	packed->length = (size_t)ftell(stream);
	fclose(stream);
	profile_free(completed);
	profile_free(simulated);
}

static void unpack(const struct bytes *packed, struct bytes *plain)
{
	z_stream stream = { .next_in = (z_const Bytef *)packed->bytes,
			    .avail_in = (uInt)packed->length,
			    .next_out = (Bytef *)plain->bytes,
			    .avail_out = sizeof plain->bytes };

	assert_int_equal(inflateInit2(&stream, 16 + MAX_WBITS), Z_OK);
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	plain->length = stream.total_out;
	inflateEnd(&stream);
}

static int read_bytes(const struct bytes *bytes, struct asterism_diag *diag, struct profile **profile)
{
	/* What is read beyond the end is to be seen. */
	char *exact = malloc(bytes->length + 1);
	const struct diag_source source = { .file = "bytes", .text = exact, .length = bytes->length };
	int result;

	memcpy(exact, bytes->bytes, bytes->length);
	exact[bytes->length] = 0;
	result = profile_read(&source, diag, profile);
	free(exact);
	return result;
}

/* Costs and calls come back, from what is packed and from what is not. */
static void test_round_trip(void **state)
{
	static struct bytes packed, plain;

	(void)state;
	make_packed(&packed);
	unpack(&packed, &plain);
	for (int i = 0; i < 2; i++) {
		struct profile *profile = NULL;

		assert_int_equal(read_bytes(i ? &packed : &plain, NULL, &profile), 0);
		near(*profile_self(profile, function_of(profile, "m")), 10, 0);
		near(*profile_self(profile, function_of(profile, "a")), 10, 0);
		near(*profile_self(profile, function_of(profile, "b")), 80, 0);
		near(call_cost(profile, "m", "a"), 30, 0);
		near(call_cost(profile, "m", "b"), 60, 0);
		near(call_cost(profile, "a", "b"), 20, 0);
		assert_string_equal(profile_get_text(profile, profile->functions[0].object), "o");
		profile_free(profile);
	}
}

/* A function that is in a stack twice has its calls once, and what is inlined is a function. */
static void test_recursion(void **state)
{
	static const char file[] = "\x0a\x04\x08\x01\x10\x02"                         /* samples, count */
				   "\x12\x08\x0a\x03\x01\x02\x01\x12\x01\x07"         /* f, (g in) f, f: 7 */
				   "\x12\x04\x08\x03\x10\x05"                         /* without a name: 5 */
				   "\x22\x06\x08\x01\x22\x02\x08\x01"                 /* location 1: f */
				   "\x22\x0a\x08\x02\x22\x02\x08\x02\x22\x02\x08\x01" /* location 2: g in f */
				   "\x22\x04\x08\x03\x18\x7f"                         /* location 3: at 0x7f */
				   "\x2a\x04\x08\x01\x10\x03\x2a\x04\x08\x02\x10\x04"
				   "\x32\x00\x32\x07samples\x32\x05"
				   "count\x32\x03"
				   "f\n\x01\x32\x01g";
	struct bytes bytes = { .length = sizeof file - 1 };
	struct profile *profile = NULL;

	(void)state;
	memcpy(bytes.bytes, file, sizeof file);
	assert_int_equal(read_bytes(&bytes, NULL, &profile), 0);
	near(*profile_self(profile, function_of(profile, "f??")), 7, 0);
	near(*profile_self(profile, function_of(profile, "0x7f")), 5, 0);
	near(call_cost(profile, "g", "f??"), 7, 0);
	near(call_cost(profile, "f??", "g"), 7, 0);
	near(call_cost(profile, "f??", "f??"), 7, 0);
	near(profile->samples, 12, 0);
	profile_free(profile);
}

static void expect_error(const struct bytes *bytes, const char *wanted)
{
	struct asterism_diag *diag = asterism_diag_new();
	struct profile *profile = NULL;

	assert_int_equal(read_bytes(bytes, diag, &profile), -EINVAL);
	assert_int_equal(asterism_diag_count(diag, ASTERISM_NOTE), 1);
	assert_string_equal(asterism_diag_get(diag, 0)->text, wanted);
	asterism_diag_free(diag);
}

static void test_wrong(void **state)
{
	static struct bytes packed, plain;

	(void)state;
	make_packed(&packed);
	unpack(&packed, &plain);
	packed.length /= 2;
	expect_error(&packed, "the gzip data is truncated or damaged here");
	plain.length -= 3;
	expect_error(&plain, "it is neither a pprof file nor known text: it ends within a field");
}

/* A little that unpacks to very much. */
static void test_bomb(void **state)
{
	static char zeros[1 << 20];
	z_stream stream = { 0 };
	char *out = malloc(1 << 20);

	(void)state;
	stream.next_out = (Bytef *)out;
	stream.avail_out = 1 << 20;
	assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
	for (int i = 0; i < 300; i++) {
		stream.next_in = (Bytef *)zeros;
		stream.avail_in = sizeof zeros;
		deflate(&stream, i < 299 ? Z_NO_FLUSH : Z_FINISH);
	}
	const struct diag_source source = { .file = "bomb", .text = out, .length = stream.total_out };
	struct asterism_diag *diag = asterism_diag_new();
	struct profile *profile = NULL;

	deflateEnd(&stream);
	assert_int_equal(profile_read(&source, diag, &profile), -EINVAL);
	assert_string_equal(asterism_diag_get(diag, 0)->text, "unpacked, it is larger than 256 MiB");
	asterism_diag_free(diag);
	free(out);
}

static void mutate(struct bytes *bytes)
{
	for (int i = rand() % 3 + 1; i; i--) {
		size_t at = (size_t)rand() % bytes->length;

		switch (rand() % 4) {
		case 0:
			bytes->bytes[at] = (char)rand();
			break;
		case 1:
			bytes->bytes[at] = (char)(bytes->bytes[at] ^ 1 << rand() % 8);
			break;
		case 2:
			memmove(bytes->bytes + at, bytes->bytes + at + 1, bytes->length - at - 1);
			bytes->length -= bytes->length > 1;
			break;
		default:
			memmove(bytes->bytes + at + 1, bytes->bytes + at, bytes->length - at);
			bytes->bytes[at] = (char)(rand() % 2 ? 0xff : rand());
			bytes->length++;
		}
	}
	if (rand() % 16 == 0)
		bytes->length = (size_t)rand() % bytes->length + 1;
}

static void use(struct profile *profile)
{
	FILE *stream = fopen("/dev/null", "w");

	assert_int_equal(profile_write(stream, profile), 0);
	assert_int_equal(profile_write_callgrind(stream, profile), 0);
	fclose(stream);
	for (uint32_t i = 0; i < profile->function_count; i++)
		assert_null(strpbrk(profile_name(profile, i), "\n\r"));
}

static void test_mutants(void **state)
{
	static struct bytes packed, plain, mutant;
	unsigned good = 0;

	(void)state;
	srand(1);
	make_packed(&packed);
	unpack(&packed, &plain);
	for (unsigned i = 0; i < sized(MUTANTS, 4); i++) {
		struct asterism_diag *diag = asterism_diag_new();
		struct profile *profile = NULL;

		mutant = i % 8 ? plain : packed;
		mutate(&mutant);
		if (read_bytes(&mutant, diag, &profile)) {
			assert_int_equal(asterism_diag_count(diag, ASTERISM_ERROR), 1);
			assert_null(profile);
		} else {
			good++;
			use(profile);
		}
		profile_free(profile);
		asterism_diag_free(diag);
	}
	assert_true(good > sized(MUTANTS, 4) / 20 && good < sized(MUTANTS, 4));
}

/* Of this program: its first bytes have no names, a pair of them has 3 samples, and calls itself 5 times. */
static void make_gmon(struct bytes *gmon)
{
	static const char file[] = "gmon\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
				   "\0\x10\0\0\0\0\0\0\0\x18\0\0\0\0\0\0\0"
				   "\4\0\0\0\x64\0\0\0seconds\0\0\0\0\0\0\0\0s\3\0\0\0\1\0\0\0"
				   "\1\x10\0\0\0\0\0\0\0\x20\0\0\0\0\0\0\0\5\0\0\0";

	gmon->length = sizeof file - 1;
	memcpy(gmon->bytes, file, sizeof file);
}

static int read_gmon(const struct bytes *bytes, struct asterism_diag *diag, struct profile **profile)
{
	char *exact = malloc(bytes->length + 1);
	const struct diag_source source = { .file = "gmon.out", .text = exact, .length = bytes->length };
	int fd = open("/proc/self/exe", O_RDONLY), result;

	memcpy(exact, bytes->bytes, bytes->length);
	result = profile_read_gmon(&source, fd, "program", diag, profile);
	close(fd);
	free(exact);
	return result;
}

static void test_gmon(void **state)
{
	static struct bytes gmon, mutant;
	struct profile *profile = NULL;
	unsigned good = 0;

	(void)state;
	make_gmon(&gmon);
	assert_int_equal(read_gmon(&gmon, NULL, &profile), 0);
	near(profile_total(profile, 0), 4, 0);
	near(profile->samples, 4, 0);
	profile_free(profile);
	srand(1);
	for (unsigned i = 0; i < MUTANTS / 20; i++) {
		struct asterism_diag *diag = asterism_diag_new();

		profile = NULL;
		mutant = gmon;
		mutate(&mutant);
		if (read_gmon(&mutant, diag, &profile)) {
			assert_int_equal(asterism_diag_count(diag, ASTERISM_ERROR), 1);
			assert_null(profile);
		} else {
			good++;
			use(profile);
		}
		profile_free(profile);
		asterism_diag_free(diag);
	}
	assert_true(good > MUTANTS / 400 && good < MUTANTS / 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_round_trip), cmocka_unit_test(test_recursion),
					    cmocka_unit_test(test_wrong),      cmocka_unit_test(test_bomb),
					    cmocka_unit_test(test_mutants),    cmocka_unit_test(test_gmon) };
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	const struct rlimit limit = { (rlim_t)LIMIT_MIB << 20, (rlim_t)LIMIT_MIB << 20 };

	/* What asks for more than is allowed is to be seen here, and not by whom the kernel ends. */
	setrlimit(RLIMIT_AS, &limit);
#endif
	return cmocka_run_group_tests(tests, NULL, NULL);
}
