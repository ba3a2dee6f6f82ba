# From standard input, with arguments; the environment of whoever submits comes along, or not.
export COLOUR=green
sbatch --wait -o a.txt -t 5 --wrap 'echo colour ${COLOUR:-none}'
sbatch --wait -o b.txt -t 5 --export=NONE --wrap 'echo colour ${COLOUR:-none}'
sbatch --wait -o c.txt -t 5 --export=COLOUR=blue --wrap 'echo colour ${COLOUR:-none}'
printf '#!/bin/sh\necho "first $1"\n' > args.sh
sbatch --wait -o d.txt -t 5 args.sh "two words"
cat a.txt b.txt c.txt d.txt
