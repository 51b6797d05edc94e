// SPDX-License-Identifier: BSD-2-Clause
/* `asterism features`: what the running kernel offers, and what is different without the rest. */

#include "cli/print.h"
#include "cmd/options/commands.h"
#include "cmd/options/status.h"

#include "ebpf/kernel/probe.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

static const char *capability_word(int has)
{
	return has > 0 ? "yes" : has == 0 ? "no" : "unknown";
}

/* What holds for the feature, given whether the kernel has it. */
static const char *sentence_of(const struct probe *probe, int has)
{
	if (has > 0)
		return probe->purpose;
	if (has < 0)
		return strerror(-has);
	return probe->without ? probe->without : "neither rules nor recordings can run in this kernel";
}

static void put_features_text(const struct probe *probe, int has)
{
	bool is_old = has == 0 && probe->since;

	printf("  %-26s %-8s %s%s%s%s\n", probe->name, capability_word(has), sentence_of(probe, has),
	       is_old ? " (Linux " : "", is_old ? probe->since : "", is_old ? ")" : "");
}

static json_t *text_or_null(const char *text)
{
	return text ? json_string(text) : json_null();
}

static json_t *describe_features(const struct probe *probe, int has)
{
	return json_pack("{s:s, s:o, s:b, s:s, s:o, s:o}", "feature", probe->name, "has",
			 has < 0 ? json_null() : json_boolean(has > 0), "required", probe->without == NULL, "purpose",
			 probe->purpose, "without", text_or_null(probe->without), "since", text_or_null(probe->since));
}

static int run_features(const struct cli_arguments *arguments)
{
	bool as_json = arguments->options[OPTION_FORMAT_EVENTS].number == 1;
	json_t *features = json_array();
	struct btf_kernel *btf = NULL;
	struct utsname name;
	bool runs = true;

	uname(&name);
	btf_kernel_open(NULL, &btf);
	if (!as_json)
		printf("%s %s\n", name.sysname, name.release);
	for (size_t i = 0; probe_get(i); i++) {
		const struct probe *probe = probe_get(i);
		int has = probe_ask(i, btf);

		runs &= has > 0 || probe->without;
		if (as_json)
			json_array_append_new(features, describe_features(probe, has));
		else
			put_features_text(probe, has);
	}
	btf_kernel_close(btf);
	if (as_json) {
		json_t *all = json_pack("{s:s, s:b, s:O}", "kernel", name.release, "runs", runs, "features", features);

		json_dumpf(all, stdout, JSON_COMPACT);
		putchar('\n');
		json_decref(all);
	}
	json_decref(features);
	if (!runs)
		cli_error("rules and recordings cannot run: required features are missing");
	return runs ? STATUS_FINE : STATUS_KERNEL;
}

static const struct cli_example features_examples[] = {
	{ "asterism features", "Shows what works in this kernel, and how." },
	{ "asterism features -f json", "The same as JSON, for other programs." },
	{ NULL, NULL },
};

const struct cli_command cmd_features = {
	.name = "features",
	.summary = "show which kernel features are available, and what asterism does without the others",
	.operands = "",
	.operands_min = 0,
	.operands_max = 0,
	.description =
		"Tests each kernel feature that asterism uses by loading the smallest program that needs it; the "
		"kernel's version does not matter. Each line shows a feature, whether the kernel has it, and what "
		"asterism uses it for. If it is missing, the line shows what asterism does without it, and the first "
		"Linux version that has it.\n\nWith -f json the output is one object: kernel, runs (whether rules and "
		"recordings can run in it), and features, objects with feature, has (null: unknown, mostly for lack of "
		"privileges), required, purpose, without and since.\n\nThis needs the privileges to load BPF programs. "
		"The exit status is 4 if rules and recordings cannot run in this kernel or with these privileges.",
	.options = { OPTION_FORMAT_EVENTS },
	.examples = features_examples,
	.run = run_features,
};
