/*
 * Open MPI without its headers, so that the machine that builds a program needs none: the library is opened in the VM.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct {
    void *library, *world, *integer, *sum;
    int (*init)(int *, char ***);
    int (*rank)(void *, int *);
    int (*size)(void *, int *);
    int (*all_reduce)(const void *, void *, int, void *, void *, void *);
    int (*finalize)(void);
} mpi;

static void *mpi_symbol(const char *name)
{
    void *found = dlsym(mpi.library, name);
    if (found == NULL) {
        fprintf(stderr, "%s: %s\n", name, dlerror());
        exit(3);
    }
    return found;
}

static void succeed(const char *what, int result)
{
    if (result != 0) {
        fprintf(stderr, "%s: error %d\n", what, result);
        exit(4);
    }
}

/* Begins; a process without a process manager is alone: rank 0 of 1. */
static void mpi_begin(int *argc, char ***argv, int *rank, int *size)
{
    /* Its plugins look for its symbols. */
    mpi.library = dlopen("libmpi.so.40", RTLD_NOW | RTLD_GLOBAL);
    if (mpi.library == NULL) {
        fprintf(stderr, "want Open MPI 4, have %s\n", dlerror());
        exit(2);
    }
    mpi.init = mpi_symbol("MPI_Init");
    mpi.rank = mpi_symbol("MPI_Comm_rank");
    mpi.size = mpi_symbol("MPI_Comm_size");
    mpi.all_reduce = mpi_symbol("MPI_Allreduce");
    mpi.finalize = mpi_symbol("MPI_Finalize");
    mpi.world = mpi_symbol("ompi_mpi_comm_world");
    mpi.integer = mpi_symbol("ompi_mpi_int");
    mpi.sum = mpi_symbol("ompi_mpi_op_sum");
    succeed("MPI_Init", mpi.init(argc, argv));
    succeed("MPI_Comm_rank", mpi.rank(mpi.world, rank));
    succeed("MPI_Comm_size", mpi.size(mpi.world, size));
}
