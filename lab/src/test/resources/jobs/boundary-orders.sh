#!/bin/sh
# What only Slurm's administrator may order, by root of a worker with credentials of root and of slurmctld's account. Each order says
# "AS NAME: exit STATUS SAID" in one line; the one that ends slurmctld comes last.
cd / || exit

try() {
    for as in root slurm; do
        said=$(timeout 60 setpriv --reuid=$as --regid=$as --clear-groups "$@" 2>&1 </dev/null)
        echo "$as $name: exit $? $(printf '%s' "$said" | tr '\n' ' ' | cut -c1-200)"
    done
}

order() {
    name=$1
    shift
    try "$@"
}

order trigger strigger --set --reconfig --program="/bin/touch /tmp/boundary-order"
order reconfigure scontrol reconfigure
order "update node" scontrol update nodename=waiting-for-vm-0001 reason=boundary state=drain
order "create node" scontrol create nodename=boundary CPUs=1 State=CLOUD
order "delete node" scontrol delete nodename=waiting-for-vm-0002
order "update partition" scontrol update partitionname=secure maxtime=1
order reservation scontrol create reservation reservationname=boundary users=root starttime=now duration=5 nodes=ALL
order setdebug scontrol setdebug debug5
order setdebugflags scontrol setdebugflags +protocol
order schedloglevel scontrol schedloglevel 1
order token scontrol token lifespan=60
order cluster sacctmgr -i add account boundary
order takeover scontrol takeover
order abort scontrol abort
order shutdown scontrol shutdown
