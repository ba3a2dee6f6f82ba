#!/bin/bash
# twin.sh FOLDER CPUS MEMORY_MIB: one job of a project, from its place in the project's own queue to nothing left of its VM, the
# obvious way: what an administrator writes in an afternoon. Each thing is a command, each wait a loop that asks. FOLDER holds
# `settings`, `ssh_config` and the other scripts. Says when each phase is over, by this machine's clock.
set -eu
folder=$1
cpus=$2
memory=$3
. "$folder/settings"

stamp() { # phase
    printf 'phase %s %s\n' "$1" "$EPOCHREALTIME"
}

c() { # command line on the project's controller
    ssh -F "$folder/ssh_config" controller "$@"
}

w() { # command line on the worker
    ssh -F "$folder/ssh_config" worker "$@"
}

# A waiting job of the project's own Slurm becomes a job of the site's.
until job=$(c squeue -h -t PD -o %A) && [ -n "$job" ]; do sleep 3; done
stamp seen
global=$(sbatch --parsable -A "$ACCOUNT" -w "$(hostname)" -n 1 -c "$cpus" --mem=$((memory + 600)) -o "$folder/global.out" \
    "$folder/host.sh" "$folder" "$cpus" "$memory")
until [ "$(squeue -h -j "$global" -o %T)" = RUNNING ]; do sleep 1; done
stamp queue
until w true 2>/dev/null; do sleep 1; done
stamp boot

# Scratch, with what cryptsetup takes when nothing is said.
w "head -c 64 /dev/urandom >/run/scratch.key"
w "cryptsetup -q --key-file /run/scratch.key luksFormat $SCRATCH"
w "cryptsetup --key-file /run/scratch.key open $SCRATCH scratch"
w "mkfs.ext4 -q /dev/mapper/scratch"
w "mkdir -p /scratch && mount /dev/mapper/scratch /scratch"
stamp scratch

# A certificate, the guard, and a tunnel to the controller.
c "pki --gen --type ecdsa --size 384 --outform pem >/run/worker.key"
c "pki --issue --in /run/worker.key --type priv --cacert /etc/swanctl/x509ca/ca.crt --cakey /run/ca.key --dn CN=twin-worker \
    --outform pem >/run/worker.crt"
c "cat /run/worker.key" | w "cat >/etc/swanctl/private/own.key"
c "cat /run/worker.crt" | w "cat >/etc/swanctl/x509/own.crt"
c "cat /etc/swanctl/x509ca/ca.crt" | w "cat >/etc/swanctl/x509ca/ca.crt"
w "nft -f /usr/lib/twin/guard.nft"
w "cp /usr/lib/twin/worker.conf /etc/swanctl/conf.d/"
w "systemctl start twin-charon.service"
until w "test -S /run/charon.vici"; do sleep 1; done
w "swanctl --load-all" >/dev/null
until w "swanctl --list-sas" | grep -q INSTALLED; do sleep 1; done
stamp tunnel

w "mkdir -p /project && mount -t nfs4 -o vers=4.2 10.98.0.1:/ /project"
stamp storage

# A node for this job alone.
c "cat /etc/munge/munge.key" | w "cat >/etc/munge/munge.key"
w "chown munge: /etc/munge/munge.key && chmod 400 /etc/munge/munge.key"
w "systemctl start munge.service"
w "slurmd -Z -N twin-worker --conf-server 10.98.0.1:6817 --conf \"Feature=job$job TmpDisk=32\"" </dev/null >/dev/null 2>&1
until [ "$(c sinfo -h -n twin-worker -o %T)" = idle ]; do sleep 1; done
stamp node
c "scontrol update jobid=$job features=job$job"
stamp given

# The job runs, and everything goes again.
until [ -z "$(c squeue -h -j "$job" -o %T 2>/dev/null)" ]; do sleep 3; done
stamp noticed
c "scontrol update nodename=twin-worker state=drain reason=over"
until c "scontrol delete nodename=twin-worker"; do sleep 1; done
stamp deleted
w "pkill slurmd; systemctl stop munge.service"
w "umount /project"
w "umount /scratch"
w "cryptsetup close scratch"
w "cryptsetup -q luksErase $SCRATCH"
stamp erased
# The answer may be lost with the machine.
w "poweroff" 2>/dev/null || true
until [ -z "$(squeue -h -j "$global" -o %T 2>/dev/null)" ]; do sleep 1; done
stamp over
