# An allocation and commands in it; its exit code.
salloc -t 5 -N 2 --ntasks-per-node=1 sh -c 'srun echo in; echo nodes $SLURM_JOB_NUM_NODES; exit 4' 2> /dev/null
echo "exit $?"
salloc -t 5 --no-shell 2> said.txt
job=$(sed -nE 's/.*job allocation ([0-9]+).*/\1/p' said.txt | head -n 1)
srun --jobid="$job" echo later
scancel "$job"
cancelled "$job"
