#!/bin/sh
# `npm run check`: types, lint and the tidy rules at the same time. All three run to their end, even if one fails.
set -eu
cd -- "$(dirname -- "$0")/.."
[ -e dist/src/commit ] || sh src/cli/setup.sh
printed=$(mktemp -d)
trap 'rm -rf "$printed"' EXIT
node_modules/.bin/biome check . >"$printed/lint" 2>&1 &
lint=$!
node_modules/.bin/tsc -p src/console/page >"$printed/page" 2>&1 &
page=$!
failed=
{ node_modules/.bin/tsc && sh test/run.sh test/tidy/; } >"$printed/tidy" 2>&1 || failed="$failed tidy"
wait "$page" || failed="$failed page"
wait "$lint" || failed="$failed lint"
for name in $failed; do cat "$printed/$name"; done
[ -z "$failed" ] || { echo "failed:$failed" >&2; exit 1; }
