#!/bin/bash
# Whether anybody takes a connection, asked all at once: reach.sh ADDRESS:PORT ...
# A slow emulated guest needs more than 5 s for the processes.
declare -A asked
for each in "$@"; do
    timeout 20 bash -c "</dev/tcp/${each%:*}/${each#*:}" 2>/dev/null &
    asked[$each]=$!
done
for each in "$@"; do
    if wait "${asked[$each]}"; then
        echo "$each: reached"
    else
        echo "$each: not reached"
    fi
done
