#!/bin/bash
# Runs until there is a file beside it that is called "go-" and its job's id.
until [ -e "go-$SLURM_JOB_ID" ]; do sleep 1; done
