// SPDX-License-Identifier: BSD-2-Clause
/*
 * Processes and threads: which made which, when, and how long each lived. A process is a pid from the birth of its
 * first thread on: pids are used again.
 */

#include "report/kind/kinds.h"

#include "base/alloc.h"
#include "report/svg.h"
#include "report/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PROCESS_SPANS = 14, PROCESSES_DRAWN = 2000, NODES_DRAWN = 2000 };

struct listed_process {
	uint32_t leader;                       /* the thread that stands for it */
	uint32_t parent, child, last, sibling; /* indices of processes, or REPORT_NONE */
	uint32_t threads;
	uint64_t birth, death; /* death 0: it did not end */
	uint64_t running;
	bool is_placed; /* in rows */
};

struct row {
	uint64_t birth;
	uint32_t process, depth;
};

struct processes {
	struct report report;
	struct listed_process *items;
	size_t count;
	uint32_t *of;     /* by thread the index of its process, REPORT_NONE: it is a stranger's */
	struct row *rows; /* in the order of the tree */
};

static int processes_open(const struct report_view *view, struct report **made)
{
	struct processes *processes = alloc_zero(1, sizeof *processes);

	(void)view;
	if (!processes)
		return -ENOMEM;
	*made = &processes->report;
	return 0;
}

static void processes_free(struct report *report)
{
	struct processes *processes = (struct processes *)report;

	alloc_free(processes->items);
	alloc_free(processes->of);
	alloc_free(processes->rows);
	alloc_free(processes);
}

/* Whether a thread begins a process: it is the first of its pid, or was born as one of a pid that had been before. */
static bool is_first(const struct report_thread *thread, const struct listed_process *before)
{
	return !before || (thread->is_born && thread->tid == thread->pid);
}

struct pid {
	uint32_t pid, thread;
};

static int by_row_pid(const void *left, const void *right)
{
	const struct pid *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->thread < b->thread ? -1 : a->thread > b->thread;
}

static void join_thread(struct listed_process *process, const struct report_thread *thread, uint32_t index)
{
	if (thread->tid == thread->pid)
		process->leader = index;
	process->threads++;
	process->running += thread->state_ns[REPORT_RUNNING];
	process->birth = thread->birth < process->birth ? thread->birth : process->birth;
	if (process->threads == 1 || (process->death && (!thread->death || thread->death > process->death)))
		process->death = thread->death;
}

/* Threads in the order of their pids and births. */
static int group(struct processes *processes)
{
	const struct report_view *view = processes->report.view;
	struct pid *pids = alloc_zero(view->thread_count, sizeof *pids);
	struct listed_process *last = NULL;
	uint32_t count = 0, last_pid = 0;

	if (!pids)
		return -ENOMEM;
	processes->of[0] = REPORT_NONE;
	for (uint32_t i = 1; i < view->thread_count; i++) {
		processes->of[i] = REPORT_NONE;
		if (!view->threads[i].is_stranger)
			pids[count++] = (struct pid){ view->threads[i].pid, i };
	}
	qsort(pids, count, sizeof *pids, by_row_pid);
	for (uint32_t i = 0; i < count; i++) {
		const struct report_thread *thread = &view->threads[pids[i].thread];

		if (is_first(thread, pids[i].pid && pids[i].pid == last_pid ? last : NULL)) {
			last = &processes->items[processes->count++];
			*last = (struct listed_process){
				.leader = pids[i].thread,
				.parent = REPORT_NONE,
				.child = REPORT_NONE,
				.last = REPORT_NONE,
				.sibling = REPORT_NONE,
				.birth = thread->birth,
			};
		}
		last_pid = pids[i].pid;
		join_thread(last, thread, pids[i].thread);
		processes->of[pids[i].thread] = (uint32_t)(last - processes->items);
	}
	alloc_free(pids);
	return 0;
}

/* The last process of a pid: items are in the order of their pids. */
static uint32_t process_of_pid(const struct processes *processes, uint32_t pid)
{
	const struct report_view *view = processes->report.view;
	size_t low = 0, high = processes->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (view->threads[processes->items[middle].leader].pid <= pid)
			low = middle + 1;
		else
			high = middle;
	}
	return pid && low && view->threads[processes->items[low - 1].leader].pid == pid ? (uint32_t)low - 1
											: REPORT_NONE;
}

/* The process whose thread made it, else the one that had its parent's pid. */
static uint32_t parent_of(const struct processes *processes, uint32_t process)
{
	const struct report_thread *threads = processes->report.view->threads;
	const struct report_thread *leader = &threads[processes->items[process].leader];
	uint32_t parent;

	if (leader->parent != REPORT_NONE)
		parent = leader->parent ? processes->of[leader->parent] : REPORT_NONE;
	else
		parent = process_of_pid(processes, leader->parent_pid);
	return parent == process ? REPORT_NONE : parent;
}

static int by_birth(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	if (a->birth != b->birth)
		return a->birth < b->birth ? -1 : 1;
	return a->process < b->process ? -1 : a->process > b->process;
}

/* Children are linked in the order of their start. */
static void link_children(struct processes *processes)
{
	for (uint32_t i = 0; i < processes->count; i++)
		processes->rows[i] = (struct row){ processes->items[i].birth, i, 0 };
	qsort(processes->rows, processes->count, sizeof *processes->rows, by_birth);
	for (size_t i = 0; i < processes->count; i++) {
		uint32_t process = processes->rows[i].process, parent = parent_of(processes, process);
		struct listed_process *above = parent == REPORT_NONE ? NULL : &processes->items[parent];

		processes->items[process].parent = parent;
		if (above && above->child == REPORT_NONE)
			above->child = process;
		else if (above)
			processes->items[above->last].sibling = process;
		if (above)
			above->last = process;
	}
}

/* A process and those that it made, each once: pids of a hostile trace may make a cycle. */
static void put_process_rows(struct processes *processes, struct row *rows, size_t *count, uint32_t top)
{
	uint32_t at = top, depth = 0;

	while (at != REPORT_NONE) {
		struct listed_process *process = &processes->items[at];

		if (!process->is_placed) {
			process->is_placed = true;
			rows[(*count)++] = (struct row){ process->birth, at, depth };
			if (process->child != REPORT_NONE) {
				at = process->child;
				depth++;
				continue;
			}
		}
		while (at != top && processes->items[at].sibling == REPORT_NONE) {
			at = processes->items[at].parent;
			depth--;
		}
		at = at == top ? REPORT_NONE : processes->items[at].sibling;
	}
}

/* The order of rows: a tree, in it by start. What a cycle of parents leaves out begins a tree of its own. */
static int place_processes(struct processes *processes)
{
	struct row *rows = alloc_zero(processes->count + 1, sizeof *rows);
	size_t count = 0;

	if (!rows)
		return -ENOMEM;
	link_children(processes);
	for (unsigned of_rest = 0; of_rest < 2; of_rest++) {
		for (size_t i = 0; i < processes->count; i++) {
			uint32_t top = processes->rows[i].process;

			if (!processes->items[top].is_placed &&
			    (of_rest || processes->items[top].parent == REPORT_NONE))
				put_process_rows(processes, rows, &count, top);
		}
	}
	alloc_free(processes->rows);
	processes->rows = rows;
	return 0;
}

static int processes_finish(struct report *report)
{
	struct processes *processes = (struct processes *)report;
	size_t most = report->view->thread_count;

	processes->items = alloc_zero(most, sizeof *processes->items);
	processes->of = alloc_zero(most, sizeof *processes->of);
	processes->rows = alloc_zero(most, sizeof *processes->rows);
	if (!processes->items || !processes->of || !processes->rows || group(processes))
		return -ENOMEM;
	return place_processes(processes);
}

/* A time since the first event shown. */
static uint64_t since_first_shown(const struct report_view *view, uint64_t ns)
{
	ns = ns < view->last_ns ? ns : view->last_ns;
	return ns > view->first_ns ? ns - view->first_ns : 0;
}

static uint64_t process_end(const struct report_view *view, const struct listed_process *process)
{
	return since_first_shown(view, process->death ? process->death : view->last_ns);
}

static struct report_cell time_cell(const struct report_view *view, uint64_t ns, bool is_known)
{
	return is_known ? report_cell_number(since_first_shown(view, ns)) : CELL_NONE;
}

static void draw_life(char life[PROCESS_SPANS + 1], const struct report_view *view,
		      const struct listed_process *process)
{
	uint64_t length = view->last_ns - view->first_ns + 1;
	uint64_t begin = since_first_shown(view, process->birth) * PROCESS_SPANS / length,
		 end = process_end(view, process) * PROCESS_SPANS / length;

	memset(life, ' ', PROCESS_SPANS);
	memset(life + begin, '=', end - begin + 1);
	life[PROCESS_SPANS] = '\0';
}

static void write_tree(const struct processes *processes, struct report_tables *tables)
{
	static const struct report_column columns[] = {
		{ "process", "process", CELL_THREAD, true },
		{ "pid", NULL, CELL_COUNT, false },
		{ "parent", NULL, CELL_THREAD, false },
		{ "path", NULL, CELL_TEXT, false },
		{ "program", "program", CELL_TEXT, false },
		{ "begin_ns", "from s", CELL_TIME, false },
		{ "end_ns", "to s", CELL_TIME, false },
		{ "threads", "threads", CELL_COUNT, false },
		{ "running_ns", "running", CELL_DURATION, false },
		{ "life", "life", CELL_STRIP, false },
	};
	const struct report_view *view = tables->view;

	report_table(tables, "tree", "The tree", columns, 10);
	for (size_t i = 0; i < processes->count; i++) {
		const struct row *row = &processes->rows[i];
		const struct listed_process *process = &processes->items[row->process];
		const struct report_thread *leader = &view->threads[process->leader];
		const char *path = leader->program && !view->is_redacted ? report_name(view, leader->program) : NULL;
		const char *slash = path ? strrchr(path, '/') : NULL;
		char life[PROCESS_SPANS + 1];

		draw_life(life, view, process);
		report_row(tables,
			   (struct report_cell[]){
				   report_cell_thread(process->leader),
				   leader->pid ? report_cell_number(leader->pid) : CELL_NONE,
				   process->parent == REPORT_NONE
					   ? CELL_NONE
					   : report_cell_thread(processes->items[process->parent].leader),
				   report_cell_text(path), report_cell_text(path && slash ? slash + 1 : path),
				   time_cell(view, process->birth, leader->is_born),
				   time_cell(view, process->death, process->death),
				   report_cell_number(process->threads), report_cell_number(process->running),
				   report_cell_text(life) },
			   row->depth);
	}
	report_table_end(tables);
}

/* Command lines, of those processes of which they are known. */
static void write_commands(const struct processes *processes, struct report_tables *tables)
{
	static const struct report_column columns[] = {
		{ "process", "process", CELL_THREAD, false },
		{ "arguments", "command line", CELL_TEXT, false },
	};
	const struct report_view *view = tables->view;

	if (view->is_redacted || !view->seen[ROLE_ARGUMENTS].count)
		return;
	report_table(tables, "commands", "Command lines", columns, 2);
	for (size_t i = 0; i < processes->count; i++) {
		uint32_t leader = processes->items[processes->rows[i].process].leader;

		if (view->threads[leader].arguments)
			report_row(tables,
				   (struct report_cell[]){
					   report_cell_thread(leader),
					   report_cell_text(report_name(view, view->threads[leader].arguments)) },
				   0);
	}
	report_table_end(tables);
}

/* The threads that are not the first of their process. */
static void write_process_threads(const struct processes *processes, struct report_tables *tables)
{
	static const struct report_column columns[] = {
		{ "thread", "thread", CELL_THREAD, false },        { "process", "of", CELL_THREAD, false },
		{ "parent", "made by", CELL_THREAD, false },       { "function", NULL, CELL_TEXT, false },
		{ "begin_ns", "from s", CELL_TIME, false },        { "end_ns", "to s", CELL_TIME, false },
		{ "running_ns", "running", CELL_DURATION, false },
	};
	const struct report_view *view = tables->view;

	report_table(tables, "threads", "Further threads", columns, 7);
	for (uint32_t i = 1; i < view->thread_count; i++) {
		const struct report_thread *thread = &view->threads[i];
		const struct listed_process *process =
			processes->of[i] == REPORT_NONE ? NULL : &processes->items[processes->of[i]];

		if (!process || process->leader == i)
			continue;
		report_row(tables,
			   (struct report_cell[]){
				   report_cell_thread(i), report_cell_thread(process->leader),
				   report_cell_thread(thread->parent),
				   report_cell_text(thread->function ? report_name(view, thread->function) : NULL),
				   time_cell(view, thread->birth, thread->is_born),
				   time_cell(view, thread->death, thread->death),
				   report_cell_number(thread->state_ns[REPORT_RUNNING]) },
			   0);
	}
	report_table_end(tables);
	report_note_functions(tables);
}

static void processes_write(struct report *report, struct report_tables *tables)
{
	const struct processes *processes = (struct processes *)report;

	write_tree(processes, tables);
	write_commands(processes, tables);
	write_process_threads(processes, tables);
}

static int processes_draw(struct report *report, FILE *stream)
{
	enum { NAMES = 300, WIDTH = 1100, RIGHT = 60, INDENT = 10, STEPS = 12 };
	const struct processes *processes = (struct processes *)report;
	const struct report_view *view = report->view;
	size_t shown = processes->count < PROCESSES_DRAWN ? processes->count : PROCESSES_DRAWN;
	double height = (double)(shown + 3) * SVG_ROW, width = WIDTH - NAMES - RIGHT;
	uint64_t length = view->last_ns - view->first_ns;

	report_svg_begin(stream, WIDTH, height, "Processes: which created which, and when");
	report_svg_times(stream, (struct report_box){ NAMES, SVG_ROW, width, height - 2 * SVG_ROW }, length);
	for (size_t i = 0; i < shown; i++) {
		const struct row *row = &processes->rows[i];
		const struct listed_process *process = &processes->items[row->process];
		double y = (double)(i + 1) * SVG_ROW, scale = length ? width / (double)length : 0;
		double begin = NAMES + scale * (double)since_first_shown(view, process->birth);
		double end = NAMES + scale * (double)process_end(view, process);
		unsigned indent = row->depth < STEPS ? row->depth : STEPS;
		struct text_buffer hint = { 0 };

		report_svg_thread(stream,
				  (struct report_label){ .x = 4 + indent * INDENT,
							 .y = y + 13,
							 .most = (NAMES - 8 - indent * INDENT) / SVG_LETTER },
				  view, process->leader);
		text_printf(&hint, "%.6f s to %.6f s, CPU time %.6f s, %u threads",
			    (double)since_first_shown(view, process->birth) / 1e9,
			    (double)process_end(view, process) / 1e9, (double)process->running / 1e9, process->threads);
		report_svg_rect(stream,
				(struct report_box){ begin, y + 4, end - begin > 1 ? end - begin : 1, SVG_ROW - 8 },
				process->death ? "#4a78b0" : "#7fa650", hint.bytes ? hint.bytes : "");
		text_fini(&hint);
	}
	if (shown < processes->count) {
		char rest[64];

		snprintf(rest, sizeof rest, "%zu more processes are not drawn", processes->count - shown);
		report_svg_text(stream, (struct report_label){ .x = 4, .y = height - 5 }, rest);
	}
	report_svg_end(stream);
	return 0;
}

static int put_node(FILE *stream, const struct report_view *view, uint32_t thread, const char *shape)
{
	struct text_buffer name = { 0 };
	int failure;

	report_thread_name(&name, view, thread);
	fprintf(stream, "  t%u [shape=%s, label=", thread, shape);
	report_dot_text(stream, name.bytes ? name.bytes : "");
	fputs("];\n", stream);
	failure = name.failure;
	text_fini(&name);
	return failure ? -ENOMEM : 0;
}

/* The reference's picture: an ellipse per process, a box per further thread, an arrow from who made it. */
static int processes_graph(struct report *report, FILE *stream)
{
	const struct processes *processes = (struct processes *)report;
	const struct report_view *view = report->view;
	size_t nodes = 0, left_out = 0;
	int result = 0;

	fputs("digraph processes {\n  rankdir=LR;\n", stream);
	for (uint32_t i = 1; i < view->thread_count && !result; i++) {
		const struct listed_process *process =
			processes->of[i] == REPORT_NONE ? NULL : &processes->items[processes->of[i]];
		uint32_t parent = view->threads[i].parent;

		if (!process)
			continue;
		if (nodes++ >= NODES_DRAWN) {
			left_out++;
			continue;
		}
		result = put_node(stream, view, i, process->leader == i ? "ellipse" : "box");
		if ((parent == REPORT_NONE || !parent) && process->leader == i && process->parent != REPORT_NONE)
			parent = processes->items[process->parent].leader;
		if (parent != REPORT_NONE && parent && processes->of[parent] != REPORT_NONE)
			fprintf(stream, "  t%u -> t%u;\n", parent, i);
	}
	if (left_out)
		fprintf(stream, "  rest [shape=plaintext, label=\"%zu more threads are not drawn\"];\n", left_out);
	fputs("}\n", stream);
	return result;
}

const struct report_kind report_processes = {
	.name = "processes",
	.title = "Processes",
	.question = "which process created which, and when",
	.needs = (const struct report_need[]){ { ROLE_FORK, "Which process created which is unknown" },
					       { ROLE_EXEC, "Which programs ran is unknown" },
					       { ROLE_EXIT, "When processes ended is unknown" },
					       { 0 } },
	.open = processes_open,
	.finish = processes_finish,
	.write = processes_write,
	.draw = processes_draw,
	.graph = processes_graph,
	.free = processes_free,
};
