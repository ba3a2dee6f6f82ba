# Makes a node of namespaces that have a port: its address, munged, and slurmd. $1 address, $2 munge's key, $3 size of its
# /tmp, of which nothing is taken before it is used; then slurmd.
set -eu
address=$1 key=$2 scratch=$3
shift 3
mount -o "remount,size=$scratch" /tmp
printf 'address add %s/16 dev eth0\nlink set eth0 up\n' "$address" | ip -batch -
mkdir -p /run/munge /run/slurm
munged --key-file="$key" --pid-file=/run/munge/munged.pid --log-file=/var/log/munge/munged.log \
    --seed-file=/run/munge/seed --num-threads=1
exec "$@" </dev/null
