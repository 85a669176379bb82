#!/bin/sh
# Runs the compiled form of the test files that have a source: `sh test/run.sh` of every `*.test.ts`, `sh test/run.sh --long`
# of every `*.long.ts`, and `sh test/run.sh 'wallet|engine/'` of those of both whose path matches. With a pattern or
# NIGHTLY=1, the rare variants run too (test/support/nightly.ts). A test that hangs ends in ten minutes. If a test file is
# still running 30 seconds after its last test, it fails (test/support/ends-by-itself.ts).
set -eu
cd -- "$(dirname -- "$0")/.."
sh test/ensure-tools.sh
kind='test'
if [ "${1-}" = --long ]; then
  kind='long'
  shift
elif [ -n "${1-}" ]; then
  kind='(test|long)'
fi
if [ $# -gt 1 ]; then
  echo "only one pattern is possible: join several with |, such as 'wallet|engine/'" >&2
  exit 2
fi
files=$(find test -name '*.ts' | grep -E "\.$kind\.ts$" | grep -E -- "${1-}" | sort | sed 's|^\(.*\)\.ts$|dist/\1.js|')
if [ $# -gt 0 ]; then export NIGHTLY=1; fi
# Without a file node would look for tests by itself.
if [ -z "$files" ]; then
  echo "no test file matches ${1-}" >&2
  exit 1
fi
# shellcheck disable=SC2086 # a list of files without blanks
exec sh test/run-files.sh 4 --test-timeout=600000 $files
