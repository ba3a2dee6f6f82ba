# For every case: sourced first, by bash -u, as the user, in an empty folder of hers below her home.

# Waits until a job is in one of the states: until_state JOB STATE...
until_state() {
    local job=$1 state n
    shift
    for ((n = 0; n < 600; n++)); do
        state=$(state_of "$job")
        for want; do
            [ "$state" != "$want" ] || return 0
        done
        sleep 0.2
    done
    echo "job: still $state after 120 s, want $*"
    return 1
}

state_of() { scontrol show job "$1" 2>&1 | sed -nE 's/.*JobState=([A-Z_]+).*/\1/p' | head -n 1; }

reason_of() { squeue -h -o %r -j "$1"; }

# A field of scontrol's record of a job: field JOB NAME.
field() { scontrol show job "$1" | tr ' ' '\n' | sed -n "s/^$2=//p" | head -n 1; }

# Waits for a job's end and says how it ended.
ended() {
    until_state "$1" COMPLETED FAILED CANCELLED TIMEOUT NODE_FAIL OUT_OF_MEMORY &&
        echo "$(state_of "$1") $(field "$1" ExitCode)"
}

# The same of a job that ran when Slurm ended it: which signal did it in the end is chance.
cancelled() { ended "$1" | cut -d' ' -f1; }

# What accounting says of a job and its steps, without numbers and names of nodes, when slurmdbd has heard all of it:
# accounted JOB [PARTS], of an array or a set with the number of its parts.
accounted() {
    local n now before=
    for ((n = 0; n < 40; n++)); do
        now=$(sacct -n -P -j "$1" -o JobName,State,ExitCode,NNodes,NCPUS,End | sort)
        if [ "$(sacct -X -n -P -j "$1" -o JobID | wc -l)" -ge "${2:-1}" ] && [ "$now" = "$before" ] && ! grep -qE 'allocation|Unknown|RUNNING|PENDING' <<<"$now"; then
            break
        fi
        before=$now
        sleep 1
    done
    sed 's/|[^|]*$//' <<<"$now"
}

# Waits for the reason of a waiting job, which Slurm finds out some seconds after its submission at the latest.
until_reason() {
    local n reason
    for ((n = 0; n < 600; n++)); do
        reason=$(reason_of "$1")
        [ "$reason" != "$2" ] || break
        sleep 0.2
    done
    echo "$(state_of "$1") $reason"
}
