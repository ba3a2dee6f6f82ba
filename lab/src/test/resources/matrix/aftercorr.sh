# Each task after its like.
first=$(sbatch --parsable -t 5 -a 1-2 -o /dev/null --wrap 'touch first-$SLURM_ARRAY_TASK_ID')
second=$(sbatch --parsable -t 5 -a 1-2 -d "aftercorr:$first" -o 'out-%a.txt' --wrap 'ls first-$SLURM_ARRAY_TASK_ID')
ended "${second}_1"; ended "${second}_2"
cat out-1.txt out-2.txt
