#!/bin/sh
# job.sh UNIT: the job that is measured, on both sides. What it writes has the time of the storage's own clock, which is the
# controller's. Between its first and its last line it tells the worker's time since its kernel began; and when systemd there
# started UNIT and the kernel made its first devices, by the clock that the worker had then: a user sees no process of others.
: >first
cat /proc/uptime >uptime
stat -c %.Y "/run/systemd/units/invocation:$1.service" /dev/mem >unit
sleep 2
: >last
