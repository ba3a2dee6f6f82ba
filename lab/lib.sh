# Shared by lab/setup, lab/test and the others; sourced, with the repository as working folder afterwards.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

LAB_DIR=${CLOISTER_LAB_DIR:-/var/lib/cloister-lab}
export CLOISTER_LAB_DIR=$LAB_DIR

die() { # what, mend
    printf 'lab: error: %s\nlab: hint: %s\n' "$1" "$2" >&2
    exit 1
}

# Runs a command with its output in a log, and says what is done, how long it took, and what to do when it fails; on a terminal also
# how long it has been at it.
step() { # name, likely mend, command...
    local name=$1 mend=$2 log
    shift 2
    mkdir -p "$LAB_DIR/log"
    log=$LAB_DIR/log/$(printf '%s' "$name" | tr -c 'a-zA-Z0-9' '-').log
    local from=$EPOCHREALTIME ticker='' status=0
    printf '  %-58s ' "$name"
    if [ -t 1 ]; then
        while sleep 5 && kill -0 $$; do printf '\r  %-58s %4d s so far' "$name" $((EPOCHSECONDS - ${from%.*})); done &
        ticker=$!
    fi
    "$@" >"$log" 2>&1 </dev/null || status=$?
    if [ -n "$ticker" ]; then
        kill "$ticker"
        wait "$ticker" 2>/dev/null || true
        printf '\r\033[K  %-58s ' "$name"
    fi
    if [ "$status" = 0 ]; then
        seconds_since "$from"
        return
    fi
    printf 'failed\n'
    tail -n 25 "$log" | sed 's/^/    /'
    die "step \"$name\" failed; its log: $log" "$mend"
}

require_place() {
    case $LAB_DIR/ in
        /tmp/* | /run/*) die "CLOISTER_LAB_DIR=$LAB_DIR: the lab's machines have a /tmp and a /run of their own" "choose a folder elsewhere" ;;
    esac
    case $PWD/ in
        /tmp/* | /run/*) die "$PWD: the lab's machines have a /tmp and a /run of their own, and run the checkout's classes" "clone it elsewhere" ;;
    esac
}

seconds_since() { # EPOCHREALTIME of the start
    awk -v from="$1" -v to="$EPOCHREALTIME" 'BEGIN { printf "%6.2f s\n", to - from }'
}

require_root() {
    [ "$(id -u)" = 0 ] || die "uid $(id -u): the lab makes namespaces and starts daemons as root" "run it with sudo"
}

own_release() {
    sed -n 's/^VERSION_CODENAME=//p' /etc/os-release
}

# The archive that this machine's own packages come from.
archive() {
    apt-get indextargets --format '$(ORIGIN)|$(CODENAME)|$(CREATED_BY)|$(REPO_URI)' |
        awk -F'|' -v own="$(own_release)" '$1 == "Debian" && $2 == own && $3 == "Packages" { print $4; exit }'
}

# What a value of --release names needs a file system: one release, or MACHINE=RELEASE,... .
make_roots() { # value
    local suite
    for suite in $(tr ',' '\n' <<<"$1" | sed 's/^[^=]*=//' | sort -u); do
        lab/root "$suite"
    done
}

# The release of the guest image.
guest_suite() {
    sed -n 's/^GUEST_SUITE=//p' packaging/image/archive.sh
}

# The value of --release among a command's words, or nothing.
release_option() { # word...
    printf '%s\n' "$@" | sed -n '/^--release$/{n;p};s/^--release=//p' | tail -n 1
}

# The lab's own program, built by lab/setup.
lab_main() {
    [ -f lab/target/classpath ] || die "the lab is not built" "run lab/setup"
    exec java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "lab/target/classes:$(cat lab/target/classpath)" \
        org.cloister.lab.LabMain "$@"
}
