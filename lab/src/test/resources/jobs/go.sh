#!/bin/bash
# Runs until there is a file "go" beside it.
until [ -e go ]; do sleep 1; done
