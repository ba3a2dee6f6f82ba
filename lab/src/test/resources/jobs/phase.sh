#!/bin/bash
# Waits in the controlling VM until a job is in a phase, or beyond it: phase.sh JOB PHASE. Phases are those of "agentctl vm why", and
# after them running, teardown and over; one that failed begins anew. Says the phase that it found, and the job's ticket.
declare -A place
for each in slurm queue boot evidence keys tunnel registration start running teardown over; do
    place[$each]=${#place[@]}
done

# What has a status waits; of the rest Slurm says how far it is.
now() {
    local line
    if read -r line <"/run/cloister/jobs/$1.json"; then
        [[ $line =~ \"ticket\ ([a-z0-9]+), ]] && ticket=${BASH_REMATCH[1]}
        [[ $line =~ \"phase\":\"([a-z]+)\" ]] && phase=${BASH_REMATCH[1]}
        [[ $phase != @(quota|failed) ]] || phase=slurm
        return
    fi 2>/dev/null
    case $(squeue -h -t all -o %T -j "$1") in
        PENDING | "") ;;
        RUNNING) phase=running ;;
        COMPLETING) phase=teardown ;;
        *) phase=over ;;
    esac
}

phase=slurm
ticket=-
while now "$1"; ((place[$phase] < place[$2])); do
    sleep 0.2
done
echo "$phase $ticket"
