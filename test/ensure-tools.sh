#!/bin/sh
# The tests use a real Redis, strace, openssl, curl and Chromium: installs Debian's packages where they are missing, or says what to install.
# Tests with PostgreSQL, PgBouncer, nginx, HAProxy and NATS are skipped without them; where root may, these are installed too.
# Tests with RabbitMQ are skipped without it, and it is not installed: it needs 100 MB.
set -eu
missing=
wanted=
# WALLETD_TEST_REDIS names another server, such as valkey-server.
"${WALLETD_TEST_REDIS:-redis-server}" --version 2>/dev/null | grep -Eq 'v=([7-9]|[1-9][0-9])\.' || missing="$missing redis-server"
strace --version >/dev/null 2>&1 || missing="$missing strace"
openssl version >/dev/null 2>&1 || missing="$missing openssl"
curl --version >/dev/null 2>&1 || missing="$missing curl"
chromium --version >/dev/null 2>&1 || missing="$missing chromium"
# Debian keeps these programs off the PATH of a user.
PATH="$PATH:/usr/sbin:$(echo /usr/lib/postgresql/*/bin | tr ' ' ':')"
initdb --version >/dev/null 2>&1 || wanted="$wanted postgresql"
pgbouncer --version >/dev/null 2>&1 || wanted="$wanted pgbouncer"
nginx -v >/dev/null 2>&1 || wanted="$wanted nginx"
haproxy -v >/dev/null 2>&1 || wanted="$wanted haproxy"
nats-server --version >/dev/null 2>&1 || wanted="$wanted nats-server"
# Tests that lose power are skipped without a compiler.
gcc --version >/dev/null 2>&1 || wanted="$wanted gcc libc6-dev"
# Tests with a wrong clock are skipped without it.
faketime --version >/dev/null 2>&1 || wanted="$wanted faketime"
[ -n "$missing$wanted" ] || exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  # RUNLEVEL=1 keeps Debian from starting the servers: tests start their own, on loopback.
  install() { RUNLEVEL=1 apt-get install -y --no-install-recommends "$@" >&2; }
  apt-get update >&2 || true
  # shellcheck disable=SC2086 # lists of packages
  if [ -n "$missing" ] && install $missing; then missing=; fi
  # shellcheck disable=SC2086
  if [ -n "$wanted" ]; then install $wanted || true; fi
fi
[ -n "$missing" ] || exit 0
echo "The tests need$missing (Redis 7 or later): install with your system's packages, for example apt-get install$missing" >&2
exit 1
