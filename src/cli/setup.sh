#!/bin/sh
# Installs and builds what is missing or out of date. `npm start` and `npm test` begin with it.
set -eu
cd -- "$(dirname -- "$0")/../.."
if [ ! node_modules/.package-lock.json -nt package-lock.json ]; then
  npm ci --no-audit --no-fund
fi
node_modules/.bin/tsc
