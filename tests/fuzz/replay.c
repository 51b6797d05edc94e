// SPDX-License-Identifier: BSD-2-Clause
/* Stands in for libFuzzer where it is missing: feeds the files of the given folders to the target, once each. */

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *folder, const char *name)
{
	char path[4096];
	uint8_t *data = NULL;
	long size = -1;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *file = fopen(path, "rb");
	if (file && !fseek(file, 0, SEEK_END))
		size = ftell(file);
	if (size >= 0)
		data = malloc((size_t)size + 1);
	if (!data || fseek(file, 0, SEEK_SET) || fread(data, 1, (size_t)size, file) != (size_t)size) {
		fprintf(stderr, "%s cannot be read\n", path);
		return -1;
	}
	fclose(file);
	LLVMFuzzerTestOneInput(data, (size_t)size);
	free(data);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned count = 0;

	for (int i = 1; i < argc; i++) {
		DIR *folder = opendir(argv[i]);
		struct dirent *entry;

		while (folder && (entry = readdir(folder))) {
			if (entry->d_name[0] == '.')
				continue;
			if (replay(argv[i], entry->d_name))
				return 1;
			count++;
		}
		if (folder)
			closedir(folder);
	}
	printf("%u inputs\n", count);
	return count == 0;
}
