#!/bin/bash
# Whether anybody takes a connection: reach.sh ADDRESS:PORT ...
for each in "$@"; do
    if timeout 5 bash -c "</dev/tcp/${each%:*}/${each#*:}" 2>/dev/null; then
        echo "$each: reached"
    else
        echo "$each: not reached"
    fi
done
