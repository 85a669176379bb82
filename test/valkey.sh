#!/bin/sh
# The nightly group: the tests that start a Redis, and the faults of failovers, on Valkey in place of Redis.
# Debian 12 has valkey-server among its backports. WALLETD_TEST_REDIS names another server to test. Tests and faults both
# run, even if one of them fails.
set -eu
cd -- "$(dirname -- "$0")/.."
if [ -z "${WALLETD_TEST_REDIS-}" ] && ! valkey-server --version >/dev/null 2>&1; then
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "These tests need valkey-server: install it with your system's packages, or name a server in WALLETD_TEST_REDIS" >&2
    exit 1
  fi
  list=/etc/apt/sources.list.d/walletd-backports.list
  . /etc/os-release
  [ "$VERSION_CODENAME" != bookworm ] || echo 'deb http://deb.debian.org/debian bookworm-backports main' >"$list"
  { apt-get update && apt-get install -y --no-install-recommends valkey-server; } >&2
fi
export WALLETD_TEST_REDIS="${WALLETD_TEST_REDIS:-valkey-server}"
starters='redis-server\.js|redis-cluster\.js|test-cluster\.js|faults/sentinels\.js'
failed=
sh test/run.sh "^($(grep -rlE "$starters" test --include='*.test.ts' --include='*.long.ts' | paste -sd '|'))\$" || failed="$failed tests"
sh test/run-faults.sh 'test/faults/(failover|redis-cluster)\.' || failed="$failed faults"
[ -z "$failed" ] || { echo "failed on $WALLETD_TEST_REDIS:$failed" >&2; exit 1; }
