// SPDX-License-Identifier: BSD-2-Clause
/* Filters processes: in the kernel by what it knows of the task, here by what /proc says of it. */

#include "ebpf/source/scope-filter.h"

#include "base/proc.h"
#include "ebpf/path/value.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { COMM_BYTES = 16, PATH_BYTES = 512, FILE_BYTES = 16384 };

/* What the parts of a filter are emitted with. */
struct filter_emission {
	const struct scope_filter_subject *subject;
	struct ebpf_asm *as;
	struct source_binding *binding;
	uint32_t passes, fails;
	int result;
};

/* r0 = the value of the path. */
__attribute__((format(printf, 2, 3))) static void emit_value(struct filter_emission *emission, const char *format, ...)
{
	static const struct source_style style = { 0 };
	struct source_binding *binding = emission->binding;
	struct source_node *node;
	char path[PATH_BYTES];
	va_list list;

	va_start(list, format);
	vsnprintf(path, sizeof path, format, list);
	va_end(list);
	if (!emission->result)
		emission->result = path_parse_path(path, binding->arena, &node, binding->reason, binding->size);
	if (!emission->result)
		emission->result = path_resolve_integer(binding, node);
	if (!emission->result)
		path_emit_value(emission->as, &style, node);
}

/* A cgroup is in another one that is the ancestor at its level. */
static void emit_cgroup(struct filter_emission *emission, const struct ebpf_scope_cgroup *cgroup, uint32_t next)
{
	const char *task = emission->subject->task;

	emit_value(emission, "%s->cgroups->dfl_cgrp->level", task);
	ebpf_jump_if_imm(emission->as, BPF_JSLT, R0, (int32_t)cgroup->level, next);
	emit_value(emission, "%s->cgroups->dfl_cgrp->ancestors[%u]->kn->id ? %s->cgroups->dfl_cgrp->ancestor_ids[%u]",
		   task, cgroup->level, task, cgroup->level);
	ebpf_mov_imm(emission->as, R1, cgroup->id);
	ebpf_jump_if(emission->as, BPF_JNE, R0, R1, next);
}

/* The name with its NUL, but for one that is cut. */
static void emit_comm(struct filter_emission *emission, const char *comm, uint32_t next)
{
	size_t length = strnlen(comm, COMM_BYTES - 1);

	for (size_t i = 0; i <= length && i < COMM_BYTES - 1; i++) {
		emit_value(emission, "%s[%zu]", emission->subject->comm, i);
		ebpf_alu_imm(emission->as, BPF_AND, R0, 0xff);
		ebpf_jump_if_imm(emission->as, BPF_JNE, R0, i < length ? (uint8_t)comm[i] : 0, next);
	}
}

static void emit_user(struct filter_emission *emission, uid_t user, uint32_t next)
{
	emit_value(emission, "%s->cred->uid.val", emission->subject->task);
	ebpf_mov_imm(emission->as, R1, user);
	ebpf_jump_if(emission->as, BPF_JNE, R0, R1, next);
}

/* Between the alternatives of a part: one that holds ends the part, the last that does not ends all. */
static void end_alternative(struct filter_emission *emission, uint32_t next)
{
	ebpf_jump(emission->as, emission->passes);
	ebpf_bind(emission->as, next);
}

static void end_filter_part(struct filter_emission *emission)
{
	ebpf_jump(emission->as, emission->fails);
	ebpf_bind(emission->as, emission->passes);
	emission->passes = ebpf_label(emission->as);
}

int scope_filter_emit(const struct ebpf_scope_filter *filter, const struct scope_filter_subject *subject,
		      struct ebpf_asm *as, struct source_binding *binding, uint32_t label)
{
	struct filter_emission emission = { subject, as, binding, ebpf_label(as), label, 0 };

	for (size_t i = 0; i < filter->cgroup_count; i++) {
		uint32_t next = ebpf_label(as);

		emit_cgroup(&emission, &filter->cgroups[i], next);
		end_alternative(&emission, next);
	}
	if (filter->cgroup_count)
		end_filter_part(&emission);
	for (size_t i = 0; i < filter->comm_count; i++) {
		uint32_t next = ebpf_label(as);

		emit_comm(&emission, filter->comms[i], next);
		end_alternative(&emission, next);
	}
	if (filter->comm_count)
		end_filter_part(&emission);
	for (size_t i = 0; i < filter->user_count; i++) {
		uint32_t next = ebpf_label(as);

		emit_user(&emission, filter->users[i], next);
		end_alternative(&emission, next);
	}
	if (filter->user_count)
		end_filter_part(&emission);
	ebpf_bind(as, emission.passes);
	return emission.result;
}

/* Whether path is cgroup's, or one below it. */
static bool is_below(const char *path, const char *cgroup)
{
	size_t length = strcmp(cgroup, "/") == 0 ? 0 : strlen(cgroup);

	return strncmp(path, cgroup, length) == 0 && strchr("/\n", path[length]);
}

static bool passes_cgroups(const struct ebpf_scope_filter *filter, pid_t pid)
{
	char name[64], text[FILE_BYTES + 1] = "\n";
	const char *path;

	snprintf(name, sizeof name, "/proc/%d/cgroup", (int)pid);
	if (!filter->cgroup_count)
		return true;
	if (proc_read(name, text + 1, FILE_BYTES) <= 0)
		return false;
	path = strstr(text, "\n0::");
	for (size_t i = 0; path && i < filter->cgroup_count; i++) {
		if (is_below(path + strlen("\n0::"), filter->cgroups[i].path))
			return true;
	}
	return false;
}

static bool passes_comms(const struct ebpf_scope_filter *filter, pid_t pid)
{
	struct proc_stat stat;

	if (!filter->comm_count)
		return true;
	if (proc_stat(pid, 0, &stat))
		return false;
	for (size_t i = 0; i < filter->comm_count; i++) {
		if (strncmp(stat.name, filter->comms[i], COMM_BYTES - 1) == 0)
			return true;
	}
	return false;
}

static bool passes_users(const struct ebpf_scope_filter *filter, pid_t pid)
{
	char name[64], text[FILE_BYTES];
	uint64_t user;

	snprintf(name, sizeof name, "/proc/%d/status", (int)pid);
	if (!filter->user_count)
		return true;
	if (proc_read(name, text, sizeof text) <= 0 || proc_numbers(text, "Uid:", &user, 1) != 1)
		return false;
	for (size_t i = 0; i < filter->user_count; i++) {
		if (filter->users[i] == user)
			return true;
	}
	return false;
}

bool scope_filter_passes(const struct ebpf_scope_filter *filter, pid_t pid)
{
	return passes_cgroups(filter, pid) && passes_comms(filter, pid) && passes_users(filter, pid);
}
