#!/bin/sh
# User CPU seconds of ns-2 on the default race, seven runs, nothing recorded.
#   bench/ns2/cpu.sh          arguments are handed to every run
set -eu
here=$(dirname "$0")
for run in 1 2 3 4 5 6 7; do
    TIMEFORMAT=%U bash -c 'time ns "$0" "$@" >/dev/null' "$here/race.tcl" -measure 0 "$@"
done
