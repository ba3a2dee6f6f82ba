#!/bin/bash
# An MPI program over all nodes of the job, one rank each: sbatch --nodes=2 --ntasks-per-node=1 mpi-hello.sh /home/me/mpi-hello
# The program is built from mpi-hello.c with the demo's openmpi.h and lies where all nodes see it. Says "mpi-hello: ok", or ends with a
# status that is not 0.
set -eu -o pipefail

program=$1

# What MPI's out-of-band connections and users count on: a node is called as its host, and its address leads back to that name.
srun bash -c '
    set -eu
    [ "$(hostname -s)" = "$SLURMD_NODENAME" ] || { echo "name: want $SLURMD_NODENAME, have $(hostname -s)"; exit 1; }
    for node in $(scontrol show hostnames "$SLURM_JOB_NODELIST"); do
        address=$(getent ahostsv4 "$node" | head -n 1 | cut -d" " -f1)
        back=$(getent hosts "$address" | tr -s " " | cut -d" " -f2)
        [ "$back" = "$node" ] || { echo "names: $node is $address, and that is $back"; exit 1; }
    done'

# Debian's Open MPI speaks PMIx alone, and MpiDefault is none.
srun --mpi=pmix "$program" "$SLURM_JOB_NUM_NODES" | sort
echo "mpi-hello: ok"
