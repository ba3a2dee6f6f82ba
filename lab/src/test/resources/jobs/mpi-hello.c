/*
 * An MPI program without MPI's headers, so that the machine that builds it needs none: Open MPI's library is opened in the VM.
 * Each rank says who it is and where; all add up their ranks. Without a process manager every rank is alone and is rank 0 of 1:
 * so the size is asserted, and that the sum is that of all ranks.
 *
 *     mpi-hello SIZE
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *library;

static void *symbol(const char *name)
{
    void *found = dlsym(library, name);
    if (found == NULL) {
        fprintf(stderr, "mpi-hello: %s: %s\n", name, dlerror());
        exit(3);
    }
    return found;
}

static void succeed(const char *what, int result)
{
    if (result != 0) {
        fprintf(stderr, "mpi-hello: %s: error %d\n", what, result);
        exit(4);
    }
}

int main(int argc, char **argv)
{
    char host[256];
    int rank = -1, size = -1, sum = -1, want = argc == 2 ? atoi(argv[1]) : 0;
    /* Its plugins look for its symbols. */
    library = dlopen("libmpi.so.40", RTLD_NOW | RTLD_GLOBAL);
    if (library == NULL || want < 1 || gethostname(host, sizeof host) != 0) {
        fprintf(stderr, "mpi-hello: want a size and Open MPI 4, have %s\n", library == NULL ? dlerror() : "no size");
        return 2;
    }
    int (*init)(int *, char ***) = symbol("MPI_Init");
    int (*comm_rank)(void *, int *) = symbol("MPI_Comm_rank");
    int (*comm_size)(void *, int *) = symbol("MPI_Comm_size");
    int (*all_reduce)(const void *, void *, int, void *, void *, void *) = symbol("MPI_Allreduce");
    int (*finalize)(void) = symbol("MPI_Finalize");
    void *world = symbol("ompi_mpi_comm_world");
    void *integer = symbol("ompi_mpi_int");
    void *add = symbol("ompi_mpi_op_sum");
    succeed("MPI_Init", init(&argc, &argv));
    succeed("MPI_Comm_rank", comm_rank(world, &rank));
    succeed("MPI_Comm_size", comm_size(world, &size));
    succeed("MPI_Allreduce", all_reduce(&rank, &sum, 1, integer, add, world));
    printf("mpi-hello: rank %d of %d on %s, sum %d\n", rank, size, host, sum);
    fflush(stdout);
    succeed("MPI_Finalize", finalize());
    return size == want && sum == size * (size - 1) / 2 ? 0 : 1;
}
