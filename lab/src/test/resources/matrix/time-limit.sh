# A job that outstays its limit.
job=$(sbatch --parsable -t 1 -o out.txt --wrap 'sleep 300')
# Whether the shell or its sleep hears of the end first is chance.
cancelled "$job"
accounted "$job" | grep -v '^batch'
grep -c 'DUE TO TIME LIMIT' out.txt
