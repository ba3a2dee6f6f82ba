#!/bin/bash
# What a user's script may try against its worker. Each attempt says "NAME: refused" or "NAME: NOT REFUSED"; at the end it says
# "hostile: done" in any case, and the node is to be of use afterwards: the next job on it, or its good end, shows that.
#   sbatch --nodes=1 hostile.sh [fork|fill|memory|kill|reboot|modules|daemons|outlive ...]     all of them in this order without arguments
set -u

refused() {
    local name=$1
    shift
    if "$@" >/dev/null 2>&1; then echo "$name: NOT REFUSED"; else echo "$name: refused"; fi
}

# As many processes as there may be, that do nothing; then they are ended, by a shell that needs no other for it.
attempt_fork() {
    local each name
    # shellcheck disable=SC2016
    timeout -k 5 120 perl -e '
        my ($n, $most) = (0, 100000);
        while ($n < $most) {
            my $child = fork;
            last unless defined $child;
            if (!$child) { sleep 300; exit }
            $n++;
        }
        print $n < $most ? "fork: refused after $n\n" : "fork: NOT REFUSED\n"' ||
        echo "fork: the kernel ended it"
    for each in /proc/[0-9]*; do
        read -r name <"$each/comm" && [ "$name" = perl ] && kill -KILL "${each#/proc/}"
    done 2>/dev/null
}

attempt_fill() {
    local folder
    for folder in "${TMPDIR:-/tmp}" /tmp /var/tmp /scratch /dev/shm; do
        [ -d "$folder" ] && [ -w "$folder" ] || continue
        # 1 TiB: more than any of them has.
        refused "fill $folder" dd if=/dev/zero of="$folder/fill.$$" bs=1M count=1048576
        rm -f "$folder/fill.$$"
    done
}

# In a process of its own: the kernel ends it.
attempt_memory() {
    refused memory perl -e 'my @all; push @all, "x" x (64 << 20) while 1'
}

attempt_kill() {
    refused "kill init" kill -KILL 1
    refused "kill others" kill -KILL $(ps -e -o pid=,uid= | awk -v me="$(id -u)" '$2 != me { print $1 }' | head -n 200) 1
    refused "trace" grep -q . /proc/1/environ
}

attempt_reboot() {
    local way
    for way in "systemctl reboot --force --force" "systemctl poweroff" "reboot -f" "poweroff -f" "shutdown -h now"; do
        # shellcheck disable=SC2086
        refused "$way" timeout 20 $way
    done
    refused sysrq sh -c 'echo b > /proc/sysrq-trigger'
    refused clock date --set=@0
    refused mount mount -t tmpfs none /mnt
    refused "user namespace" unshare -Ur true
    refused chrt chrt -f 99 true
}

attempt_modules() {
    local module said
    module=$(find /lib/modules -name '*.ko*' | head -n 1)
    said=$(/sbin/insmod "$module" 2>&1)
    case $said in
        *"Operation not permitted"*) echo "insmod ${module##*/}: refused" ;;
        *) echo "insmod ${module##*/}: NOT REFUSED: $said" ;;
    esac
}

# What daemons keep on the project's drive lies beside the homes; of the drive a worker mounts these and the software alone.
attempt_daemons() {
    local there
    there=$(echo /project/*)
    case $there in
        "/project/home /project/software") echo "daemons' folders: refused" ;;
        *) echo "daemons' folders: NOT REFUSED: $there" ;;
    esac
}

# What is left behind goes with its worker.
attempt_outlive() {
    setsid --fork sh -c 'trap "" HUP TERM; while sleep 100; do :; done' </dev/null >/dev/null 2>&1
}

for attempt in "${@:-fork fill memory kill reboot modules daemons outlive}"; do
    for each in $attempt; do
        "attempt_$each"
    done
done
echo "hostile: done"
