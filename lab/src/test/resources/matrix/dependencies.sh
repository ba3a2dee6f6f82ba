# After success, after failure, after anything; one that can never start.
first=$(sbatch --parsable -t 5 -H -o /dev/null --wrap true)
good=$(sbatch --parsable -t 5 -d "afterok:$first" -o good.txt --wrap 'echo after success')
bad=$(sbatch --parsable -t 5 -d "afternotok:$first" --kill-on-invalid-dep=yes -o /dev/null --wrap true)
any=$(sbatch --parsable -t 5 -d "afterany:$good" -o any.txt --wrap 'echo after all')
until_reason "$first" JobHeldUser
for job in $good $bad $any; do until_reason "$job" Dependency; done
scontrol release "$first"
ended "$first"; ended "$good"; ended "$bad"; ended "$any"
cat good.txt any.txt
