# A job that outstays its limit.
job=$(sbatch --parsable -t 1 -o out.txt --wrap 'sleep 300')
ended "$job"
accounted "$job"
grep -c 'DUE TO TIME LIMIT' out.txt
