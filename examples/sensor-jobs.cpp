// SPDX-License-Identifier: BSD-2-Clause
// Workers that take jobs from a queue: how long each waited there, and how long it took. The library's code is part of
// this file, so nothing is linked with: `make sensor-jobs`, or
//
//	g++ -std=c++11 -pthread -o sensor-jobs sensor-jobs.cpp

#define ASTERISM_SENSOR_IMPLEMENTATION
#include "asterism/sensor.h"

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

#define JOB(F) F(u32, job, "", "its number")
#define JOB_TAKEN(F) F(u32, job, "", "") F(time, waited, "duration", "in the queue")

ASTERISM_SENSOR(job_queued, "somebody wants a job done", JOB)
ASTERISM_SENSOR(job_taken, "a worker begins", JOB_TAKEN)
ASTERISM_SENSOR(job_done, "", JOB)

using Clock = std::chrono::steady_clock;

struct Job {
	uint32_t number;
	Clock::time_point since;
};

static std::queue<Job> jobs;
static std::mutex lock;
static std::condition_variable wake;

static void work()
{
	for (;;) {
		std::unique_lock<std::mutex> held(lock);

		wake.wait(held, [] { return !jobs.empty(); });
		Job job = jobs.front();

		jobs.pop();
		held.unlock();
		if (!job.number)
			return;
		// Its event comes after job_queued, which another thread has raised, whatever the processors do.
		ASTERISM_SENSE_ORDERED(job_taken, job.number, std::chrono::nanoseconds(Clock::now() - job.since).count());
		std::this_thread::sleep_for(std::chrono::microseconds(200 + job.number % 7 * 100));
		ASTERISM_SENSE(job_done, job.number);
	}
}

static void add(uint32_t number)
{
	std::lock_guard<std::mutex> held(lock);

	if (number)
		ASTERISM_SENSE(job_queued, number);
	jobs.push(Job{ number, Clock::now() });
	wake.notify_one();
}

int main(int argc, char **argv)
{
	const uint32_t count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 10000;
	std::vector<std::thread> workers;

	for (int i = 0; i < 4; i++)
		workers.emplace_back(work);
	for (uint32_t i = 1; i <= count; i++) {
		add(i);
		std::this_thread::sleep_for(std::chrono::microseconds(150));
	}
	for (size_t i = 0; i < workers.size(); i++)
		add(0);
	for (std::thread &worker : workers)
		worker.join();
}
