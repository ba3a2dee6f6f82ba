# Runs a program of another release's files, in a mount namespace of its own. root: those files, or nothing for the machine's own;
# shared: the lab's folder, which is seen at its place. $1 folder of the caller, and then the command line.
work=$1/emulator
shift
if [ -n "$root" ]; then
    mkdir -p "$work"
    mount -t tmpfs -o mode=0755 tmpfs "$work"
    mkdir "$work/changes" "$work/work" "$work/all"
    mount -t overlay -o "lowerdir=$root,upperdir=$work/changes,workdir=$work/work" overlay "$work/all"
    mkdir -p "$work/all$shared"
    mount --bind "$shared" "$work/all$shared"
    mount --rbind /dev "$work/all/dev"
    mount -t proc proc "$work/all/proc"
    set -- chroot "$work/all" "$@"
fi
exec "$@"
