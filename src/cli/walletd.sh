#!/bin/sh
# Starts Node with the configured heap limit, which V8 accepts only on the command line. The final exec replaces the
# shell, so that signals reach the server itself.
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
  # Return the memory of freed records to the system. By default glibc raises this threshold and keeps smaller blocks.
  export MALLOC_MMAP_THRESHOLD_="${MALLOC_MMAP_THRESHOLD_:-131072}"
  # Allocate every object in the young generation. V8 otherwise allocates objects in the old generation if those from
  # the same place in the code often survived, and these then keep young objects alive until the next full collection.
  options="--no-allocation-site-pretenuring $(node "$root/dist/src/cli/programs/node-options.js" "$@")"
fi
# Histories allocate many short-lived objects. With the default of 16 MB, garbage collection takes 10 % of the time.
if [ "${1-}" = simulate ]; then options=--max-semi-space-size=32; fi
# A backup may run on the same machine as a server, so give it a lower CPU priority.
niceness=
if [ "${1-}" = backup ]; then niceness='nice -n 10'; fi
# shellcheck disable=SC2086 # several words, or none
exec $niceness node $options "$root/dist/src/cli/main.js" "$@"
