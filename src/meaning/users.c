// SPDX-License-Identifier: BSD-2-Clause
/*
 * Names users and groups: as this host's database says. Its answers are kept for a while, so many of them at most; a
 * database that is slow to answer is left alone for as long. A name that could be taken for something else where it is
 * shown is none.
 */

#include "meaning/family-priv.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

enum {
	ANSWERS_MAX = 128,     /* of users, and as many of groups */
	ENTRY_BYTES = 1 << 14, /* an entry of the database: a group's has its members in it */
	SLOW_NS = 200000000,   /* an answer that takes longer is one of a slow database */
	ROWS_READ_MAX = 4096   /* of a file, for a name that is near */
};

#define ANSWER_NS UINT64_C(60000000000) /* how long an answer holds */

/* Of users or of groups. */
struct database {
	/* The number of name. False: there is none. */
	bool (*find)(const char *name, char entry[ENTRY_BYTES], int64_t *number);
	/* The name of the number. False: it has none. */
	bool (*name)(uint32_t id, char entry[ENTRY_BYTES], const char **name);
	/* The name of the next row of the file. False: there is none. */
	bool (*next)(FILE *file, char entry[ENTRY_BYTES], const char **name);
	const char *path;
};

struct answer {
	uint64_t until_ns; /* 0: none yet */
	uint32_t id;
	char name[MEANING_NAME_BYTES]; /* "": it has none */
};

struct meaning_users {
	pthread_mutex_t lock;
	bool is_asked;
	uint64_t slow_until_ns;
	struct answer users[ANSWERS_MAX], groups[ANSWERS_MAX];
};

/* Letters, digits and what stands between them in names; not a number. */
static bool is_user_name(const char *text)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.@+$\\";
	size_t length = strspn(text, allowed);

	return length && !text[length] && length < MEANING_NAME_BYTES && strspn(text, "0123456789") < length;
}

static bool find_user(const char *name, char entry[ENTRY_BYTES], int64_t *number)
{
	struct passwd row, *found = NULL;

	if (getpwnam_r(name, &row, entry, ENTRY_BYTES, &found) || !found)
		return false;
	*number = found->pw_uid;
	return true;
}

static bool find_user_group(const char *name, char entry[ENTRY_BYTES], int64_t *number)
{
	struct group row, *found = NULL;

	if (getgrnam_r(name, &row, entry, ENTRY_BYTES, &found) || !found)
		return false;
	*number = found->gr_gid;
	return true;
}

static bool name_user(uint32_t id, char entry[ENTRY_BYTES], const char **name)
{
	struct passwd row, *found = NULL;

	if (getpwuid_r(id, &row, entry, ENTRY_BYTES, &found) || !found)
		return false;
	*name = found->pw_name;
	return true;
}

static bool name_group(uint32_t id, char entry[ENTRY_BYTES], const char **name)
{
	struct group row, *found = NULL;

	if (getgrgid_r(id, &row, entry, ENTRY_BYTES, &found) || !found)
		return false;
	*name = found->gr_name;
	return true;
}

static bool next_user(FILE *file, char entry[ENTRY_BYTES], const char **name)
{
	struct passwd row, *found = NULL;

	if (fgetpwent_r(file, &row, entry, ENTRY_BYTES, &found) || !found)
		return false;
	*name = found->pw_name;
	return true;
}

static bool next_group(FILE *file, char entry[ENTRY_BYTES], const char **name)
{
	struct group row, *found = NULL;

	if (fgetgrent_r(file, &row, entry, ENTRY_BYTES, &found) || !found)
		return false;
	*name = found->gr_name;
	return true;
}

static const struct database user_database = { find_user, name_user, next_user, "/etc/passwd" };
static const struct database group_database = { find_user_group, name_group, next_group, "/etc/group" };

static bool find_user_id(const struct database *database, const char *name, int64_t *number)
{
	char entry[ENTRY_BYTES];

	return is_user_name(name) && database->find(name, entry, number);
}

static bool find_uid(const char *name, int64_t *number)
{
	return find_user_id(&user_database, name, number);
}

static bool find_gid(const char *name, int64_t *number)
{
	return find_user_id(&group_database, name, number);
}

/* Only those of the file: what a network knows may be too much to list. */
static size_t list_file_users(const struct database *database, char (*names)[MEANING_NAME_BYTES], size_t most)
{
	FILE *file = fopen(database->path, "re");
	char entry[ENTRY_BYTES];
	const char *name;
	size_t count = 0;

	for (size_t i = 0; file && i < ROWS_READ_MAX && count < most && database->next(file, entry, &name); i++) {
		if (is_user_name(name))
			snprintf(names[count++], MEANING_NAME_BYTES, "%s", name);
	}
	if (file)
		fclose(file);
	return count;
}

static size_t list_users(char (*names)[MEANING_NAME_BYTES], size_t most)
{
	return list_file_users(&user_database, names, most);
}

static size_t list_groups(char (*names)[MEANING_NAME_BYTES], size_t most)
{
	return list_file_users(&group_database, names, most);
}

const struct meaning_family meaning_user_names = { .find = find_uid, .list = list_users };
const struct meaning_family meaning_group_names = { .find = find_gid, .list = list_groups };

int meaning_users_new(struct meaning_users **made)
{
	struct meaning_users *users = alloc_zero(1, sizeof *users);

	if (!users)
		return -ENOMEM;
	pthread_mutex_init(&users->lock, NULL);
	*made = users;
	return 0;
}

void meaning_users_free(struct meaning_users *users)
{
	if (!users)
		return;
	pthread_mutex_destroy(&users->lock);
	alloc_free(users);
}

void meaning_users_ask(struct meaning_users *users)
{
	pthread_mutex_lock(&users->lock);
	users->is_asked = true;
	pthread_mutex_unlock(&users->lock);
}

/* The answer for id, or the place of one that no longer holds; NULL: neither. */
static struct answer *answer_place(struct answer answers[ANSWERS_MAX], uint32_t id, uint64_t now_ns)
{
	struct answer *place = NULL;

	for (size_t i = 0; i < ANSWERS_MAX; i++) {
		if (answers[i].until_ns <= now_ns)
			place = &answers[i];
		else if (answers[i].id == id)
			return &answers[i];
	}
	return place;
}

static void ask_database(struct meaning_users *users, const struct database *database, struct answer *answer,
			 uint64_t now_ns)
{
	char entry[ENTRY_BYTES];
	const char *name;
	bool has_name = database->name(answer->id, entry, &name) && is_user_name(name);
	uint64_t answered_ns = clock_now_ns();

	snprintf(answer->name, sizeof answer->name, "%s", has_name ? name : "");
	answer->until_ns = answered_ns + ANSWER_NS;
	if (answered_ns - now_ns > SLOW_NS)
		users->slow_until_ns = answered_ns + ANSWER_NS;
}

bool meaning_user(struct meaning_users *users, const struct meaning *meaning, struct meaning_number number,
		  struct text_buffer *text)
{
	bool is_group = meaning && meaning->family == &meaning_group_names;
	uint64_t now_ns = clock_now_ns();
	struct answer *answer;
	bool has_name = false;

	if (!users || !meaning || !meaning->family || !meaning->family->find || number.word >= UINT32_MAX)
		return false;
	pthread_mutex_lock(&users->lock);
	answer = users->is_asked ? answer_place(is_group ? users->groups : users->users, (uint32_t)number.word, now_ns)
				 : NULL;
	if (answer && answer->until_ns <= now_ns && users->slow_until_ns <= now_ns) {
		answer->id = (uint32_t)number.word;
		ask_database(users, is_group ? &group_database : &user_database, answer, now_ns);
		has_name = *answer->name;
	} else if (answer && answer->until_ns > now_ns) {
		has_name = *answer->name;
	}
	if (has_name)
		text_append(text, answer->name);
	pthread_mutex_unlock(&users->lock);
	return has_name;
}
