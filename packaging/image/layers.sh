# Layers over the base: Cloister's own packages, then the site's. Sourced by build.
#
# Each is what installing it changes in the tree below, as an overlayfs upper folder: the guest stacks the squashfs files
# in the same way. All mounts are in a mount namespace of the build's own and vanish with it, however it ends.

# layer_name DIR: checked, as the guest finds the layer's disk by it
layer_name() {
    local name
    [ -d "$1" ] || die "layer $1: no such folder"
    [ -f "$1/name" ] || die "layer $1: no file \"name\" in it"
    name=$(cat "$1/name")
    [[ $name =~ ^[a-z][a-z0-9-]{0,13}$ ]] || die "layer $1: name \"$name\": want [a-z][a-z0-9-]{0,13}"
    echo "$name"
}

# layer_words DIR: its words for the kernel's command line
layer_words() {
    local words
    [ -f "$1/cmdline" ] || return 0
    words=$(sed -e 's/#.*//' "$1/cmdline" | tr -s '[:space:]' ' ' | sed -e 's/^ //' -e 's/ $//')
    [[ $words != *cloister.layer=* ]] || die "layer $1: cmdline: cloister.layer= words are the build's own"
    [[ $words =~ ^[\ -~]*$ ]] || die "layer $1: cmdline: want printable ASCII"
    echo "$words"
}

layer_inputs() {
    echo "layer $(layer_name "$1")"
    tree_listing "$1"
}

# layer_begin NAME: mounts $TREE, a writable view on all layers so far
layer_begin() {
    UPPER=$WORK/layers/$1/upper
    TREE=$WORK/layers/$1/tree
    mkdir -p "$UPPER" "$WORK/layers/$1/work" "$TREE"
    mount -t overlay "layer-$1" -o "lowerdir=$LOWER,upperdir=$UPPER,workdir=$WORK/layers/$1/work,index=off,redirect_dir=off,metacopy=off" "$TREE"
}

# in_tree COMMAND...: runs it in $TREE without network, processes of its own
in_tree() {
    setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child --net --ipc --uts bash -euc '
        mount -t proc proc "$0/proc"
        mount -t tmpfs -o mode=755 tmpfs "$0/dev"
        mount -t tmpfs -o mode=755 tmpfs "$0/run"
        for node in null:1:3 zero:1:5 full:1:7 random:1:8 urandom:1:9; do
            IFS=: read -r name major minor <<<"$node"
            mknod -m 666 "$0/dev/$name" c "$major" "$minor"
        done
        ln -s /proc/self/fd "$0/dev/fd"
        hostname localhost
        exec chroot "$@"' "$TREE" "$TREE" \
        env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        DEBCONF_NONINTERACTIVE_SEEN=true SOURCE_DATE_EPOCH="$EPOCH" "$@"
}

# install_debs FILE...: with dpkg alone: what they need must be among them or in the layers below
install_debs() {
    local file
    mkdir -p "$TREE/tmp/debs"
    for file in "$@"; do
        cp "$file" "$TREE/tmp/debs/"
    done
    printf '#!/bin/sh\nexit 101\n' >"$TREE/usr/sbin/policy-rc.d"
    chmod 755 "$TREE/usr/sbin/policy-rc.d"
    in_tree sh -euc 'dpkg --force-unsafe-io --unpack /tmp/debs/*.deb'
    # Before the packages' scripts run: a class archive made by one notes the times of the jars it was made from.
    find "$UPPER" -newermt "@$EPOCH" -exec touch -h -d "@$EPOCH" {} +
    in_tree dpkg --force-unsafe-io --configure --pending
    [ -z "$(in_tree dpkg --audit)" ] || die "packages are not configured: see the log"
    rm -rf "$TREE/usr/sbin/policy-rc.d" "$TREE/tmp/debs"
}

# layer_end NAME: packs what changed, and puts the layer under the next one
layer_end() {
    settle_tree "$TREE"
    check_tree "$TREE"
    packages_of "$TREE" >"$WORK/layers/$1/packages-all"
    # Not the base's again.
    comm -13 <(LC_ALL=C sort "$WORK/packages-below") <(LC_ALL=C sort "$WORK/layers/$1/packages-all") >"$WORK/layers/$1/packages.txt"
    cp "$WORK/layers/$1/packages-all" "$WORK/packages-below"
    umount "$TREE"
    strip_overlay_notes "$UPPER"
    pack_layer "$UPPER" "$WORK/layers/$1/$1"
    LOWER=$UPPER:$LOWER
}

# Overlayfs notes on each copied file where it came from, in terms of this machine's file system. Only the marks that a
# folder hides the one below stay.
strip_overlay_notes() {
    local note
    for note in origin impure nlink uuid; do
        { getfattr -R -P -h --absolute-names -m "^trusted\.overlay\.$note\$" "$1" || true; } |
            sed -n 's/^# file: //p' | while IFS= read -r file; do
                setfattr -h -x "trusted.overlay.$note" "$(printf '%b' "$file")"
            done
    done
}

cloister_layer() {
    local maker
    layer_begin cloister
    install_debs "${DEBS[@]}"
    # Class archives with the same bytes each time, from packages that can make such.
    for maker in "$TREE"/usr/share/cloister/*/make-archive; do
        if [ -e "$maker" ] && grep -qF -- --same "$maker"; then
            in_tree "${maker#"$TREE"}" --same
        fi
    done
    layer_end cloister
}

# site_layer DIR NAME
site_layer() {
    local dir=$1 name=$2 unit files=()
    layer_begin "$name"
    if [ -f "$dir/packages" ]; then
        [ -f "$dir/packages.lock" ] || die "$dir/packages.lock: missing; make it with packaging/image/lock --layer $dir"
        mapfile -t files < <(lock_lines "$dir/packages.lock" | awk -v cache="$CACHE" '{ print cache "/debs/" $4 ".deb" }')
        if [ ${#files[@]} -gt 0 ]; then
            install_debs "${files[@]}"
        fi
    fi
    if [ -d "$dir/files" ]; then
        install_files "$dir/files" "$TREE"
    fi
    if [ -f "$dir/units" ]; then
        # A preset and not a link, so that the layers above keep it enabled.
        sed -e 's/#.*//' -e 's/[[:space:]]//g' -e '/^$/d' -e 's/^/enable /' "$dir/units" \
            >"$TREE/usr/lib/systemd/system-preset/10-layer-$name.preset"
        for unit in $(sed 's/^enable //' "$TREE/usr/lib/systemd/system-preset/10-layer-$name.preset"); do
            [ -e "$TREE/usr/lib/systemd/system/$unit" ] || [ -e "$TREE/etc/systemd/system/$unit" ] || die "layer $dir: units: $unit: neither in its files nor in its packages"
        done
    fi
    layer_end "$name"
}
