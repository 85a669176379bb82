#!/bin/sh
# walletd: starts Node with the heap limit that the settings ask for. V8 takes it on its command line only, and a shell
# that ends in exec leaves one process with one id, so that signals and kill reach the server itself.
set -eu
root=$(dirname -- "$(readlink -f -- "$0")")/../..
if [ ! -e "$root/dist/src/cli/main.js" ]; then
  echo 'walletd: not built yet: npm run build' >&2
  exit 1
fi
# A core dump has keys and balances in it.
ulimit -c 0
options=
if [ "${1-}" = serve ]; then
  # Memory of records that is given back goes to the system: glibc would keep what is smaller than a threshold that it raises.
  export MALLOC_MMAP_THRESHOLD_="${MALLOC_MMAP_THRESHOLD_:-131072}"
  options=$(node "$root/dist/src/cli/programs/node-options.js" "$@")
fi
# Histories leave much behind that is soon forgotten: with the usual 16 MB a tenth of the time goes into sorting it out.
if [ "${1-}" = simulate ]; then options=--max-semi-space-size=32; fi
# It may run beside a server, which is to have the processor first.
niceness=
if [ "${1-}" = backup ]; then niceness='nice -n 10'; fi
# shellcheck disable=SC2086 # several words, or none
exec $niceness node $options "$root/dist/src/cli/main.js" "$@"
