/*
 * Each rank of an MPI program says who it is and where; all add up their ranks. Without a process manager every rank is alone and
 * is rank 0 of 1: so the size is asserted, and that the sum is that of all ranks.
 *
 *     mpi-hello SIZE
 */
#include "openmpi.h"

int main(int argc, char **argv)
{
    char host[256];
    int rank = -1, size = -1, sum = -1, want = argc == 2 ? atoi(argv[1]) : 0;
    if (want < 1 || gethostname(host, sizeof host) != 0) {
        fprintf(stderr, "mpi-hello: want a size\n");
        return 2;
    }
    mpi_begin(&argc, &argv, &rank, &size);
    succeed("MPI_Allreduce", mpi.all_reduce(&rank, &sum, 1, mpi.integer, mpi.sum, mpi.world));
    printf("mpi-hello: rank %d of %d on %s, sum %d\n", rank, size, host, sum);
    fflush(stdout);
    succeed("MPI_Finalize", mpi.finalize());
    return size == want && sum == size * (size - 1) / 2 ? 0 : 1;
}
