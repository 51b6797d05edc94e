// SPDX-License-Identifier: BSD-2-Clause
/* Every row of the feature table gives an answer; as root on a kernel that runs the other tests, the required ones yes.
 */

#include "ebpf/kernel/probe.h"

#include "ebpf/kernel/feature.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Without privilege there is one sentence and -EPERM, and nothing needs to be loaded to know it. */
static int refused_without_privilege(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
		struct __user_cap_data_struct none[2] = { { 0 } };
		struct asterism_diag *diag = asterism_diag_new();

		if (syscall(SYS_capset, &header, none) < 0)
			_exit(2);
		if (probe_permission(diag) != -EPERM || asterism_diag_count(diag, ASTERISM_ERROR) != 1 ||
		    !strstr(asterism_diag_get(diag, 0)->text, "CAP_BPF"))
			_exit(1);
		asterism_diag_free(diag);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(void)
{
	struct ebpf_features features;
	struct btf_kernel *btf = NULL;
	int failed = 0;

	if (geteuid() != 0 || ebpf_features_probe(&features)) {
		printf("skipped: needs root and a kernel that runs programs\n");
		return 77;
	}
	failed += btf_kernel_open(NULL, &btf) != 0;
	failed += probe_permission(NULL) != 0;
	for (size_t i = 0; probe_get(i); i++) {
		int has = probe_ask(i, btf);

		printf("# %-26s %s: %s\n", probe_get(i)->name,
		       has > 0    ? "yes"
		       : has == 0 ? "no"
				  : strerror(-has),
		       probe_get(i)->purpose);
		if (has < 0 || (!probe_get(i)->without && has == 0)) {
			printf("not ok - %s\n", probe_get(i)->name);
			failed++;
		}
	}
	if (!refused_without_privilege()) {
		printf("not ok - a process without capabilities is told so\n");
		failed++;
	}
	btf_kernel_close(btf);
	return failed ? 1 : 0;
}
