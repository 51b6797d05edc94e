// SPDX-License-Identifier: BSD-2-Clause
/*
 * usage: loader OBJECT PID
 * Loads a hand-written BPF object, attaches all its programs, says `ready` and stays until standard input ends.
 */

#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int set_target(struct bpf_object *object, unsigned pid)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, ".rodata");
	size_t size;
	const void *initial = map ? bpf_map__initial_value(map, &size) : NULL;
	void *copy;
	int result;

	if (!initial || size < sizeof pid)
		return -1;
	copy = malloc(size);
	if (!copy)
		return -1;
	memcpy(copy, initial, size);
	memcpy(copy, &pid, sizeof pid);
	result = bpf_map__set_initial_value(map, copy, size);
	free(copy);
	return result;
}

int main(int argc, char **argv)
{
	struct bpf_object *object = argc == 3 ? bpf_object__open(argv[1]) : NULL;
	struct bpf_program *program;
	char byte;

	if (!object || set_target(object, (unsigned)atoi(argv[2])) || bpf_object__load(object)) {
		fprintf(stderr, "loader: the object cannot be loaded\n");
		return 1;
	}
	bpf_object__for_each_program(program, object)
	{
		if (!bpf_program__attach(program)) {
			fprintf(stderr, "loader: %s cannot be attached\n", bpf_program__name(program));
			return 1;
		}
	}
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return 0;
}
