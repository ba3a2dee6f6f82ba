/*
 * Squares a matrix of integers: each rank its share of the rows, and all get the whole.
 *
 *     square RANKS INPUT OUTPUT
 *
 * INPUT has a row a line, and lines that begin with # before them; rank 0 writes OUTPUT. Rows say what their ranks were.
 */
#include "openmpi.h"
#include <string.h>

enum { MOST = 1024, LINE = 1 << 16 };

static int cells[MOST][MOST], own[MOST][MOST], whole[MOST][MOST];

static int read_rows(const char *path)
{
    static char line[LINE];
    FILE *in = fopen(path, "r");
    int rows = 0;
    if (in == NULL) {
        perror(path);
        exit(2);
    }
    while (rows < MOST && fgets(line, sizeof line, in) != NULL) {
        int column = 0;
        if (line[0] == '#')
            continue;
        for (char *word = strtok(line, " \n"); word != NULL && column < MOST; word = strtok(NULL, " \n"))
            cells[rows][column++] = atoi(word);
        rows++;
    }
    fclose(in);
    return rows;
}

static void write_rows(const char *path, int n)
{
    FILE *out = fopen(path, "w");
    if (out == NULL) {
        perror(path);
        exit(5);
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            fprintf(out, "%d%c", whole[i][j], j + 1 < n ? ' ' : '\n');
    if (fclose(out) != 0) {
        perror(path);
        exit(5);
    }
}

int main(int argc, char **argv)
{
    char host[256];
    int rank = -1, size = -1;
    mpi_begin(&argc, &argv, &rank, &size);
    if (argc != 4 || size != atoi(argv[1]) || gethostname(host, sizeof host) != 0) {
        fprintf(stderr, "square: want RANKS INPUT OUTPUT, have %d words and %d ranks\n", argc - 1, size);
        return 2;
    }
    int n = read_rows(argv[2]);
    int from = n * rank / size, to = n * (rank + 1) / size;
    for (int i = from; i < to; i++)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                own[i][j] += cells[i][k] * cells[k][j];
    succeed("MPI_Allreduce", mpi.all_reduce(own, whole, MOST * n, mpi.integer, mpi.sum, mpi.world));
    printf("rank %d of %d on %s: rows %d to %d of %d\n", rank, size, host, from, to - 1, n);
    fflush(stdout);
    if (rank == 0)
        write_rows(argv[3], n);
    succeed("MPI_Finalize", mpi.finalize());
    return 0;
}
