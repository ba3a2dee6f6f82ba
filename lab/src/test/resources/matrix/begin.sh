# Not before a time.
job=$(sbatch --parsable -t 5 --begin=now+12 -o /dev/null --wrap true)
until_reason "$job" BeginTime
ended "$job"
