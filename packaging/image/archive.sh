# Debian's archive as this machine's own sources name it, the package locks, and the cache of .deb files. Sourced.
#
# A lock has one line a package: NAME VERSION ARCHITECTURE SHA256 USE, sorted, where USE is install, kernel or firmware;
# and a comment "# epoch SECONDS", the time it was made, to which all later times in the image are clamped.

# The release of Debian that a guest is.
GUEST_SUITE=trixie

# The guest's release in whatever place this machine gets Debian from: its own sources of that release if it has them, or else
# the same places as those of its own release.
guest_sources() {
    apt-get indextargets --format '$(ORIGIN)|$(CODENAME)|$(CREATED_BY)|$(REPO_URI)|$(COMPONENT)' |
        awk -F'|' -v guest="$GUEST_SUITE" '
            $1 != "Debian" || $3 != "Packages" || !match($2, /^[a-z]+(-updates|-security)?$/) { next }
            { release = part = $2; sub(/-.*/, "", release); sub(/^[a-z]+/, "", part) }
            release == guest { own = 1 }
            { line[release == guest, ++count] = "deb [arch=amd64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] " \
                  $4 " " guest part " " $5 }
            END { for (i = 1; i <= count; i++) if ((own + 0, i) in line) print line[own + 0, i] }' |
        sort -u
}

# Uses DIR as apt's whole state: nothing of the machine's own is changed, no installed package counts.
apt_open() {
    APT_DIR=$1
    mkdir -p "$APT_DIR"/{state/lists/partial,cache/archives/partial,etc}
    : >"$APT_DIR/status"
    guest_sources >"$APT_DIR/etc/sources.list"
    [ -s "$APT_DIR/etc/sources.list" ] ||
        die "apt's sources of this machine name no archive of Debian's: add one to /etc/apt and run apt-get update"
    cat >"$APT_DIR/apt.conf" <<END
Dir::State "$APT_DIR/state";
Dir::State::status "$APT_DIR/status";
Dir::Cache "$APT_DIR/cache";
Dir::Etc::sourcelist "$APT_DIR/etc/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
APT::Architecture "amd64";
APT::Architectures { "amd64"; };
APT::Install-Recommends "false";
pkgCacheGen::ForceEssential ",";
APT::Sandbox::User "root";
Acquire::Retries "3";
END
    apt_own apt-get -q update
}

apt_own() {
    APT_CONFIG=$APT_DIR/apt.conf "$@"
}

# Everything the archive has now: NAME VERSION ARCHITECTURE SHA256 DEPENDS
apt_available() {
    local file
    apt_own apt-get indextargets --format '$(FILENAME)' 'Created-By: Packages' | while read -r file; do
        /usr/lib/apt/apt-helper cat-file "$file"
        echo
    done | awk '
        /^Package: /      { name = $2 }
        /^Version: /      { version = $2 }
        /^Architecture: / { arch = $2 }
        /^SHA256: /       { sha256 = $2 }
        /^Depends: /      { depends = $0; sub(/^Depends: /, "", depends) }
        /^$/ { if (name != "") print name, version, arch, sha256, depends; name = depends = "" }'
}

# names_in FILE USE: the names a list of packages has for that use
names_in() {
    sed -e 's/#.*//' -e 's/[[:space:]]*$//' "$1" | awk -v use="$2" '
        NF == 1 && use == "install" { print $1 }
        NF == 2 && $1 == use { print $2 }
        NF > 2 || (NF == 2 && $1 != "kernel" && $1 != "firmware") { print "line " NR ": want NAME, kernel NAME or firmware NAME" >"/dev/stderr"; exit 1 }'
}

lock_lines() {
    grep -v '^#' "$1" || true
}

lock_epoch() {
    local epoch
    epoch=$(sed -n 's/^# epoch \([0-9]*\)$/\1/p' "$1")
    [ -n "$epoch" ] || die "$1: no \"# epoch SECONDS\" line: make it again with packaging/image/lock"
    echo "$epoch"
}

# lock_check LOCK...: fails, and lists them, if packages of the locks are not in the archive any more.
lock_check() {
    local moved
    apt_available >"$APT_DIR/available"
    moved=$(cat "$@" | grep -v '^#' | awk '
        NR == FNR { have[$1 " " $2 " " $3] = $4; newest[$1] = $2; next }
        !(($1 " " $2 " " $3) in have) {
            print "  " $1 " " $2 ": " ($1 in newest ? "the archive has " newest[$1] : "gone from the archive"); next }
        have[$1 " " $2 " " $3] != $4 { print "  " $1 " " $2 ": same version, other content" }' "$APT_DIR/available" -)
    [ -z "$moved" ] || die "locked packages which Debian's archive no longer has:
$moved
make the lock anew on purpose with packaging/image/lock (site layers: packaging/image/lock --layer DIR)"
}

# debs_fetch CACHE LOCK...: puts every locked .deb into CACHE/debs under its digest, checked.
debs_fetch() {
    local cache=$1 missing name version arch sha256 use file
    shift
    mkdir -p "$cache/debs"
    cat "$@" | grep -v '^#' | while read -r name version arch sha256 use; do
        [ -s "$cache/debs/$sha256.deb" ] || echo "$name $version $arch $sha256 $use"
    done >"$WORK/missing"
    if [ -s "$WORK/missing" ]; then
        apt_open "$WORK/apt"
        lock_check "$@"
        rm -rf "$cache/debs/partial"
        mkdir -p "$cache/debs/partial"
        missing=$(awk '{ print $1 "=" $2 }' "$WORK/missing")
        # shellcheck disable=SC2086  # one word a package
        (cd "$cache/debs/partial" && apt_own apt-get -q download $missing)
        for file in "$cache"/debs/partial/*.deb; do
            mv "$file" "$cache/debs/$(sha256sum "$file" | cut -d ' ' -f 1).deb"
        done
        rm -rf "$cache/debs/partial"
    fi
    # What is used is checked each time: a cache may have been cut short by a crash or a full disk.
    cat "$@" | grep -v '^#' | awk -v dir="$cache/debs" '{ print $4 "  " dir "/" $4 ".deb" }' >"$WORK/sums"
    if ! sha256sum --quiet --check "$WORK/sums"; then
        sed 's/^[^ ]*  //' "$WORK/sums" | while read -r file; do
            [ "$(sha256sum <"$file" | cut -d ' ' -f 1).deb" = "${file##*/}" ] || rm -f "$file"
        done
        die "packages in $cache/debs did not have their locked SHA-256 and were removed: run the build again"
    fi
}

# deb_of CACHE LOCK NAME: the file of a locked package
deb_of() {
    local sha256
    sha256=$(lock_lines "$2" | awk -v name="$3" '$1 == name { print $4 }')
    [ -n "$sha256" ] || die "package $3 is not in $2: make the lock anew with packaging/image/lock"
    echo "$1/debs/$sha256.deb"
}
