#!/bin/sh
# Runs compiled test files: `sh test/run-files.sh CONCURRENCY FILE...`. With TEST_RETRY=1, as in CI, up to three files that
# failed are run once more, one at a time. If they pass, the run passes, and names them: such a test depends on timing, and
# needs mending. More failures than that are not a matter of timing.
set -eu
cd -- "$(dirname -- "$0")/.."
run() {
  concurrency=$1
  shift
  node --import ./dist/test/support/ends-by-itself.js --test --test-concurrency="$concurrency" \
    --test-reporter=spec --test-reporter-destination=stdout \
    --test-reporter=./dist/test/support/failed-files.js --test-reporter-destination="$failed" "$@"
}
failed=$(mktemp)
trap 'rm -f "$failed"' EXIT
if run "$@"; then exit 0; fi
[ "${TEST_RETRY-}" = 1 ] && [ -s "$failed" ] && [ "$(wc -l <"$failed")" -le 3 ] || exit 1
files=$(cat "$failed")
echo "failed, and run again alone:
$files"
# shellcheck disable=SC2086 # a list of files without blanks
run 1 $files || exit 1
echo "PASSED ONLY WHEN RUN AGAIN:
$files"
