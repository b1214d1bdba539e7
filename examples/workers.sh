#!/bin/sh
# Loads files into a lake by several processes: what a scheduler of jobs does, as a shell loop.
#
#   examples/workers.sh LAKE WORKERS PATH...
#
# FIRMLAKE is the command (default: firmlake), PAUSE the seconds between two attempts at a step (default: 5).
set -eu
lake=$1
workers=$2
shift 2

# Exit codes: 0 and 6 done; 2, 3 and 4 fail the same each time; all others may be tried again.
step() {
  attempt=1
  while :; do
    code=0
    ${FIRMLAKE:-firmlake} "$@" || code=$?
    case $code in 0 | 2 | 3 | 4 | 6) return "$code" ;; esac
    [ "$attempt" -lt 5 ] || return "$code"
    attempt=$((attempt + 1))
    sleep "${PAUSE:-5}"
  done
}

plan=$(step convert "$@" --lake "$lake" --plan-only --json)
run=$(printf '%s\n' "$plan" | sed -n 's/^  "run": "\(.*\)",$/\1/p')
if [ -z "$run" ]; then
  echo 'Nothing to load.'
  exit 0
fi

worker=0
pids=
while [ "$worker" -lt "$workers" ]; do
  step run work "$run" --lake "$lake" --shard "$worker/$workers" &
  pids="$pids $!"
  worker=$((worker + 1))
done
failed=0
for pid in $pids; do wait "$pid" || failed=$?; done
[ "$failed" -eq 0 ] || exit "$failed"

step run commit "$run" --lake "$lake"
