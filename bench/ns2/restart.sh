#!/bin/sh
# Makes restart.csv: one row per policy and seed.
#   bench/ns2/restart.sh > bench/ns2/restart.csv      (about a quarter of a minute)
# Arguments are handed to every run: restart.sh -reply 40
set -eu
SEEDS=${SEEDS:-1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20}
here=$(dirname "$0")
command -v ns >/dev/null || { echo "ns is missing: install the Debian package ns2" >&2; exit 2; }
ns "$here/restart.tcl" -header
for policy in ssr nssr vegas rbp-rate rbp-cwnd; do
    for seed in $SEEDS; do
        ns "$here/restart.tcl" -policy "$policy" -seed "$seed" "$@"
    done
done
