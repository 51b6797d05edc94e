// SPDX-License-Identifier: BSD-2-Clause
// Four threads that need one mutex all the time; one of them sleeps while it has it.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *sleeper)
{
	for (int i = 0; i < 20; i++) {
		pthread_mutex_lock(&lock);
		if (sleeper)
			usleep(10000);
		pthread_mutex_unlock(&lock);
		usleep(100);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[4];
	static char yes;

	for (int i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, work, i ? NULL : &yes))
			return EXIT_FAILURE;
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return EXIT_SUCCESS;
}
