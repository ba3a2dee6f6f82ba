#!/bin/sh
# What becomes of jobs when root of a controlling VM kills the filter before slurmctld, stops it and starts it again. The member has a
# job that runs. Lines are "NAME: SAID".
# shellcheck disable=SC2016,SC2086  # the tests are run later; a word for each option
ada="setpriv --reuid=2001 --regid=2001 --clear-groups"
unit=cloister-slurm-filter.service

await() { # seconds, test
    tries=0
    until eval "$2"; do
        [ $((tries += 1)) -lt "$1" ] || return 1
        sleep 1
    done
}

listens() { systemctl is-active --quiet $unit && grep -q '^ *[0-9]*: .*:1AA1 00000000:0000 0A' /proc/net/tcp; }

killed=$(systemctl show -P MainPID $unit)
kill -9 "$killed"
await 60 '[ "$(systemctl show -P MainPID $unit)" != "$killed" ] && listens'
echo "after kill: $(systemctl is-active $unit)"

systemctl stop $unit
waits=$(cd /tmp && $ada sbatch --parsable --output=/dev/null --wrap=true)
await 240 'agentctl vm why "$waits" 2>&1 | grep -q "filter before slurmctld"'
echo "why: $(agentctl vm why "$waits" 2>&1 | tr '\n' ' ')"
echo "running meanwhile: $(squeue -h -u ada -t RUNNING -o %j | tr '\n' ' ')"

systemctl start $unit
await 240 'sacct -n -X -j "$waits" -o State | grep -q COMPLETED'
echo "the one that waited: $(sacct -n -X -j "$waits" -o State | tr -d ' ')"
