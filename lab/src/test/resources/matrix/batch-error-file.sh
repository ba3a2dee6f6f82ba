# Standard error apart; append and truncate; a folder that is not there.
sbatch --wait -t 5 -o o.txt -e e.txt --wrap 'echo out; echo err >&2'
sbatch --wait -t 5 -o o.txt --open-mode=append --wrap 'echo more'
cat o.txt e.txt
job=$(sbatch --parsable -t 5 -o missing/o.txt --wrap 'echo lost')
ended "$job"
