# Started again from the beginning; not if it was submitted so.
job=$(sbatch --parsable -t 5 --requeue -o out-%j.txt --open-mode=append --wrap 'echo "restarts ${SLURM_RESTART_COUNT:-0}"; [ -n "${SLURM_RESTART_COUNT:-}" ] || sleep 200')
until_state "$job" RUNNING
sleep 1
scontrol requeue "$job"; echo "exit $?"
until_state "$job" PENDING
until_state "$job" COMPLETED
field "$job" Restarts
grep restarts "out-$job.txt" | tail -n 1
job=$(sbatch --parsable -t 5 --no-requeue -o /dev/null --wrap 'sleep 100')
until_state "$job" RUNNING
scontrol requeue "$job"; echo "exit $?"
scancel "$job"; cancelled "$job"
