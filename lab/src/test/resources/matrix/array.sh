# An array: its tasks' environment, names of output, one that fails.
job=$(sbatch --parsable -t 5 -a 1-5:2 -o 'out-%a.txt' --wrap 'echo $SLURM_ARRAY_TASK_ID of $SLURM_ARRAY_TASK_COUNT, $SLURM_ARRAY_TASK_MIN to $SLURM_ARRAY_TASK_MAX; [ $SLURM_ARRAY_TASK_ID != 3 ]')
for task in 1 3 5; do ended "${job}_$task"; done
cat out-*.txt
accounted "$job" 3
