#!/bin/bash
#SBATCH --job-name=@MARKER@-job --output=square.txt --tmp=40
# @MARKER@: over all nodes of the job, one rank each.
set -eu
chmod +x square
srun --mpi=pmix "$HOME/square" "$SLURM_JOB_NUM_NODES" matrix.txt square-of-it.txt
