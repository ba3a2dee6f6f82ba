#!/bin/bash
# Says where a job stands, each time that this changes, until it is over: watch.sh JOB. A line is a phase and a text.
now() {
    local line
    if read -r line <"/run/cloister/jobs/$1.json" && [[ $line =~ \"phase\":\"([a-z]+)\" ]]; then
        local phase=${BASH_REMATCH[1]}
        [[ $line =~ \"text\":\"([^\"]*)\" ]]
        echo "$phase ${BASH_REMATCH[1]}"
        return
    fi 2>/dev/null
    local state nodes
    read -r state nodes < <(squeue -h -t all -o '%T %N' -j "$1" 2>/dev/null)
    case ${state:-OVER} in
        PENDING) echo "slurm waits" ;;
        RUNNING) echo "running on $nodes" ;;
        COMPLETING) echo "teardown its nodes end" ;;
        *) echo "over ${state,,}" ;;
    esac
}

said=
while [[ $said != over* ]]; do
    is=$(now "$1")
    if [ "$is" != "$said" ]; then
        echo "$is"
        said=$is
    fi
    sleep 1
done
