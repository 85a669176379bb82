#!/bin/sh
# Runs compiled test files: `sh test/run-files.sh CONCURRENCY [OPTION...] FILE...`. With TEST_RETRY=1, as in CI, up to three
# files that failed are run once more, one at a time. If they pass, the run passes, and names them: such a test depends on
# timing, and needs mending. More failures than that are not a matter of timing.
set -eu
cd -- "$(dirname -- "$0")/.."
root=$(pwd -P)
passed=$(mktemp)
trap 'rm -f "$passed"' EXIT
run() {
  concurrency=$1
  shift
  PASSED_FILES=$passed node --import ./dist/test/support/ends-by-itself.js --import ./dist/test/support/passed-files.js \
    --test --test-reporter=spec --test-concurrency="$concurrency" "$@"
}
if run "$@"; then exit 0; fi
shift
failed=
for file; do
  case $file in
    --*) continue ;;
    /*) path=$file ;;
    *) path=$root/$file ;;
  esac
  grep -qxF -- "$path" "$passed" || failed="$failed $file"
done
# shellcheck disable=SC2086 # a list of files without blanks
[ "${TEST_RETRY-}" = 1 ] && [ -n "$failed" ] && [ "$(printf '%s\n' $failed | wc -l)" -le 3 ] || exit 1
echo "failed, and run again alone:$failed"
# shellcheck disable=SC2086 # a list of files without blanks
run 1 $failed || exit 1
echo "PASSED ONLY WHEN RUN AGAIN:$failed"
