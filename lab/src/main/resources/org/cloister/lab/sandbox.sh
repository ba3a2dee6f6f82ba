# First process of a machine of the lab, in namespaces of its own: covers what daemons would write of the real machine's,
# says "ready", and becomes an init that only reaps. $1 its folder, $2 its name, $3 caches shared by all machines.
set -eu
folder=$1 name=$2 caches=$3

hostname "$name"
ip link set lo up
# What is not given an address has none: a bridge's or a tap's own link-local traffic would be on the wire unasked.
echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6

# /sys of this network namespace, with the control groups as they were (Slurm reads them).
mkdir -p "$folder/hold"
mount --rbind /sys/fs/cgroup "$folder/hold"
mount -t sysfs sysfs /sys
mount --rbind "$folder/hold" /sys/fs/cgroup
umount -l "$folder/hold"
rmdir "$folder/hold"

mount -t tmpfs -o mode=0755,size=64m tmpfs /run
mount -t tmpfs -o mode=1777,size=256m tmpfs /tmp
mkdir -p /run/lock

# What of other folders covers the real ones: lines of a source and a target, such as an /etc with users of its own.
if [ -e "$folder/binds" ]; then
    while read -r source target; do
        mount --bind "$source" "$target"
    done <"$folder/binds"
fi

for covered in etc/libvirt etc/slurm etc/munge var/lib/libvirt var/log/libvirt var/lib/munge var/log/munge var/spool; do
    mkdir -p "$folder/$covered"
    if [ -d "/$covered" ]; then
        mount --bind "$folder/$covered" "/$covered"
    fi
done
mkdir -p "$caches/libvirt"
mount --bind "$caches/libvirt" /var/cache/libvirt

# Names of the site's machines, as every member of a cluster has them.
cp "$folder/../hosts" "$folder/etc/hosts"
mount --bind "$folder/etc/hosts" /etc/hosts

echo ready
exec tini -s -- sleep infinity >/dev/null 2>&1
