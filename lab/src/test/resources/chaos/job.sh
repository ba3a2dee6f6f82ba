#!/bin/bash
# job.sh KIND NUMBER SECONDS: a job of ChaosTest. Its runs are in `runs`: NUMBER[.TASK] begin|end MILLISECONDS
kind=$1
key=$2${SLURM_ARRAY_TASK_ID:+.$SLURM_ARRAY_TASK_ID}
seconds=$3
exit=0
mark() { echo "$key $1 $(date +%s%3N)" >>runs; }

mark begin
case $kind in
    ENDS) sleep "$seconds" ;;
    FAILS) sleep "$seconds" && exit=3 ;;
    ARRAY) sleep "$seconds" && [ "$SLURM_ARRAY_TASK_ID" = 2 ] && exit=3 ;;
    PAIR) srun sh -c "sleep $seconds; echo step \$SLURM_PROCID" || exit=$? ;;
    CANCELLED) sleep 600 ;;
    REQUEUED)
        if [ "${SLURM_RESTART_COUNT:-0}" = 0 ]; then
            until scontrol requeue "$SLURM_JOB_ID"; do sleep 0.2; done
            sleep 600
        fi
        sleep "$seconds"
        ;;
esac
echo "result $key"
mark end
exit $exit
