# The base layer: Debian alone, from exactly the locked packages. Sourced by build.
#
# It is slow, so its tree and squashfs are kept in the cache under the digest of their inputs: a change of Cloister's own
# packages or of a site layer does not build it again.

# What the base depends on besides the tools' versions.
base_inputs() {
    lock_lines "$HERE/packages.lock"
    grep '^# epoch' "$HERE/packages.lock"
    tree_listing "$HERE/base"
    sha256sum <"$HERE/base.sh"
    sha256sum <"$HERE/squashfs.sh"
    tool_versions
}

tool_versions() {
    mmdebstrap --version
    mksquashfs -version | sed -n 1p
    veritysetup --version
}

# A flat repository of the given locks' packages that are to be installed.
base_repository() {
    local sha256 use
    mkdir -p "$WORK/repository"
    lock_lines "$HERE/packages.lock" | while read -r _ _ _ sha256 use; do
        [ "$use" = install ] || continue
        ln -f "$CACHE/debs/$sha256.deb" "$WORK/repository/$sha256.deb" 2>/dev/null ||
            cp "$CACHE/debs/$sha256.deb" "$WORK/repository/$sha256.deb"
        dpkg-deb -f "$CACHE/debs/$sha256.deb"
        echo "Filename: ./$sha256.deb"
        echo "Size: $(stat -c %s "$CACHE/debs/$sha256.deb")"
        echo "SHA256: $sha256"
        echo
    done >"$WORK/repository/Packages"
    # mmdebstrap takes what is essential from the suite of that name alone.
    cat >"$WORK/repository/Release" <<END
Origin: Cloister
Suite: $GUEST_SUITE
Codename: $GUEST_SUITE
Date: $(date -u -R -d "@$EPOCH")
Architectures: amd64
SHA256:
 $(sha256sum <"$WORK/repository/Packages" | cut -d ' ' -f 1) $(stat -c %s "$WORK/repository/Packages") Packages
END
}

# Files of the locked packages that no guest uses: documents; and the libraries for GPUs, with a compiler, which UCX and hwloc load
# as modules if they are there, 240 MB that their packages depend on all the same.
UNUSED_FILES=(
    '/usr/share/man/*' '/usr/share/info/*' '/usr/share/locale/*' '/usr/share/lintian/*' '/usr/share/bug/*'
    '/usr/lib/x86_64-linux-gnu/libLLVM*' '/usr/lib/x86_64-linux-gnu/libz3.so*'
    '/usr/lib/x86_64-linux-gnu/libamd*' '/usr/lib/x86_64-linux-gnu/libhsa*' '/usr/lib/x86_64-linux-gnu/libze_*'
    '/usr/lib/x86_64-linux-gnu/ucx/*rocm*' '/usr/lib/x86_64-linux-gnu/hwloc/hwloc_levelzero.so'
)

# Installs them with mmdebstrap into $BASE/tree.
base_install() {
    local names
    names=$(lock_lines "$HERE/packages.lock" | awk '$5 == "install" { print $1 }' | paste -sd ,)
    SOURCE_DATE_EPOCH=$EPOCH bound mmdebstrap --mode=root --variant=essential --format=directory --architectures=amd64 \
        --include="$names" \
        --aptopt='APT::Install-Recommends "false"' --aptopt='pkgCacheGen::ForceEssential ","' \
        --dpkgopt=force-unsafe-io \
        --dpkgopt=path-exclude=/usr/share/doc/* --dpkgopt=path-include=/usr/share/doc/*/copyright \
        "${UNUSED_FILES[@]/#/--dpkgopt=path-exclude=}" \
        --essential-hook='mkdir -p "$1/usr/share/man/man1"' \
        --essential-hook="$HERE/base/accounts" \
        "$GUEST_SUITE" "$BASE/tree" "deb [trusted=yes] copy:$WORK/repository ./"
}

# The kernel's modules go into the tree, the kernel itself and the firmware stay outside it.
base_kernel() {
    dpkg-deb -x "$(deb_of "$CACHE" "$HERE/packages.lock" "$(locked_for kernel)")" "$WORK/kernel"
    dpkg-deb -x "$(deb_of "$CACHE" "$HERE/packages.lock" "$(locked_for firmware)")" "$WORK/firmware"
    cp "$WORK"/kernel/boot/vmlinuz-* "$BASE/vmlinuz"
    cp "$WORK/firmware/usr/share/seabios/bios-256k.bin" "$BASE/firmware.bin"
    ls "$WORK/kernel/usr/lib/modules" >"$BASE/release"
    mkdir -p "$BASE/tree/usr/lib/modules"
    cp -a "$WORK"/kernel/usr/lib/modules/* "$BASE/tree/usr/lib/modules/"
    # Under TCG it would take seconds to unpack those that a boot loads; the squashfs has a faster compression of its own.
    find "$BASE/tree/usr/lib/modules" -name '*.ko.xz' -exec xz -d {} +
    depmod -b "$BASE/tree" "$(cat "$BASE/release")"
}

locked_for() {
    lock_lines "$HERE/packages.lock" | awk -v use="$1" '$5 == use { print $1 }'
}

# Settings of the guest, and away with all that is secret, random, or of the building machine.
base_settle() {
    local tree=$BASE/tree unit generator
    install_files "$HERE/base/files" "$tree"
    ln -sf cloister.target "$tree/usr/lib/systemd/system/default.target"
    mkdir -p "$tree/etc/systemd/system-generators"
    for generator in "$tree"/usr/lib/systemd/system-generators/*; do
        ln -sf /dev/null "$tree/etc/systemd/system-generators/${generator##*/}"
    done
    sed -e 's/#.*//' -e '/^$/d' "$HERE/base/masked-units" | while read -r unit; do
        ln -sf /dev/null "$tree/etc/systemd/system/$unit"
    done
    # What packages enabled at installation; the presets say again what is to be.
    rm -rf "$tree"/etc/systemd/system/*.wants "$tree"/etc/systemd/system/*.requires
    # It is empty, not absent: systemd then takes the machine id from the VM's UUID and does not see a first boot.
    : >"$tree/etc/machine-id"
    rm -f "$tree/var/lib/dbus/machine-id"
    rm -f "$tree"/etc/munge/munge.key "$tree"/etc/ssh/ssh_host_*
    rm -rf "${tree:?}"/var/lib/mysql/* "${tree:?}"/boot/* "$tree"/vmlinuz* "$tree"/initrd*
    # No Debian mirror and nothing of this machine's network is in the image.
    rm -rf "$tree"/etc/apt "$tree"/var/lib/apt "$tree"/var/cache/apt "$tree/usr/sbin/policy-rc.d"
    rm -f "$tree"/etc/resolv.conf "$tree"/etc/.pwd.lock
    echo localhost >"$tree/etc/hostname"
    printf '127.0.0.1 localhost\n' >"$tree/etc/hosts"
    settle_tree "$tree"
}

base_build() {
    rm -rf "$CACHE"/base.part
    BASE=$CACHE/base.part
    mkdir -p "$BASE"
    step "base: gather $(lock_lines "$HERE/packages.lock" | wc -l) packages" "check $CACHE" base_repository
    step "base: install them" "read the log; is there room in $CACHE?" base_install
    step "base: kernel, firmware, settings" "read the log" base_finish
    step "base: squashfs and dm-verity" "is there room in $CACHE?" pack_layer "$BASE/tree" "$BASE/base"
    # Two are kept, for who goes back and forth between two states of the sources.
    find "$CACHE" -mindepth 1 -maxdepth 1 -name 'base-*' -printf '%T@ %p\n' | sort -rn | sed -n '2,$s/^[^ ]* //p' |
        xargs -r -d '\n' rm -rf --one-file-system
    mv "$BASE" "$CACHE/base-$BASE_KEY"
    BASE=$CACHE/base-$BASE_KEY
}

base_finish() {
    base_kernel
    base_settle
    check_tree "$BASE/tree"
    packages_of "$BASE/tree" >"$BASE/packages.txt"
    lock_lines "$HERE/packages.lock" | awk '$5 != "install" { print $1, $2 }' >>"$BASE/packages.txt"
}
