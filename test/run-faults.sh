#!/bin/sh
# Runs the fault suite: real processes are killed, stopped and cut off from one another. Files that measure how long something
# takes run alone, and the others two at a time, because they mostly wait.
# `sh test/run-faults.sh failover` runs the files whose path matches. With a pattern or NIGHTLY=1, the rare variants run too
# (test/support/nightly.ts).
set -eu
cd -- "$(dirname -- "$0")/.."
sh test/ensure-tools.sh
if [ $# -gt 0 ]; then export NIGHTLY=1; fi
files=$(find test/faults -name '*.fault.ts' | grep -E -- "${1-}" | sort | sed 's|^\(.*\)\.ts$|dist/\1.js|')
# Without a file node would look for tests by itself.
if [ -z "$files" ]; then
  echo "no test file matches ${1-}" >&2
  exit 1
fi
timed='/(cluster-moves|failover|kill|redis-cluster|store|undurable|workers)\.fault\.js$'
status=0
# shellcheck disable=SC2046 # a list of files without blanks
run() { [ $# -eq 1 ] || sh test/run-files.sh "$@" || status=1; }
# shellcheck disable=SC2046 # a list of files without blanks
run 2 $(echo "$files" | grep -vE "$timed")
# shellcheck disable=SC2046 # a list of files without blanks
run 1 $(echo "$files" | grep -E "$timed")
exit $status
