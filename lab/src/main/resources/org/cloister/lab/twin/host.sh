#!/bin/bash
# host.sh FOLDER CPUS MEMORY_MIB: the site's job that a worker VM is, on the host that the site's Slurm chose. It ends when the VM
# has powered off and nothing is left of it.
set -eu
. "$1/settings"
disk=$1/scratch.img
truncate -s 64M "$disk"
"$1/vm.sh" "$1" worker "$2" "$3" "$disk" -serial "file:$1/worker.console" &
wait $!
ovs-vsctl del-port br-twin twin-worker
ip link delete twin-worker
rm "$disk"
