/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SENSOR_DIRECTORY_PRIV_H
#define SENSOR_DIRECTORY_PRIV_H

/*
 * What a directory keeps. Everything is in tables of fixed size. A client is a socket; an application's has a process,
 * which outlives it for a while, so that what it wrote last can be read.
 */

#include "sensor/directory.h"
#include "sensor/packet.h"
#include "sensor/place.h"

enum {
	SENSOR_PROCESSES_MAX = 256,
	SENSOR_OBSERVERS_MAX = 64,
	SENSOR_CLIENTS_MAX = SENSOR_PROCESSES_MAX + SENSOR_OBSERVERS_MAX,
	SENSOR_USER_CLIENTS_MORE = 16, /* of a user but root, than it may have processes */
	SENSOR_USER_OBSERVERS_MAX = 8,
	SENSOR_ROOT_CLIENTS = 16, /* of the clients, as of the observers: those that nobody else gets */
	SENSOR_ENDED_MAX = 32,    /* of the processes, those that are kept */
	SENSOR_LEFT_OUT_MAX = 256,
	SENSOR_PATTERNS_MAX = 32, /* of an observer */
	SENSOR_PATTERN_BYTES = SENSOR_PATH_BYTES + SENSOR_NAME_BYTES,
	SENSOR_TYPES_A_TIME = 64,
	SENSOR_TEXT_BYTES_MAX = 1 << 18, /* of all types of a process */
	SENSOR_PASSERS_LEFT_MAX = 16,
	SENSOR_STEPS = 16,     /* messages of a client at a time */
	SENSOR_PATIENCE_S = 5, /* with who does not say what it must, or does not take what it wants */
};

struct sensor_known_type {
	char *text;
	char name[SENSOR_NAME_BYTES];
	uint32_t units;
	uint32_t readers, kernels; /* whom its gate is open for: those of its rings, those in the kernel */
	bool is_taken, is_absent;
};

enum sensor_process_state { SENSOR_NO_PROCESS, SENSOR_IS_MAPPING, SENSOR_IS_READY, SENSOR_HAS_ENDED };

struct sensor_known_process {
	enum sensor_process_state state;
	struct sensor_process told; /* what observers are told */
	struct sensor_shape shape;
	uint64_t bytes;
	int area_fd; /* to be sealed; then for reading */
	int gates_fd, pid_fd;
	uint32_t *gates;
	struct sensor_known_type *types;
	bool is_always;                    /* all gates stay open, as the application wants it */
	uint32_t type_count, types_before; /* those that may stand in an area that was handed over */
	size_t text_bytes;
	struct sensor_client *client;
};

/* One that was refused. */
struct sensor_left_out {
	struct sensor_process told; /* number: in the order of refusals; 0: it is none any more */
	const char *why;
};

/* How far an observer is with a process. */
struct sensor_progress {
	uint16_t types; /* told */
	bool is_told, is_ended;
};

struct sensor_pattern {
	char text[SENSOR_PATTERN_BYTES];
	uint32_t flags;
};

struct sensor_client {
	int fd;          /* -1: none */
	uint64_t number; /* in the order in which they came */
	uint32_t pid, uid, gid;
	bool sees_all;
	bool is_blocked; /* waits until its socket takes more */
	bool is_passing; /* what it hands over is being looked at */
	bool wants_fds, has_clock;
	uint32_t idle_s; /* without what is waited for */
	struct sensor_known_process *process;
	struct sensor_progress *progress; /* of an observer; NULL: it is none */
	struct sensor_pattern *patterns;
	uint32_t pattern_count, ends_owed;
	uint64_t left_out_told; /* number of the last one */
};

/* Whose packet is being looked at. */
struct sensor_passing {
	uint32_t client;
	uint64_t number;
};

/* One that does not come to an end, because of what a user has handed over. */
struct sensor_left_passer {
	int pid; /* 0: none */
	uint32_t uid;
};

/* The process that looks at what is handed over; see hand-over.c. */
struct sensor_passers {
	int pid, fd; /* pid 0: none */
	bool is_closing;
	uint32_t uid;      /* who sent what it closes */
	uint32_t waited_s; /* for an answer */
	uint32_t first, last;
	struct sensor_passing queue[SENSOR_CLIENTS_MAX];
	struct sensor_left_passer left[SENSOR_PASSERS_LEFT_MAX];
};

struct sensor_directory {
	struct sensor_directory_options options;
	char path[SENSOR_PLACE_BYTES];
	struct sensor_place_id place;
	gid_t group;
	bool has_group;
	int listen_fd, epoll_fd, timer_fd, clock_fd;
	int spare_fd; /* given up where there is no other, to send somebody away */
	struct sensor_clock *clock;
	uint64_t last_number;
	struct sensor_known_process processes[SENSOR_PROCESSES_MAX];
	struct sensor_left_out left_out[SENSOR_LEFT_OUT_MAX]; /* the last ones, each at its number */
	uint64_t last_left_out;
	struct sensor_client clients[SENSOR_CLIENTS_MAX];
	struct sensor_packet packet; /* being handled */
	struct sensor_passers passers;
	uint64_t bytes_max, last_client;
	/* The end of a client, and of what is its. */
	void (*send_away)(struct sensor_directory *directory, struct sensor_client *client);
	struct sensor_directory_stats stats;
};

/* memory.c: shared memory. All return 0 or -errno, and store on success only. */

int sensor_memory_clock(struct sensor_directory *directory);
void sensor_memory_tick(struct sensor_clock *clock);
int sensor_memory_area(struct sensor_directory *directory, struct sensor_known_process *process);
int sensor_memory_gates(struct sensor_known_process *process);

/* Seals a new area, or finds one sealed that was handed over; area_fd is one for reading then. */
int sensor_memory_seal(struct sensor_known_process *process);
int sensor_memory_check(struct sensor_known_process *process);

/*
 * hand-over.c: sensor_packet_receive, of which no descriptors come but of memfds. Those are looked at elsewhere, which
 * is not waited for: sensor_hand_over_take has whose packet is in directory->packet, or the error in *result; or NULL.
 */
int sensor_hand_over_receive(struct sensor_directory *directory, struct sensor_client *client);
struct sensor_client *sensor_hand_over_take(struct sensor_directory *directory, int *result);
void sensor_hand_over_tick(struct sensor_directory *directory);
void sensor_hand_over_end(struct sensor_directory *directory);

/* shares.c: who has most gives way. Whether somebody did: there is room for need then, or more may have to go. */
enum sensor_share { SENSOR_SHARE_CLIENTS, SENSOR_SHARE_OBSERVERS, SENSOR_SHARE_PROCESSES, SENSOR_SHARE_BYTES };
bool sensor_share_make_room(struct sensor_directory *directory, enum sensor_share share, uint32_t uid, uint64_t need);

/* refusal.c: says why. */
void sensor_tell_refusal(const struct sensor_client *client, int error, const char *why);

/* The same, and counts it. Returns error: the client is to be sent away. */
int sensor_refuse(struct sensor_directory *directory, const struct sensor_client *client, int error, const char *why);

/* The same to an application, of which readers hear that nothing of it will be read. why is kept. */
int sensor_leave_out(struct sensor_directory *directory, const struct sensor_client *client, int error,
		     const char *why);
void sensor_left_out_note(struct sensor_directory *directory, const struct sensor_client *client, const char *why);

/* The process is not left out any more; those that are gone: new readers need not hear of them. */
void sensor_left_out_forget(struct sensor_directory *directory, uint32_t pid);
void sensor_left_out_forget_gone(struct sensor_directory *directory);

/* processes.c: the table of processes */

/* A place, with room for bytes of its user; those that have ended give way. NULL: none; *why says it. */
struct sensor_known_process *sensor_process_new(struct sensor_directory *directory, const struct sensor_client *client,
						uint64_t bytes, const char **why);

/* How many a user may have. */
uint32_t sensor_process_max(const struct sensor_directory *directory, uint32_t uid);

/* Whether it is known to be a 32-bit program. */
bool sensor_process_is_narrow(uint32_t pid);

/* Who told->pid is, as far as /proc tells. */
void sensor_process_describe(struct sensor_process *told);
void sensor_process_end(struct sensor_directory *directory, struct sensor_known_process *process);
void sensor_process_free(struct sensor_directory *directory, struct sensor_known_process *process);

/* Adds a type; the next id is its. Returns what is wrong with it. */
enum sensor_fault sensor_process_add(struct sensor_known_process *process, const char *text);

/* Whether it is there at the moment; not where another of its name is. */
void sensor_process_mark(struct sensor_known_process *process, uint32_t type, bool is_absent);

/* gates.c: the gate of a type is open while somebody reads it. */
void sensor_gate_set(const struct sensor_directory *directory, struct sensor_known_process *process, uint32_t type);

/* What a descriptor that is waited for is; clients and processes have their number added. */
enum sensor_tag {
	SENSOR_TAG_LISTEN,
	SENSOR_TAG_TIMER,
	SENSOR_TAG_PASSER,
	SENSOR_TAG_CLIENT = 1 << 10,
	SENSOR_TAG_PROCESS = 1 << 11,
};

int sensor_wait_add(struct sensor_directory *directory, int fd, uint64_t tag);

/* Also until it takes more, if it is full. */
void sensor_wait_set(struct sensor_directory *directory, int fd, uint64_t tag, bool is_full);

/* applications.c. -errno: the client is to be sent away. */
int sensor_application_handle(struct sensor_directory *directory, struct sensor_client *client);

/* observers.c */
int sensor_observer_handle(struct sensor_directory *directory, struct sensor_client *client);
/* The end of a client; its gates close, if it has any. */
void sensor_client_close(struct sensor_directory *directory, struct sensor_client *client);

/* The process's place is free again. */
void sensor_observer_forget(struct sensor_client *client, size_t process);

/* Tells all observers what they have not been told yet, as far as they take it. */
void sensor_observers_tell(struct sensor_directory *directory);

#endif
