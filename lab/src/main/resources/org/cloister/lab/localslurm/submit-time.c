/*
 * Preloaded into slurmctld: times each call of job_submit.lua. A line in $SUBMIT_TIMES is a word, submit or modify, the
 * nanoseconds of the script alone, and those of all that Slurm's Lua plugin does for it, from asking for the function.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct lua_State;

static long long asked; /* the plugin holds a lock of its own from one to the other */
static const char *what;

static long long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void *next(const char *name)
{
	/* slurmctld loads Lua itself, after this: it is not among what follows this library. */
	void *lua = dlopen("liblua5.1.so.0", RTLD_NOW | RTLD_GLOBAL);
	void *found = lua ? dlsym(lua, name) : NULL;
	if (!found)
		abort();
	return found;
}

void lua_getfield(struct lua_State *L, int index, const char *key)
{
	static void (*real)(struct lua_State *, int, const char *);
	if (!real)
		real = next("lua_getfield");
	if (!strcmp(key, "slurm_job_submit") || !strcmp(key, "slurm_job_modify")) {
		what = key + strlen("slurm_job_");
		asked = now();
	}
	real(L, index, key);
}

int lua_pcall(struct lua_State *L, int arguments, int results, int handler)
{
	static int (*real)(struct lua_State *, int, int, int);
	static int out = -1;
	if (!real)
		real = next("lua_pcall");
	long long start = now();
	int status = real(L, arguments, results, handler);
	long long end = now();
	/* The loading of a script is a call without arguments. */
	if (arguments >= 3 && what) {
		const char *file = getenv("SUBMIT_TIMES");
		char line[96];
		int length = snprintf(line, sizeof line, "%s %lld %lld\n", what, end - start, end - asked);
		if (out < 0 && file)
			out = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
		if (out >= 0 && write(out, line, length) != length)
			abort();
	}
	return status;
}
