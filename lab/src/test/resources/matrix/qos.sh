# A QOS that lets one job of a user run at a time.
first=$(sbatch --parsable -t 5 --qos=single -o /dev/null --wrap 'while [ ! -e stop ]; do sleep 0.2; done')
until_state "$first" RUNNING
second=$(sbatch --parsable -t 5 --qos=single -o /dev/null --wrap true)
until_reason "$second" QOSMaxJobsPerUserLimit
touch stop
ended "$first"; ended "$second"
sbatch -t 5 --qos=no-such --wrap true 2>&1; echo "exit $?"
