#!/bin/sh
# Installs and builds what is missing or out of date. `npm start` and `npm test` begin with it. The compiler is needed
# also where NODE_ENV is production.
set -eu
cd -- "$(dirname -- "$0")/../.."
if [ ! node_modules/.package-lock.json -nt package-lock.json ] || [ ! -e node_modules/.bin/tsc ]; then
  npm ci --include=dev --no-audit --no-fund
fi
node_modules/.bin/tsc
