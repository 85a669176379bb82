#!/bin/sh
# Runs the fault suite: real processes are killed, stopped and cut off from one another, one fault at a time.
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
# shellcheck disable=SC2086 # a list of files without blanks
exec sh test/run-files.sh 1 $files
