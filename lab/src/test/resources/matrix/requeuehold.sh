# Back to the queue and held.
job=$(sbatch --parsable -t 5 --requeue -o /dev/null --wrap 'sleep 200')
until_state "$job" RUNNING
scontrol requeuehold "$job"; echo "exit $?"
until_state "$job" PENDING REQUEUE_HOLD
for ((n = 0; n < 100; n++)); do [ "$(state_of "$job")" = PENDING ] && break; sleep 0.2; done
field "$job" Restarts
scancel "$job"; ended "$job"
