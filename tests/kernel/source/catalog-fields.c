// SPDX-License-Identifier: BSD-2-Clause
/*
 * Holds the fields of the Linux catalog against the kernel's own records. Every event type that carries the name of a
 * tracepoint gets a twin that is read from the tracepoint's classic record; both watch the same busy process, and what
 * they say of the same firing must be the same. Types of which nothing was seen are listed and are no failure, unless
 * the plant is sure to raise them.
 */

#include "source-harness.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BATCH = (TYPES_MAX - 1) / 2, RING_BYTES = 8 << 20, COMPLAINTS_MAX = 3, ATTEMPTS = 5 };

/* ---- what the watched process does */

static void on_signal(int number)
{
	(void)number;
}

static void do_files(void)
{
	char path[64];
	static char bytes[8192];

	snprintf(path, sizeof path, "/var/tmp/asterism-fields-%d", getpid());
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	for (int i = 0; i < 4; i++)
		(void)!write(fd, bytes, sizeof bytes);
	fdatasync(fd);
	fsync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	lseek(fd, 0, SEEK_SET);
	char *fresh = mmap(NULL, 2 * sizeof bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	(void)!read(fd, fresh, 2 * sizeof bytes); /* faults in the kernel */
	munmap(fresh, 2 * sizeof bytes);
	close(fd);
	unlink(path);
}

static void *ping(void *argument)
{
	int *ends = argument;
	char byte;

	prctl(PR_SET_NAME, "ping");
	for (int i = 0; i < 50 && read(ends[0], &byte, 1) == 1; i++)
		(void)!write(ends[1], &byte, 1);
	return NULL;
}

static void do_threads(void)
{
	int there[2], back[2];
	pthread_t thread;
	cpu_set_t cpus;
	char byte = 0;

	int ends[2];

	if (pipe(there) || pipe(back))
		exit(4);
	ends[0] = there[0];
	ends[1] = back[1];
	if (pthread_create(&thread, NULL, ping, ends))
		exit(4);
	for (int i = 0; i < 50; i++) {
		(void)!write(there[1], &byte, 1);
		(void)!read(back[0], &byte, 1);
	}
	pthread_join(thread, NULL);
	for (int cpu = 0; cpu < 2; cpu++) {
		CPU_ZERO(&cpus);
		CPU_SET(cpu, &cpus);
		sched_setaffinity(0, sizeof cpus, &cpus);
		sched_yield();
	}
	CPU_SET(0, &cpus);
	sched_setaffinity(0, sizeof cpus, &cpus);
}

static pthread_mutex_t inherited;

static void *urgent(void *argument)
{
	(void)argument;
	sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ .sched_priority = 5 });
	pthread_mutex_lock(&inherited);
	pthread_mutex_unlock(&inherited);
	return NULL;
}

static void do_inheritance(void)
{
	pthread_mutexattr_t attributes;
	pthread_t thread;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&inherited, &attributes);
	pthread_mutex_lock(&inherited);
	if (pthread_create(&thread, NULL, urgent, NULL))
		exit(4);
	usleep(20000);
	pthread_mutex_unlock(&inherited);
	pthread_join(thread, NULL);
}

static void do_processes(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		execl("/bin/true", "true", NULL);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	pid = fork();
	if (pid == 0) {
		for (;;)
			pause();
	}
	kill(pid, SIGSTOP);
	waitpid(pid, &status, WUNTRACED);
	kill(pid, SIGCONT);
	sigqueue(pid, SIGTERM, (union sigval){ .sival_int = 7 });
	waitpid(pid, &status, 0);
	signal(SIGUSR1, on_signal);
	signal(SIGALRM, on_signal);
	raise(SIGUSR1);
	setitimer(ITIMER_REAL, &(struct itimerval){ .it_value = { .tv_usec = 2000 } }, NULL);
	for (volatile int i = 0; i < 20000000; i++)
		;
	prctl(PR_SET_NAME, "renamed");
	FILE *file = fopen("/proc/self/oom_score_adj", "w");
	if (file) {
		fputs("7", file);
		fclose(file);
	}
}

static void do_network(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof address;
	int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
	char byte = 0;

	if (bind(server, (void *)&address, length) || listen(server, 1) ||
	    getsockname(server, (void *)&address, &length) || connect(client, (void *)&address, length))
		exit(4);
	int accepted = accept(server, NULL, NULL);

	(void)!write(client, &byte, 1);
	(void)!read(accepted, &byte, 1);
	/* An abrupt end: the other side is reset. */
	setsockopt(client, SOL_SOCKET, SO_LINGER, &(struct linger){ .l_onoff = 1 }, sizeof(struct linger));
	close(client);
	close(accepted);
	close(server);
}

static void do_cgroups(void)
{
	static const char *const roots[] = { "/sys/fs/cgroup/unified", "/sys/fs/cgroup" };
	char path[128];

	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "%s/asterism-%d", roots[i], getpid());
		if (mkdir(path, 0700))
			continue;
		snprintf(path, sizeof path, "%s/asterism-%d/cgroup.procs", roots[i], getpid());
		int fd = open(path, O_WRONLY), root;

		(void)!write(fd, "0", 1);
		close(fd);
		snprintf(path, sizeof path, "%s/cgroup.procs", roots[i]);
		root = open(path, O_WRONLY);
		(void)!write(root, "0", 1);
		close(root);
		snprintf(path, sizeof path, "%s/asterism-%d", roots[i], getpid());
		rmdir(path);
		return;
	}
}

static void plant_everything(struct reported *reported)
{
	(void)reported;
	do_files();
	do_threads();
	do_inheritance();
	do_processes();
	do_network();
	do_cgroups();
	usleep(1000);
}

/* ---- twins */

static uint32_t width(enum event_value value)
{
	switch (value) {
	case EVENT_U8:
	case EVENT_I8:
	case EVENT_BOOL:
		return 1;
	case EVENT_U16:
	case EVENT_I16:
		return 2;
	case EVENT_U32:
	case EVENT_I32:
		return 4;
	default:
		return 8;
	}
}

static const struct event_field *twin_field(const struct event_type *twin, const char *name)
{
	const struct event_field *field = event_field_find(twin, name);

	if (!field && !strcmp(name, "target_tid"))
		field = event_field_find(twin, "target_pid");
	return field && !event_field_is_header(field) ? field : NULL;
}

static bool same_value(const struct event_field *a, const void *record_a, const struct event_field *b,
		       const void *record_b)
{
	uint32_t bytes = width(a->value) < width(b->value) ? width(a->value) : width(b->value);

	if ((a->value == EVENT_STRING) != (b->value == EVENT_STRING))
		return false;
	if (a->value == EVENT_STRING) /* one of them may be cut shorter */
		return !strncmp((const char *)record_a + a->offset, (const char *)record_b + b->offset,
				(a->bytes < b->bytes ? a->bytes : b->bytes) - 1);
	return !memcmp((const char *)record_a + a->offset, (const char *)record_b + b->offset, bytes);
}

/* Fields that the catalog says are 0 or empty where the kernel's record still has something. */
static const struct {
	const char *type, *field;
} weaker[] = {
	{ "inet_sock_set_state", "sport" }, /* of a closed socket */
	{ "tcp_destroy_sock", "sport" },
	{ "napi_poll", "dev_name" }, /* "(no_device)" */
};

static bool is_excused(const struct event_type *type, const struct event_field *field, const void *record)
{
	for (size_t i = 0; i < sizeof weaker / sizeof *weaker; i++) {
		if (!strcmp(weaker[i].type, type->name) && !strcmp(weaker[i].field, field->name))
			return ((const char *)record)[field->offset] == 0 &&
			       ((const char *)record)[field->offset + 1] == 0;
	}
	return false;
}

static void complain(const struct event_field *field, const void *record, const char *whose)
{
	const char *at = (const char *)record + field->offset;

	if (field->value == EVENT_STRING)
		printf("    %s: %s = \"%s\"\n", whose, field->name, at);
	else
		printf("    %s: %s = %lld\n", whose, field->name, (long long)*(const int64_t *)at);
}

static int compare(const struct event_type *type, const void *record, const struct event_type *twin,
		   const void *twin_record)
{
	int differences = 0;

	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct event_field *field = &type->fields[i], *other = twin_field(twin, field->name);

		/* Where the catalog has both ids, the tracepoint's own pid is the thread's. */
		if (!other || (!strcmp(field->name, "target_pid") && event_field_find(type, "target_tid")))
			continue;
		if (same_value(field, record, other, twin_record) || is_excused(type, field, record))
			continue;
		differences++;
		printf("  %s:\n", type->name);
		complain(field, record, "catalog");
		complain(other, twin_record, "kernel");
	}
	return differences;
}

/* ---- pairing */

/* The next record of type by thread tid (0: any) from index at on, or count. */
static size_t next_of(const struct outcome *outcome, uint32_t type, uint32_t tid, size_t at)
{
	for (; at < outcome->count; at++) {
		const struct event_header *record = (const void *)outcome->records[at];

		if (record->type == type && (!tid || record->tid == tid))
			break;
	}
	return at;
}

static bool raises_twins(const struct outcome *outcome, uint32_t twin, uint32_t pid)
{
	for (size_t i = next_of(outcome, twin, 0, 0); i < outcome->count; i = next_of(outcome, twin, 0, i + 1)) {
		if (((const struct event_header *)(const void *)outcome->records[i])->pid == pid)
			return true;
	}
	return false;
}

/*
 * The n-th firing in a thread is the n-th of both types. Records of processes outside the tree, which a SCOPE adds,
 * have no twins and are passed over. Returns how many pairs were compared.
 */
static size_t compare_pairs(const struct outcome *outcome, uint32_t type, uint32_t twin, int *differences)
{
	size_t *next_twin = calloc(outcome->count + 1, sizeof *next_twin), pairs = 0;
	uint32_t tids[256], tid_count = 0;

	for (size_t i = next_of(outcome, type, 0, 0); i < outcome->count; i = next_of(outcome, type, 0, i + 1)) {
		const struct event_header *record = (const void *)outcome->records[i];
		uint32_t t = 0;

		if (!raises_twins(outcome, twin, record->pid))
			continue;
		while (t < tid_count && tids[t] != record->tid)
			t++;
		if (t == tid_count) {
			if (tid_count == 256)
				break;
			tids[tid_count++] = record->tid;
		}
		size_t at = next_of(outcome, twin, record->tid, next_twin[t]);

		next_twin[t] = at + 1;
		if (at == outcome->count) {
			printf("  %s: a record has no twin\n", outcome->types[type]->name);
			++*differences;
			break;
		}
		pairs++;
		if (*differences < COMPLAINTS_MAX)
			*differences +=
				compare(outcome->types[type], record, outcome->types[twin], outcome->records[at]);
	}
	free(next_twin);
	return pairs;
}

static const char *const certain[] = {
	"sys_enter",          "sys_exit",           "sched_switch",  "sched_waking", "sched_process_fork",
	"sched_process_exec", "sched_process_exit",

	"sched_stat_runtime", "sched_pi_setprio",   "task_newtask",  "task_rename",  "signal_generate",
	"signal_deliver",     "page_fault_user",    "hrtimer_start", "itimer_state", "inet_sock_set_state",
	"netif_receive_skb",  "net_dev_queue",      "net_dev_xmit",  "kmalloc",      "oom_score_adj_update",
};

static bool is_certain(const char *name)
{
	for (size_t i = 0; i < sizeof certain / sizeof *certain; i++) {
		if (!strcmp(certain[i], name))
			return true;
	}
	return false;
}

static void judge(const struct outcome *outcome, const char *name, uint32_t type, uint32_t twin)
{
	int differences = 0;
	size_t pairs = compare_pairs(outcome, type, twin, &differences);
	bool missed = !pairs && is_certain(name);

	check_failures += differences || missed;
	printf("%s - %s, %zu events compared\n", differences || missed ? "not ok" : "ok", name, pairs);
}

/*
 * Programs that interrupt each other lose firings, which is counted; then the n-th records are no pairs. That is rare,
 * so another attempt mostly helps.
 */
static void run_batch(const struct harness *harness, struct plan *plan, size_t count)
{
	struct outcome outcome;
	bool lost = true;

	for (int attempt = 0; lost && attempt < ATTEMPTS; attempt++) {
		harness_run(harness, plan, &outcome);
		lost = outcome.lost != 0;
		for (size_t i = 0; i < count && !lost; i++)
			judge(&outcome, plan->types[i], (uint32_t)i, (uint32_t)(count + i));
		outcome_fini(&outcome);
	}
	for (size_t i = 0; i < count && lost; i++)
		printf("ok - %s # SKIP firings were lost\n", plan->types[i]);
}

int main(int argc, char **argv)
{
	struct plan plan = { .scope = EBPF_SCOPE_TREE, .ring_bytes = RING_BYTES, .plant = plant_everything };
	char twins[BATCH][128];
	struct harness harness;
	const struct event_type *type;
	size_t count = 0, last = 0;
	int result = harness_init(&harness, argc > 1 ? argv[1] : "catalogs/linux.events");

	if (result)
		return result;
	while (event_catalog_get(harness.catalog, last))
		last++;
	for (size_t i = 0; i < last; i++) {
		type = event_catalog_get(harness.catalog, i);
		if ((argc <= 2 || !strcmp(type->name, argv[2])) && harness_add_twin(harness.catalog, type))
			plan.types[count++] = type->name;
		if (count < BATCH && i + 1 < last)
			continue;
		for (size_t j = 0; j < count; j++) {
			snprintf(twins[j], sizeof twins[j], "twin_%s", plan.types[j]);
			plan.types[count + j] = twins[j];
		}
		if (count)
			run_batch(&harness, &plan, count);
		memset(plan.types, 0, sizeof plan.types);
		count = 0;
	}
	harness_fini(&harness);
	return check_failures ? 1 : 0;
}
