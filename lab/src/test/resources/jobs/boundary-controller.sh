#!/bin/sh
# What root of a controlling VM sees of the fences around its daemons, and whether a program gets through them that slurmctld's own
# account has it run. Lines are "NAME: SAID"; files that would be left somewhere are called boundary-*.
# shellcheck disable=SC2016,SC2086  # perl's own variables; a word for each option
slurm="setpriv --reuid=slurm --regid=slurm --clear-groups"
ada="setpriv --reuid=2001 --regid=2001 --clear-groups"

own=
for unit in slurmctld slurmdbd; do
    pid=$(systemctl show -P MainPID "$unit.service")
    seen=/proc/$pid/root
    own="$own $seen/tmp $seen/var/tmp"
    echo "$unit user: $(stat -c %U "/proc/$pid")"
    echo "$unit capabilities: $(sed -n 's/^CapBnd:\t//p' "/proc/$pid/status") $(sed -n 's/^NoNewPrivs:\t//p' "/proc/$pid/status")"
    echo "$unit executes: $(awk '$6 !~ /(^|,)noexec(,|$)/ { print $5 }' "/proc/$pid/mountinfo" | sort | tr '\n' ' ')"
    echo "$unit sees of the drive: $(cd "$seen/project" && find . -maxdepth 2 | sort | tr '\n' ' ')"
    echo "$unit sees of agent-vm: $(cd "$seen/run/cloister" && find . | sort | tr '\n' ' ')"
    for folder in home root var/lib/cloister run/cloister-sessions etc/ssh var/log tmp dev/shm; do
        echo "$unit sees in /$folder: $(find "$seen/$folder" -mindepth 1 2>/dev/null | wc -l)"
    done
done

# A new configuration is no event of slurmctld 24.11's; the end of a job is.
job=$(cd /tmp && $ada sbatch --hold --parsable --output=/dev/null --wrap=true)
for program in "/bin/touch /project/cloister/slurm/boundary-touch" \
    "/bin/sh -c 'echo >/project/cloister/slurm/boundary-sh'" \
    "/lib64/ld-linux-x86-64.so.2 /bin/touch /project/cloister/slurm/boundary-ld" \
    "/usr/lib/x86_64-linux-gnu/awk/pwcat >/project/cloister/slurm/boundary-awk"; do
    $slurm strigger --set --jobid="$job" --fini --program="$program" && echo "set: ${program%% *}"
done
scancel "$job"
tries=0
while [ -n "$(strigger --get --noheader)" ] && [ $((tries += 1)) -lt 90 ]; do
    sleep 1
done
echo "triggers that wait: $(strigger --get --noheader | wc -l)"
echo "queue: $(scontrol ping)"
echo "left: $(find / /project /tmp /var/tmp /run /dev/shm $own -xdev -name 'boundary-*' ! -path '/project/home/*' 2>/dev/null | tr '\n' ' ')"
echo "TCP ports: $(ss -H -t -l -n | awk '$4 !~ /^127\./ && $4 !~ /^\[::1\]/ { sub(/.*:/, "", $4); print $4 }' | sort -n -u | tr '\n' ' ')"
echo "UDP ports: $(ss -H -u -l -n | awk '$4 !~ /^127\./ { sub(/.*:/, "", $4); print $4 }' | sort -n -u | tr '\n' ' ')"
echo "vici: $(stat -c '%a %U' /run/cloister/charon/vici.sock) $(stat -c '%a %U' /run/cloister/charon)"
echo "sessions: $(stat -c '%a %U' /run/cloister/sessions.socket)"
echo "munge key: $(stat -c '%a %U' /run/cloister/munge/munge.key)"
echo "drive: $(findmnt -n -o OPTIONS /project)"
