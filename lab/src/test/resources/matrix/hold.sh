# Held by its owner, at submission and later, and released.
job=$(sbatch --parsable -t 5 -H -o /dev/null --wrap true)
echo "$(state_of "$job") $(reason_of "$job") $(squeue -h -o '%D %C' -j "$job")"
scontrol release "$job"
ended "$job"
job=$(sbatch --parsable -t 5 --begin=now+600 -o /dev/null --wrap true)
scontrol hold "$job"; reason_of "$job"
scontrol update jobid="$job" StartTime=now; echo "exit $?"
scontrol release "$job"
ended "$job"
scontrol hold 99999999; echo "exit $?"
