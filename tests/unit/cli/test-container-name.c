// SPDX-License-Identifier: BSD-2-Clause
/* Names of containers, in files as Docker and Podman write them, and in files that are none. */

#include "cli/container-name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ID_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define ID_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define ID_C "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"

static char root[] = "/tmp/asterism-names-XXXXXX";

static void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void shell(const char *format, ...)
{
	char command[4096];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(command, sizeof command, format, arguments);
	va_end(arguments);
	assert_int_equal(system(command), 0);
}

static int make(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(root));
	shell("cd %s && mkdir -p var/lib/docker/containers/%s var/lib/docker/containers/%s "
	      "var/lib/containers/storage/overlay-containers",
	      root, ID_A, ID_B);
	shell("cd %s/var/lib && echo '{\"ID\":\"%s\",\"Name\":\"/web\",\"State\":{}}' "
	      ">docker/containers/%s/config.v2.json",
	      root, ID_A, ID_A);
	shell("cd %s/var/lib && echo '{\"ID\":\"%s\",\"Name\":\"/data\"}' >docker/containers/%s/config.v2.json", root,
	      ID_B, ID_B);
	shell("cd %s/var/lib && echo "
	      "'[{\"id\":\"short\",\"names\":[\"cache\"]},{\"id\":\"%s\",\"names\":[\"pod-x\",\"web\"]}]'"
	      " >containers/storage/overlay-containers/containers.json",
	      root, ID_C);
	return 0;
}

static int unmake(void **state)
{
	(void)state;
	shell("rm -r %s", root);
	return 0;
}

static void assert_found(const char *runtime, const char *name, const char *wanted)
{
	struct container_named named = { 0 };

	assert_int_equal(container_name_find(root, runtime, name, &named), wanted != NULL);
	assert_string_equal(named.id, wanted ? wanted : "");
}

static void names_are_found(void **state)
{
	struct container_named named;

	(void)state;
	assert_found(NULL, "data", ID_B);
	assert_found("docker", "web", ID_A);
	assert_found("podman", "web", ID_C);
	assert_found(NULL, "pod-x", ID_C);
	assert_int_equal(container_name_find(root, NULL, "web", &named), 2);
	assert_string_equal(named.unread, "");
}

static void what_is_no_name_is_not(void **state)
{
	(void)state;
	assert_found(NULL, "", NULL);
	assert_found(NULL, "we", NULL);
	assert_found(NULL, "/web", NULL);
	assert_found(NULL, "cache", NULL); /* its id is none */
	assert_found("machine", "web", NULL);
	assert_found(NULL, "*", NULL);
}

static void damaged_files_have_no_names(void **state)
{
	(void)state;
	shell("cd %s/var/lib && truncate -s 20 docker/containers/%s/config.v2.json", root, ID_B);
	assert_found(NULL, "data", NULL);
	shell("cd %s/var/lib && echo '[[],{\"ID\":7,\"Name\":[]},\"data\"]' >docker/containers/%s/config.v2.json", root,
	      ID_B);
	assert_found(NULL, "data", NULL);
	shell("cd %s/var/lib && rm docker/containers/%s/config.v2.json && mkfifo docker/containers/%s/config.v2.json",
	      root, ID_B, ID_B);
	assert_found("docker", "web", ID_A);
}

static void assert_unread(const char *runtime, const char *unread)
{
	struct container_named named;

	container_name_find(root, runtime, "web", &named);
	assert_string_equal(named.unread, unread);
}

static void put(const char *commands)
{
	shell("cd %s/var/lib/docker/containers/%s && rm -f config.v2.json && %s", root, ID_B, commands);
}

static void files_without_names_are_counted(void **state)
{
	static const char *const without[] = {
		"echo garbage >config.v2.json",
		"echo '\"text\"' >config.v2.json",
		"echo '{\"Name\":\"/web\"}' >config.v2.json",
		": >config.v2.json",
		"truncate -s 17M config.v2.json",
		"mkfifo config.v2.json",
		"mkdir config.v2.json",
		"ln -s /dev/zero config.v2.json",
		"ln -s config.v2.json config.v2.json",
	};

	(void)state;
	for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
		put(without[i]);
		assert_unread(NULL, "1 of docker");
		assert_unread("podman", "");
		assert_found("docker", "web", ID_A);
		shell("cd %s/var/lib/docker/containers/%s && rm -rf config.v2.json", root, ID_B);
	}
	shell("cd %s/var/lib/containers/storage && mkdir vfs-containers && echo '[{}]' >vfs-containers/containers.json",
	      root);
	put("echo >config.v2.json");
	assert_unread(NULL, "1 of docker and 1 of podman");
	/* What is gone was of a container that is, and a link that leads nowhere likewise. */
	put("ln -s nowhere config.v2.json");
	assert_unread("docker", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_found),
		cmocka_unit_test(what_is_no_name_is_not),
		cmocka_unit_test(damaged_files_have_no_names),
		cmocka_unit_test(files_without_names_are_counted),
	};

	return cmocka_run_group_tests(tests, make, unmake);
}
