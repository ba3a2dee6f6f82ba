# Trees and the squashfs files made of them, the same for all layers. Sourced by build.

# install_files FROM TREE: copies a folder of ours or of a site into a tree as root's, with plain modes (git keeps only x).
install_files() {
    local from=$1 tree=$2 path
    (cd "$from" && find . -mindepth 1 -printf '%P\n' | LC_ALL=C sort) | while IFS= read -r path; do
        if [ -L "$from/$path" ]; then
            mkdir -p "$tree/$(dirname "$path")"
            ln -sfn "$(readlink "$from/$path")" "$tree/$path"
        elif [ -d "$from/$path" ]; then
            [ -d "$tree/$path" ] || install -d -m 755 "$tree/$path"
        elif [ -x "$from/$path" ]; then
            install -D -m 755 "$from/$path" "$tree/$path"
        else
            install -D -m 644 "$from/$path" "$tree/$path"
        fi
    done
}

# Presets, caches and logs, after packages were installed or files copied in.
settle_tree() {
    local tree=$1
    systemctl --root="$tree" preset-all
    rm -rf "$tree"/var/cache/ldconfig/* "$tree"/var/cache/debconf/* "$tree"/var/cache/man "$tree"/tmp/* "$tree"/var/tmp/* \
        "${tree:?}"/run/* "${tree:?}"/dev/*
    # Rewritten at each installation and equal but for the date or the order in which packages were unpacked.
    rm -f "$tree"/var/lib/dpkg/*-old "$tree"/var/lib/dpkg/lock* "$tree"/var/lib/dpkg/triggers/Lock "$tree"/etc/*- \
        "$tree"/var/backups/* "$tree"/var/lib/systemd/deb-systemd-helper-enabled/.??*
    find "$tree/var/log" -type f -delete
    find "$tree/usr" -name '__pycache__' -type d -prune -exec rm -rf {} +
    # Class archives that packages' scripts make have other bytes each time. Those that a package ships, like the JRE's own,
    # stay, and so does the one that was made with care (cloister_layer).
    find "$tree/var" -name '*.jsa' ! -path "$tree/var/cache/cloister/agent-vm.jsa" -delete
    # Java keystores record the time at which each certificate came in.
    rm -f "$tree/etc/ssl/certs/java/cacerts"
}

# Fails with all that a guest must not have.
check_tree() {
    local tree=$1 bad
    bad=$(
        cd "$tree" || exit
        awk -F: '$2 !~ /^[!*]/ { print "etc/shadow: " $1 " has a password or none at all" }' etc/shadow
        awk -F: '$2 != "x" { print "etc/passwd: " $1 " has its password here" } $3 == 0 && $1 != "root" { print "etc/passwd: " $1 " is a second root" }' etc/passwd
        [ ! -s etc/machine-id ] || echo "etc/machine-id: not empty"
        find etc/munge etc/ssh -name munge.key -o -name 'ssh_host_*' 2>/dev/null | sed 's/$/: key/'
        find . -xdev \( -name 'qemu-ga' -o -name 'authorized_keys' \) -printf '%P: has no place in a guest\n'
        find etc/systemd/system -name '*getty*' ! -lname /dev/null -printf '%P: getty\n'
        [ ! -d var/lib/apt ] || echo "var/lib/apt: lists of apt"
    )
    [ -z "$bad" ] || die "the tree has what a guest must not have:
$bad"
}

packages_of() {
    dpkg-query --admindir="$1/var/lib/dpkg" -W -f '${Package} ${Version}\n'
}

# pack_layer TREE OUT: OUT.squashfs with its dm-verity hash tree behind it, OUT.blocks and OUT.root.
#
# Times after $EPOCH are clamped to it, earlier ones kept: the JRE's class archives refuse jars with another time.
pack_layer() {
    local tree=$1 out=$2 size
    rm -f "$out.squashfs"
    SOURCE_DATE_EPOCH=$EPOCH mksquashfs "$tree" "$out.squashfs" -comp lz4 -b 131072 -noappend -no-exports -no-progress
    size=$(stat -c %s "$out.squashfs")
    size=$(((size + 4095) / 4096 * 4096))
    truncate -s "$size" "$out.squashfs"
    echo $((size / 4096)) >"$out.blocks"
    veritysetup format --no-superblock --hash=sha256 --data-block-size=4096 --hash-block-size=4096 --salt=- \
        --data-blocks=$((size / 4096)) --hash-offset="$size" "$out.squashfs" "$out.squashfs" >"$out.verity"
    cat "$out.verity"
    awk '/^Root hash:/ { print $3 }' "$out.verity" >"$out.root"
    grep -Eqx '[0-9a-f]{64}' "$out.root" || die "veritysetup gave no root hash for $out.squashfs: see the log"
}
