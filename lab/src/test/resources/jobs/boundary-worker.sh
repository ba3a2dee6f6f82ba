#!/bin/sh
# What root of a worker asks its controlling VM's services, with the project's munge key. Each attempt says "NAME: exit STATUS SAID" in one
# line; files that an attempt would leave somewhere are called boundary-*.
# shellcheck disable=SC2016,SC2086  # perl's own variables; a word for each option
home=/project/home/ada
slurm="setpriv --reuid=slurm --regid=slurm --clear-groups"
cd / || exit

. "$home/boundary-try.sh"

# Programs that slurmctld is to run.
try "trigger" strigger --set --reconfig --program="/bin/touch /tmp/boundary-root"
try "node trigger" strigger --set --node --down --program="/bin/touch /tmp/boundary-root"

# Jobs as who is no member; prologs of srun's run on the worker that submits, and its job is what counts.
try "job of root" sbatch --parsable --wrap=true
try "job of slurm" $slurm sbatch --parsable --wrap=true
try "job of mysql" setpriv --reuid=mysql --regid=mysql --clear-groups sbatch --parsable --wrap=true
try "prolog of root" srun --prolog=/bin/true --task-prolog=/bin/true true
try "prolog of slurm" $slurm srun --prolog=/bin/true --task-prolog=/bin/true true
# What the threat model grants.
try "job of another member" setpriv --reuid=2002 --regid=2002 --clear-groups sbatch --parsable --hold --chdir=/tmp --wrap=true

# Accounting listens for its own machine alone.
main=$(getent hosts main | cut -d ' ' -f 1)
try "slurmdbd" nc -z -w 3 "$main" 6819
try "database" nc -z -w 3 "$main" 3306

# The storage: as whom this worker's requests come, also those of root.
mkdir -p /run/all
try "mount" mount -t nfs4 -o vers=4.2 main:/ /run/all
try "daemons' folders" ls /run/all/cloister/slurm /run/all/cloister/mariadb /run/all/cloister/agent
try "device" mknod "/run/all/home/ada/boundary-device" c 1 1
try "set-uid copy" cp /usr/bin/id "/run/all/home/ada/boundary-id"
try "set-uid bit" chmod 4755 "/run/all/home/ada/boundary-id"
try "set-uid owner" chown 0:0 "/run/all/home/ada/boundary-id"
try "owner" stat -c %u "/run/all/home/ada/boundary-id"
try "another's home" ls /run/all/home/bob
try "umount" umount /run/all
try "storage's options" findmnt -n -o OPTIONS -T "$home"

# The clock's command port.
for order in tracking makestep "allow all" shutdown; do
    # shellcheck disable=SC2086
    try "chronyc $order" chronyc -h "$main" -n $order
done
