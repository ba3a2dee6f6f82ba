# A terminal.
script -qec "srun -t 5 --pty sh -c 'tty >/dev/null && echo a terminal'" /dev/null | grep -ao 'a terminal'
