# What only operators may do.
job=$(sbatch --parsable -t 5 -o /dev/null --wrap 'sleep 100')
until_state "$job" RUNNING
scontrol suspend "$job" 2>&1; echo "exit $?"
scontrol update jobid="$job" Priority=1000000 2>&1; echo "exit $?"
scontrol update nodename=ALL State=DOWN Reason=mine 2>&1; echo "exit $?"
scancel "$job"; cancelled "$job"
