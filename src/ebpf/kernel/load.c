// SPDX-License-Identifier: BSD-2-Clause
/*
 * Loads code into the kernel. BTF goes with it: the kernel wants it for callbacks, people for function names and line
 * texts.
 */

#include "ebpf/kernel/load.h"

#include "base/alloc.h"
#include "base/thread.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* More than the kernel keeps of a log; since 6.4 it keeps the end, before that the log must fit as a whole. */
enum { LOG_BYTES = 4 << 20, LOG_LINES_SHOWN = 30, ATTEMPTS_MAX = 5, MODULE_NAME_BYTES = 64 };

struct ebpf_loading {
	struct ebpf_asm *as;
	struct ebpf_load_options options;
	struct asterism_diag *said;
	pthread_t thread;
	bool has_thread;
	int result;
};

struct names {
	struct btf *btf;
	int fd;
	int module; /* what attach_btf_id is of, or -1 */
	struct bpf_func_info *functions;
	struct bpf_line_info *lines;
};

static void names_fini(struct names *names)
{
	btf__free(names->btf);
	if (names->fd >= 0)
		close(names->fd);
	if (names->module >= 0)
		close(names->module);
	alloc_free(names->functions);
	alloc_free(names->lines);
}

/* Bytes at an address. */
static int add_address(struct btf *btf, int number, uint32_t bytes)
{
	int array = btf__add_array(btf, number, number, bytes / 8);

	return array < 0 ? array : btf__add_ptr(btf, array);
}

/* number function(number, ...) */
static int add_global_prototype(struct btf *btf, int number, const struct ebpf_code_function *function)
{
	int types[EBPF_PARAMETERS_MAX], prototype;

	for (uint32_t i = 0; i < function->numbers; i++) {
		types[i] = function->bytes[i] ? add_address(btf, number, function->bytes[i]) : number;
		if (types[i] < 0)
			return -ENOMEM;
	}
	prototype = btf__add_func_proto(btf, number);
	for (uint32_t i = 0; i < function->numbers && prototype >= 0; i++)
		if (btf__add_func_param(btf, "number", types[i]))
			return -ENOMEM;
	return prototype;
}

/* number function(void *): the kernel wants some prototype, and looks closer only at global functions. */
static int add_static_prototype(struct btf *btf, int number)
{
	int pointer = btf__add_ptr(btf, 0), prototype = btf__add_func_proto(btf, number);

	if (pointer < 0 || prototype < 0 || btf__add_func_param(btf, "context", pointer))
		return -ENOMEM;
	return prototype;
}

static int add_code_functions(struct names *names, const struct ebpf_code *code)
{
	int number = btf__add_int(names->btf, "number", 8, 0), others;

	if (number < 0)
		return -ENOMEM;
	others = add_static_prototype(names->btf, number);
	for (uint32_t i = 0; i < code->function_count; i++) {
		const struct ebpf_code_function *function = &code->functions[i];
		int prototype = function->is_global ? add_global_prototype(names->btf, number, function) : others;
		int id = prototype < 0
				 ? prototype
				 : btf__add_func(names->btf, function->name,
						 function->is_global ? BTF_FUNC_GLOBAL : BTF_FUNC_STATIC, prototype);

		if (id < 0)
			return -ENOMEM;
		names->functions[i] = (struct bpf_func_info){ .insn_off = function->insn, .type_id = (uint32_t)id };
	}
	return 0;
}

static int add_lines(struct names *names, const struct ebpf_code *code, const char *file)
{
	int file_text = btf__add_str(names->btf, file);

	if (file_text < 0)
		return file_text;
	for (uint32_t i = 0; i < code->line_count; i++) {
		int text = btf__add_str(names->btf, code->lines[i].text);

		if (text < 0)
			return text;
		names->lines[i] = (struct bpf_line_info){
			.insn_off = code->lines[i].insn,
			.file_name_off = (uint32_t)file_text,
			.line_off = (uint32_t)text,
			.line_col = (i + 1) << 10 | 1,
		};
	}
	return 0;
}

static int names_init(struct names *names, const struct ebpf_code *code, const char *file)
{
	*names = (struct names){ .fd = -1, .module = -1 };
	names->btf = btf__new_empty();
	names->functions = alloc_zero(code->function_count, sizeof *names->functions);
	names->lines = alloc_zero(code->line_count, sizeof *names->lines);
	if (!names->btf || !names->functions || !names->lines)
		return -ENOMEM;
	int error = add_code_functions(names, code);

	if (!error)
		error = add_lines(names, code, file);
	if (error)
		return error;
	uint32_t size;
	const void *data = btf__raw_data(names->btf, &size);

	if (!data)
		return -ENOMEM;
	names->fd = bpf_btf_load(data, size, NULL);
	return names->fd < 0 ? names->fd : 0;
}

/* Puts the last lines of the log into the diag (all of them where asked for), one note each. */
static void show_log(struct asterism_diag *diag, char *log, bool whole)
{
	size_t length = strlen(log), start = length;
	int lines = 0;

	while (start > 0 && log[start - 1] == '\n')
		start--;
	log[start] = '\0';
	while (start > 0 && (whole || lines < LOG_LINES_SHOWN))
		if (log[--start] == '\n' && ++lines == LOG_LINES_SHOWN && !whole)
			start++;
	for (char *line = log + start, *next; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		diag_add(diag, ASTERISM_NOTE, NULL, NULL, "verifier: %s", line);
	}
}

static int explain_load_error(const struct ebpf_load_options *options, const struct ebpf_code *code, int error,
			      char *log, struct asterism_diag *diag)
{
	if (error == -EPERM)
		return diag_error(diag, NULL, -EPERM,
				  "loading BPF programs is not permitted (CAP_BPF and CAP_PERFMON)");
	if (error == -ENOMEM)
		return diag_no_memory(diag);
	/* Kernels before 6.13 have 512 bytes for all functions that call each other: less in one program needs less. */
	bool lacks_stack = log && strstr(log, "combined stack size of");

	if (lacks_stack)
		error = -E2BIG;
	int code_to_return = error == -E2BIG || error == -EMFILE || error == -ENFILE ? error : -EINVAL;

	diag_add(diag, ASTERISM_ERROR, NULL, NULL, "the kernel refused the program %s (%u instructions): %s",
		 options->name, code->insn_count,
		 lacks_stack       ? "its functions need more stack together than this kernel has"
		 : error == -E2BIG ? "it is too large for the verifier"
				   : strerror(-error));
	if (log)
		show_log(diag, log, options->log_level > 1);
	return code_to_return;
}

/* The verifier gives up, with EAGAIN, where a signal is pending, so a session that gets signals while it loads would
 * never come to its end: they wait for the end of this one program. What cannot wait - who was stopped - is tried
 * again. */
static int load_undisturbed(const union bpf_attr *attr)
{
	sigset_t all, before;
	int fd = -1, error = EAGAIN;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	for (int attempt = 0; fd < 0 && attempt < ATTEMPTS_MAX && error == EAGAIN; attempt++) {
		fd = (int)syscall(SYS_bpf, BPF_PROG_LOAD, attr, sizeof *attr);
		error = errno;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return fd < 0 ? -error : fd;
}

/* The descriptor of the module's BTF, which is found only by going through all that the kernel has; -Exxx. */
static int module_types(const char *module)
{
	uint32_t id = 0;

	while (bpf_btf_get_next_id(id, &id) == 0) {
		char name[MODULE_NAME_BYTES] = "";
		struct bpf_btf_info info = { .name = (uintptr_t)name, .name_len = sizeof name };
		uint32_t length = sizeof info;
		int fd = bpf_btf_get_fd_by_id(id);

		if (fd < 0 && errno == ENOENT)
			continue; /* gone meanwhile */
		if (fd < 0)
			return -errno;
		if (bpf_obj_get_info_by_fd(fd, &info, &length) == 0 && info.kernel_btf && strcmp(name, module) == 0)
			return fd;
		close(fd);
	}
	return -errno;
}

/* Loads at a tracepoint of a module: type says no more than the kernel does without its descriptor. */
static int explain_module(const char *module, int error, struct asterism_diag *diag)
{
	if (error == -ENOENT)
		return diag_error(diag, NULL, -EOPNOTSUPP, "the module %s is no longer loaded", module);
	return diag_error(diag, NULL, error, "cannot read the type information of the module %s: %s", module,
			  error == -EPERM ? "this needs the capability CAP_SYS_ADMIN" : strerror(-error));
}

/*
 * One attempt. libbpf's own function takes E2BIG for a difference about the size of function and line infos and tries
 * thrice more, though mostly it means that the verifier has given up on a program, after seconds.
 */
static int load_once(const struct ebpf_code *code, const struct ebpf_load_options *options, const struct names *names,
		     char *log)
{
	union bpf_attr attr = {
		.prog_type = options->type,
		.expected_attach_type = options->attach_type,
		.attach_btf_id = options->attach_btf_id,
		.attach_btf_obj_fd = names->module >= 0 ? (uint32_t)names->module : 0,
		.prog_flags = options->may_wait ? BPF_F_SLEEPABLE : 0,
		.insns = (uintptr_t)code->insns,
		.insn_cnt = code->insn_count,
		.license = (uintptr_t) "Dual BSD/GPL",
		.prog_btf_fd = (uint32_t)names->fd,
		.func_info = (uintptr_t)names->functions,
		.func_info_cnt = code->function_count,
		.func_info_rec_size = sizeof *names->functions,
		.line_info = (uintptr_t)names->lines,
		.line_info_cnt = code->line_count,
		.line_info_rec_size = sizeof *names->lines,
		.log_buf = (uintptr_t)log,
		.log_size = log ? LOG_BYTES : 0,
		.log_level = !log                 ? 0
			     : options->log_level ? options->log_level
						  : 1,
	};

	snprintf(attr.prog_name, sizeof attr.prog_name, "%s", options->name);
	return load_undisturbed(&attr);
}

static int load_code(const struct ebpf_code *code, const struct ebpf_load_options *options, struct asterism_diag *diag)
{
	struct names names;
	int error = names_init(&names, code, options->file ? options->file : options->name);

	if (error) {
		names_fini(&names);
		return explain_load_error(options, code, error, NULL, diag);
	}
	if (options->attach_module && (names.module = module_types(options->attach_module)) < 0) {
		error = names.module;
		names_fini(&names);
		return explain_module(options->attach_module, error, diag);
	}
	int fd = load_once(code, options, &names, NULL);

	if (fd < 0) {
		/* Where there is no listener, or the program is just too large, asking again is a waste. */
		bool may_be_split = fd == -EACCES; /* the log alone distinguishes want of stack */
		char *log = (diag || may_be_split) && fd != -EPERM && fd != -E2BIG ? alloc_zero(LOG_BYTES, 1) : NULL;

		error = fd;
		if (log)
			fd = load_once(code, options, &names, log);
		if (fd < 0)
			fd = explain_load_error(options, code, error, log, diag);
		alloc_free(log);
	}
	names_fini(&names);
	return fd;
}

int ebpf_load_program(struct ebpf_asm *as, const struct ebpf_load_options *options, struct asterism_diag *diag)
{
	struct ebpf_code code;
	int error = ebpf_asm_finish(as, options->features->long_jump, &code);

	if (error == -ENOMEM)
		return diag_no_memory(diag);
	if (error == -E2BIG)
		return error;
	if (error)
		return diag_error(diag, NULL, error, "the program %s could not be assembled: %s", options->name,
				  strerror(-error));
	int fd = load_code(&code, options, diag);

	ebpf_code_fini(&code);
	return fd;
}

static void *load_at_once(void *given)
{
	struct ebpf_loading *loading = given;

	loading->result = ebpf_load_program(loading->as, &loading->options, loading->said);
	return NULL;
}

struct ebpf_loading *ebpf_load_begin(struct ebpf_asm *as, const struct ebpf_load_options *options,
				     struct asterism_diag *diag)
{
	struct ebpf_loading *loading = alloc_zero(1, sizeof *loading);
	struct asterism_diag *said = asterism_diag_new();

	if (!loading || !said) {
		ebpf_asm_free(as);
		alloc_free(loading);
		asterism_diag_free(said);
		diag_no_memory(diag);
		return NULL;
	}
	*loading = (struct ebpf_loading){ .as = as, .options = *options, .said = said };
	loading->has_thread = thread_start(&loading->thread, 0, load_at_once, loading) == 0;
	if (!loading->has_thread)
		load_at_once(loading);
	return loading;
}

int ebpf_load_end(struct ebpf_loading *loading, struct asterism_diag *diag)
{
	int result;

	if (loading->has_thread)
		pthread_join(loading->thread, NULL);
	result = loading->result;
	diag_take(diag, loading->said);
	asterism_diag_free(loading->said);
	ebpf_asm_free(loading->as);
	alloc_free(loading);
	return result;
}
