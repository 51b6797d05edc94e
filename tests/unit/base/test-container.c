// SPDX-License-Identifier: BSD-2-Clause
/* Paths as runtimes and systemd make them, and such as look like them. */

#include "base/container.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define ID    "3f2a9c1d0b5e4f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8"
#define OTHER "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define POD   "kubepods-burstable-pod2f1c7b9e_1a2b_4c3d_8e9f_0a1b2c3d4e5f.slice"
#define USER  "/user.slice/user-1000.slice/user@1000.service"

static const struct {
	const char *path, *shown; /* NULL: it says nothing */
} rows[] = {
	/* Docker: with cgroupfs, with systemd, without root, with a systemd that is not there, one in another. */
	{ "/docker/" ID, "docker:3f2a9c1d0b5e" },
	{ "/system.slice/docker-" ID ".scope", "docker:3f2a9c1d0b5e" },
	{ USER "/user.slice/docker-" ID ".scope", "docker:3f2a9c1d0b5e" },
	{ "/system.slice:docker:" ID, "docker:3f2a9c1d0b5e" },
	{ "/docker/" OTHER "/docker/" ID, "docker:3f2a9c1d0b5e" },
	{ "/docker/" ID "/system.slice/nginx.service", "docker:3f2a9c1d0b5e" },
	/* Podman, and its pods. */
	{ "/machine.slice/libpod-" ID ".scope", "podman:3f2a9c1d0b5e" },
	{ "/machine.slice/libpod-" ID ".scope/container", "podman:3f2a9c1d0b5e" },
	{ USER "/user.slice/libpod-" ID ".scope", "podman:3f2a9c1d0b5e" },
	{ "/libpod_parent/libpod-" ID, "podman:3f2a9c1d0b5e" },
	{ "/machine.slice/machine-libpod_pod_" OTHER ".slice/libpod-" ID ".scope/container", "podman:3f2a9c1d0b5e" },
	/* What watches over a container is not in it. */
	{ "/machine.slice/libpod-conmon-" ID ".scope", "libpod-conmon-" ID ".scope" },
	{ "/kubepods.slice/" POD "/crio-conmon-" ID ".scope", "crio-conmon-" ID ".scope" },
	{ "/system.slice/docker.service", "docker.service" },
	/* Kubernetes: CRI-O, containerd, with cgroupfs, and as some versions call it. */
	{ "/kubepods.slice/kubepods-burstable.slice/" POD "/crio-" ID ".scope", "cri-o:3f2a9c1d0b5e" },
	{ "/kubepods.slice/kubepods-burstable.slice/" POD "/cri-containerd-" ID ".scope", "containerd:3f2a9c1d0b5e" },
	{ "/kubepods/burstable/pod2f1c7b9e-1a2b-4c3d-8e9f-0a1b2c3d4e5f/" ID, "container:3f2a9c1d0b5e" },
	{ "/system.slice/containerd.service/" POD ":cri-containerd:" ID, "containerd:3f2a9c1d0b5e" },
	{ "/kubelet.slice/kubelet-kubepods.slice/" POD "/docker-" ID ".scope", "docker:3f2a9c1d0b5e" },
	/* containerd by itself, ECS. */
	{ "/system.slice/nerdctl-" ID ".scope", "containerd:3f2a9c1d0b5e" },
	{ "/default/" ID, "container:3f2a9c1d0b5e" },
	{ "/ecs/0f1e2d3c4b5a/" ID, "container:3f2a9c1d0b5e" },
	/* LXC 2 to 5, Incus, Proxmox. */
	{ "/lxc/web", "lxc:web" },
	{ "/lxc/101/ns/system.slice/ssh.service", "lxc:101" },
	{ "/lxc.payload/web/init.scope", "lxc:web" },
	{ "/lxc.payload.web-7f/system.slice/ssh.service", "lxc:web-7f" },
	{ "/lxc.monitor.web", NULL },
	/* systemd-nspawn. */
	{ "/machine.slice/machine-web.scope", "machine:web" },
	{ "/machine.slice/machine-debian\\x2dbookworm.scope/payload/system.slice/cron.service",
	  "machine:debian-bookworm" },
	{ "/machine.slice/systemd-nspawn@web\\x2d7f.service/payload", "machine:web-7f" },
	{ "/machine.slice/machine-qemu\\x2d1\\x2dvm.scope/libvirt/emulator", "machine:qemu-1-vm" },
	/* Units. */
	{ "/system.slice/nginx.service", "nginx.service" },
	{ "/system.slice/nginx.service/worker", "nginx.service" },
	{ "/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1.service" },
	{ USER "/app.slice/app-org.gnome.Terminal.slice/vte-spawn-1.scope", "vte-spawn-1.scope" },
	{ "/user.slice/user-1000.slice/session-3.scope", "session-3.scope" },
	{ "/init.scope", "init.scope" },
	/* Neither. */
	{ "/", NULL },
	{ "", NULL },
	{ "/user.slice/user-1000.slice", NULL },
	{ "/../..", NULL },
	/* Looks like it: too short, too long, no hex, nothing behind. */
	{ "/system.slice/docker-3f2a9c1d0b5e.scope", "docker-3f2a9c1d0b5e.scope" },
	{ "/docker/" ID "0", NULL },
	{ "/docker/" ID "/buildkit", "docker:3f2a9c1d0b5e" },
	{ "/docker/buildkit/x1y2", NULL },
	{ "/docker/3F2A9C1D0B5E4F60718293A4B5C6D7E8F90A1B2C3D4E5F60718293A4B5C6D7E8", NULL },
	{ "/machine.slice/machine-.scope", "machine-.scope" },
	{ "/lxc/", NULL },
	{ "/lxc.payload.", NULL },
	{ "/.service", ".service" },
	/* Escapes that are cut or a NUL stay as they are. */
	{ "/a\\x2.service", "a\\x2.service" },
	{ "/a\\x00b.service", "a\\x00b.service" },
	{ "/a\\x0ab.service", "a\nb.service" },
};

static void paths(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct container container;
		char text[CONTAINER_TEXT_BYTES] = "";

		if (container_of_path(rows[i].path, &container))
			container_print(&container, text);
		if (strcmp(text, rows[i].shown ? rows[i].shown : "") != 0)
			fail_msg("%s: '%s', not '%s'", rows[i].path, text, rows[i].shown ? rows[i].shown : "");
	}
}

static void long_names_are_cut(void **state)
{
	char path[5000] = "/lxc/";
	struct container container;

	(void)state;
	memset(path + 5, 'a', sizeof path - 6);
	assert_true(container_of_path(path, &container));
	assert_int_equal(strlen(container.id), CONTAINER_ID_BYTES - 1);
}

static void expect_text(const char *cgroups, const char *expected)
{
	struct container container;
	char text[CONTAINER_TEXT_BYTES] = "";

	if (container_of_text(cgroups, &container))
		container_print(&container, text);
	assert_string_equal(text, expected);
}

static void processes(void **state)
{
	struct container container;

	(void)state;
	expect_text("0::/system.slice/ssh.service\n", "ssh.service");
	expect_text("0::/", "");
	/* Both versions: the first of version 1 that says anything, unless version 2 does. */
	expect_text("5:memory:/\n4:pids:/docker/" ID "\n1:name=systemd:/docker/" OTHER "\n0::/\n",
		    "docker:3f2a9c1d0b5e");
	expect_text("4:pids:/docker/" ID "\n0::/system.slice/x.service\n", "x.service");
	expect_text("", "");
	expect_text("nonsense\n::\n0:\n:", "");
	assert_false(container_of_process(0x7fffffff, &container));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths),
		cmocka_unit_test(long_names_are_cut),
		cmocka_unit_test(processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
