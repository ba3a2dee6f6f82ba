# First process of a machine of the lab, in namespaces of its own: covers what daemons would write of the real machine's,
# says "ready", and becomes an init that only reaps. $1 its folder, $2 its name, $3 libvirt's cache of all machines of its release,
# $4 another release's files if it has those, $5... what it sees then of the real machine's.
set -eu
folder=$1 name=$2 cache=$3 root=${4:-}
mkdir -p "$cache"

# Changes of the release's files end with the machine.
enter_root() { # folders of the real machine
    mkdir -p "$folder/root"
    mount -t tmpfs -o mode=0755 tmpfs "$folder/root"
    mkdir "$folder/root/changes" "$folder/root/work" "$folder/root/all"
    mount -t overlay -o "lowerdir=$root,upperdir=$folder/root/changes,workdir=$folder/root/work" overlay "$folder/root/all"
    for shared in "$@"; do
        mkdir -p "$folder/root/all$shared"
        mount --bind "$shared" "$folder/root/all$shared"
    done
    mount --rbind /dev "$folder/root/all/dev"
    mount --rbind /sys "$folder/root/all/sys"
    mount -t proc proc "$folder/root/all/proc"
    cd "$folder/root/all"
    mkdir .old
    pivot_root . .old
    umount -l /.old
    rmdir /.old
}

if [ -n "$root" ]; then
    shift 4
    enter_root "$@"
fi

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
mount --bind "$cache" /var/cache/libvirt

# slurmd reads the environment of a job of root from a login shell: no profile of the real machine's root may delay it.
for profile in /root/.bash_profile /root/.bash_login /root/.profile; do
    if [ -e "$profile" ]; then
        mount --bind /dev/null "$profile"
    fi
done

# Names of the site's machines, as every member of a cluster has them.
cp "$folder/../hosts" "$folder/etc/hosts"
mount --bind "$folder/etc/hosts" /etc/hosts

echo ready
exec tini -s -- sleep infinity >/dev/null 2>&1
