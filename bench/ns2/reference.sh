#!/bin/sh
# Makes reference.csv: one row per load of cross traffic and seed.
#   bench/ns2/reference.sh > bench/ns2/reference.csv      (about a minute)
# Arguments are handed to every run: reference.sh -access_mbps 0
set -eu
SEEDS=${SEEDS:-1 2 3}
here=$(dirname "$0")
command -v ns >/dev/null || { echo "ns is missing: install the Debian package ns2" >&2; exit 2; }
ns "$here/race.tcl" -header
for load in 0 10 20 30 40 50 60 70 80 90; do
    for seed in $SEEDS; do
        ns "$here/race.tcl" -cbr_mbps "$load" -seed "$seed" "$@"
    done
done
