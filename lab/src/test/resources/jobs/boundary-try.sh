# Read by scripts of root of a worker. try NAME COMMAND...: says "NAME: exit STATUS SAID" in one line.
# shellcheck shell=sh
try() {
    name=$1
    shift
    said=$(timeout 60 "$@" 2>&1 </dev/null)
    echo "$name: exit $? $(printf '%s' "$said" | tr '\n' ' ' | cut -c1-200)"
}
