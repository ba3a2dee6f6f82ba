# --wait of an array is its worst exit code.
sbatch --wait -t 5 -a 0-2 -o /dev/null --wrap 'exit $SLURM_ARRAY_TASK_ID'
echo "exit $?"
