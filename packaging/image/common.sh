# Progress, log and error handling of packaging/image/build and packaging/image/lock. Sourced, not run.

# Set by the callers: where every command's output goes, and what to say when a step fails.
LOG=/dev/null
STEP=""
MEND=""
STEP_NUMBER=0
STEP_TOTAL=0

exec 3>&2

# Prints one error line where the user looks, whatever the current redirection, and ends.
die() {
    printf '%s: %s\n' "$PROGRAM" "$*" >&3
    SAID_WHY=yes
    exit 1
}

note() {
    printf '%s\n' "$*" >&3
}

# step WHAT MEND COMMAND...: runs the command with its output in the log, and prints how long it took.
step() {
    local begun=$SECONDS
    STEP_NUMBER=$((STEP_NUMBER + 1))
    STEP=$1
    MEND=$2
    shift 2
    printf '[%d/%d] %-52s ' "$STEP_NUMBER" "$STEP_TOTAL" "$STEP" >&3
    printf '\n=== step %d: %s\n' "$STEP_NUMBER" "$STEP" >>"$LOG"
    "$@" >>"$LOG" 2>&1
    printf '%4d s\n' $((SECONDS - begun)) >&3
    STEP=""
}

# The EXIT trap of both programs calls this first, with the exit status.
explain_failure() {
    [ "$1" -ne 0 ] || return 0
    if [ -n "$STEP" ]; then
        printf '\n%s: step "%s" failed\n  log:  %s\n  mend: %s\n' "$PROGRAM" "$STEP" "$LOG" "$MEND" >&3
        if [ "${SAID_WHY:-no}" = no ] && [ -s "$LOG" ]; then
            printf '  last lines of the log:\n' >&3
            tail -n 8 "$LOG" | cut -c 1-200 | sed 's/^/    /' >&3
        fi
    fi
}

# need_tools TOOL:PACKAGE...: all missing ones at once, with the line that installs them.
need_tools() {
    local pair missing=() packages=()
    for pair in "$@"; do
        if ! command -v "${pair%%:*}" >/dev/null; then
            missing+=("${pair%%:*}")
            packages+=("${pair##*:}")
        fi
    done
    [ ${#missing[@]} -eq 0 ] || die "missing tools: ${missing[*]}; install them: apt-get install $(printf '%s\n' "${packages[@]}" | sort -u | tr '\n' ' ')"
}

need_root() {
    [ "$(id -u)" -eq 0 ] || die "must run as root (it mounts and makes device nodes): run it with sudo"
}

# need_space DIR MIB WHAT
need_space() {
    local free
    free=$(df --output=avail -m "$1" | tail -n 1)
    [ "$free" -ge "$2" ] || die "$3 in $1 needs $2 MiB of free space, $free MiB are free: make room, or name another folder"
}

# tree_listing DIR: one line for everything in it, with content digests; owner, times and all modes but x do not count.
tree_listing() {
    (
        cd "$1"
        find . -mindepth 1 ! -type f -printf '%y %P %l\n'
        find . -type f -perm -100 -printf 'x %P\n'
        find . -type f -print0 | xargs -0 -r sha256sum
    ) | LC_ALL=C sort
}

hex_of() {
    sha256sum | cut -d ' ' -f 1
}
