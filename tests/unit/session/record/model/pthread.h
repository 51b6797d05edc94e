/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stands in for the system's header where the hand-over between a recording's owner and its thread is explored: every
 * operation is one of the model in test-recording-schedules.c. No guard of its own: it only renames.
 */
#include_next <pthread.h>

int model_lock(pthread_mutex_t *mutex);
int model_unlock(pthread_mutex_t *mutex);
int model_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int model_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until);
int model_signal(pthread_cond_t *condition);
int model_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context);
int model_join(pthread_t thread, void **result);

#define pthread_mutex_lock     model_lock
#define pthread_mutex_unlock   model_unlock
#define pthread_cond_wait      model_wait
#define pthread_cond_timedwait model_timedwait
#define pthread_cond_signal    model_signal
#define pthread_create         model_create
#define pthread_join           model_join
