# The initramfs, the command line, and the manifest which binds all parts together. Sourced by build.

# make_initrd: one static program and the modules it loads, nothing else. It has no name of any layer in it: it is the
# same for all images of one base.
make_initrd() {
    local root=$WORK/initrd release module number=0 file
    release=$(cat "$BASE/release")
    mkdir -p "$root"/{dev,proc,sys,modules,layer,rw,root}
    musl-gcc -static -O2 -std=c11 -Wall -Wextra -Werror -s -o "$root/init" "$HERE/init.c"
    for module in $(sed -e 's/#.*//' "$HERE/modules"); do
        modprobe -d "$BASE/tree" -S "$release" --show-depends "$module" >"$WORK/depends" ||
            die "kernel module $module: not in kernel $release; mend packaging/image/modules"
        sed -n 's/^insmod \([^ ]*\).*/\1/p' "$WORK/depends"
    done | awk '!seen[$0]++' | while read -r file; do
        number=$((number + 1))
        cp "$file" "$root/modules/$(printf '%03d' "$number")-${file##*/}"
    done
    [ -n "$(ls "$root/modules")" ] || die "kernel $release: no modules found for the initramfs"
    ls -l "$root/modules"
    find "$root" -exec touch -h -d "@$EPOCH" {} +
    (cd "$root" && find . -mindepth 1 | LC_ALL=C sort | cpio --quiet -o -H newc --reproducible -R 0:0) >"$WORK/image/initrd.img"
}

# Names of all layers, lowest first.
all_layers() {
    echo base
    [ ${#DEBS[@]} -eq 0 ] || echo cloister
    [ ${#LAYERS[@]} -eq 0 ] || printf '%s\n' "${LAYER_NAMES[@]}"
}

# layer_part NAME: the path of its files without ending
layer_part() {
    if [ "$1" = base ]; then
        echo "$BASE/base"
    else
        echo "$WORK/layers/$1/$1"
    fi
}

gather() {
    local name part
    cp "$BASE/vmlinuz" "$BASE/firmware.bin" "$WORK/image/"
    for name in $(all_layers); do
        part=$(layer_part "$name")
        cp --reflink=auto "$part.squashfs" "$WORK/image/$name.squashfs"
        sed "s/^/$name /" "$(dirname "$part")/packages.txt"
    done >"$WORK/image/packages.txt"
    chmod 644 "$WORK"/image/*
}

command_line() {
    local name part layer
    # Whoever starts the VM could otherwise give systemd files and settings beside what the manifest has (SMBIOS, fw_cfg).
    # No security module that nothing here has a policy for: systemd loads a program into the kernel for one of them, bpf.
    printf 'quiet panic=-1 systemd.import_credentials=no lsm=lockdown,landlock,yama'
    for name in $(all_layers); do
        part=$(layer_part "$name")
        printf ' cloister.layer=%s,%s,%s' "$name" "$(cat "$part.blocks")" "$(cat "$part.root")"
    done
    for layer in ${LAYERS[@]+"${LAYERS[@]}"}; do
        [ -z "$(layer_words "$layer")" ] || printf ' %s' "$(layer_words "$layer")"
    done
}

# file_json NAME: the members that describe a file, and its digest in FILE_DIGEST
file_json() {
    FILE_DIGEST=$(sha384sum "$WORK/image/$1" | cut -d ' ' -f 1)
    FILE_JSON="\"file\": \"$1\", \"size\": $(stat -c %s "$WORK/image/$1"), \"sha384\": \"$FILE_DIGEST\""
}

json_text() {
    printf '"%s"' "$(printf '%s' "$1" | sed -e 's/\\/\\\\/g' -e 's/"/\\"/g')"
}

make_manifest() {
    local words firmware kernel initrd parts name part comma="" layers=""
    words=$(command_line)
    [ ${#words} -le 2000 ] || die "the command line has ${#words} bytes, the kernel takes 2,047: use fewer layers or words"
    file_json firmware.bin
    firmware=$FILE_JSON
    parts="cloister-image-v1"$'\n'"firmware $FILE_DIGEST"
    file_json vmlinuz
    kernel=$FILE_JSON
    parts+=$'\n'"kernel $FILE_DIGEST"
    file_json initrd.img
    initrd=$FILE_JSON
    parts+=$'\n'"initrd $FILE_DIGEST"$'\n'"cmdline $(printf '%s' "$words" | sha384sum | cut -d ' ' -f 1)"
    for name in $(all_layers); do
        part=$(layer_part "$name")
        file_json "$name.squashfs"
        layers+="$comma"$'\n'"    {\"name\": \"$name\", $FILE_JSON, \"dataBlocks\": $(cat "$part.blocks"), \"rootHash\": \"$(cat "$part.root")\"}"
        comma=,
    done
    cat >"$WORK/image/manifest.json" <<END
{
  "format": "cloister-image-v1",
  "variant": $(json_text "$VARIANT"),
  "version": $(json_text "$VERSION"),
  "firmware": {$firmware},
  "kernel": {$kernel, "release": $(json_text "$(cat "$BASE/release")")},
  "initrd": {$initrd},
  "cmdline": $(json_text "$words"),
  "layers": [$layers
  ],
  "identity": "$(printf '%s\n' "$parts" | sha384sum | cut -d ' ' -f 1)"
}
END
    cat "$WORK/image/manifest.json"
}
