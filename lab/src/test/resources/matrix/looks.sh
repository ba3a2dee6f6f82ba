# What the commands print of a job: the queue, the record, accounting, of one that waits, runs, and ended.
job=$(sbatch --parsable -t 7 -N 2 -n 2 -J look --comment='my own words' -H -o /dev/null --wrap 'while [ ! -e stop ]; do sleep 0.2; done')
squeue -j "$job" -h -o '%j|%u|%t|%D|%C|%l|%P|%r|%q|%a|%m|%c'
scontrol release "$job"
until_state "$job" RUNNING
squeue -j "$job" -h -o '%j|%u|%t|%D|%C|%l|%P|%q|%a|%m|%c'
squeue --me -n look -h -o %T
scontrol show job "$job" | tr ' ' '\n' | grep -E '^(JobName|UserId|Account|QOS|JobState|Reason|Requeue|Restarts|TimeLimit|Partition|NumNodes|NumCPUs|NumTasks|CPUs/Task|MinCPUsNode|MinMemoryCPU|MinMemoryNode|Comment|OverSubscribe)='
touch stop
ended "$job"
accounted "$job"
sacct -X -n -P -j "$job" -o JobName,User,Account,Partition,QOS,Timelimit,ReqCPUS,ReqNodes,Comment
