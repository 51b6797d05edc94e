// SPDX-License-Identifier: BSD-2-Clause
/* Making an executor with every allocation failing in turn: an error each time, nothing lost, nothing crashed. */

#include "automaton/compile.h"
#include "base/alloc.h"
#include "ebpf/ebpf.h"
#include "lang/parse.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SKIPPED = 77, EVERY_ONE = 150, RARER = 37 };

static const char text[] =
	"EVENT A { x: i64 }\nEVENT B { x: i64 }\n"
	"RULE single PATTERN { A: a } WHERE { a.x == 1 } RETURN { a.x }\n"
	"RULE any SKIPTILLANY PATTERN { [A: a, B: b] } WHERE { [tid], b.x > a.x } WITHIN 1s AFTER MATCH DROP\n"
	"RULE listed PATTERN { [A: a, B: b] } WHERE { [tid] } RETURN SEQUENCE\n"
	"EVENT C { x: i64 }\n"
	"RULE absent PATTERN { [A: a, ~B: b] } WHERE { [tid] } WITHIN 1s DO { EMIT C(x = 1) }\n"
	"RULE raised PATTERN { [C: c, A: a] } WHERE { [tid] }\n";

int main(void)
{
	struct lang_input input = { .file = "fault", .text = text, .length = sizeof text - 1 };
	struct asterism_diag *diag = asterism_diag_new();
	struct event_catalog *catalog = event_catalog_new();
	struct ebpf_options options = { .test_run = true };
	struct lang_program *parsed = NULL;
	struct program *program = NULL;
	struct ebpf *ebpf = NULL;
	void *image = NULL;
	size_t bytes;
	unsigned long n = 1;
	int result;

	if (geteuid() != 0) {
		printf("skipped: not root\n");
		return SKIPPED;
	}
	if (lang_read(&input, 1, catalog, diag, &parsed) ||
	    automaton_compile(lang_program_unit(parsed), catalog, diag, &image, &bytes) ||
	    program_load(image, bytes, "fault", diag, &program))
		return 1;
	for (;; n += n < EVERY_ONE ? 1 : RARER) {
		asterism_diag_clear(diag);
		alloc_fail_at(n);
		result = ebpf_new(program, catalog, &options, diag, &ebpf);
		alloc_fail_at(0);
		if (!result)
			break;
		if (result != -ENOMEM || !asterism_diag_count(diag, ASTERISM_ERROR)) {
			printf("FAIL: allocation %lu: %s, %zu errors told\n", n, strerror(-result),
			       asterism_diag_count(diag, ASTERISM_ERROR));
			return 1;
		}
	}
	printf("%lu allocations\n", n);
	ebpf_free(ebpf);
	program_free(program);
	lang_program_free(parsed);
	event_catalog_free(catalog);
	asterism_diag_free(diag);
	alloc_free(image);
	return n < EVERY_ONE;
}
