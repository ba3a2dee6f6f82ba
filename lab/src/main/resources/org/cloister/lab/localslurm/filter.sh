# Keeps the filter before slurmctld running, as its unit does: $1 where its process is written down, then the filter.
pid=$1
shift
echo $$ >"$pid-keeper.pid"
while :; do
    "$@" &
    echo $! >"$pid.pid"
    wait $!
    sleep 0.1
done
