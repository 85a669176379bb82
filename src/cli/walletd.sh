#!/bin/sh
# walletd: starts Node with the heap limit that the settings ask for. V8 takes the limit on its command line only. The
# final exec leaves one process with one id, so that signals and kill reach the server itself.
set -eu
root=$(dirname -- "$(readlink -f -- "$0")")/../..
if [ ! -e "$root/dist/src/cli/main.js" ]; then
  echo 'walletd: not built yet: npm run build' >&2
  exit 1
fi
# A core dump would contain keys and balances.
ulimit -c 0
options=
if [ "${1-}" = serve ]; then
  # Return the freed memory of records to the system: glibc would raise its threshold and keep smaller blocks.
  export MALLOC_MMAP_THRESHOLD_="${MALLOC_MMAP_THRESHOLD_:-131072}"
  options=$(node "$root/dist/src/cli/programs/node-options.js" "$@")
fi
# Histories allocate many short-lived objects: with the default of 16 MB, garbage collection takes a tenth of the time.
if [ "${1-}" = simulate ]; then options=--max-semi-space-size=32; fi
# A backup may run beside a server, which gets the processor first.
niceness=
if [ "${1-}" = backup ]; then niceness='nice -n 10'; fi
# shellcheck disable=SC2086 # several words, or none
exec $niceness node $options "$root/dist/src/cli/main.js" "$@"
