#!/bin/sh
# Installs and builds missing or outdated parts. `npm start` and `npm test` run this script first. NODE_ENV=production
# needs the compiler, too.
set -eu
cd -- "$(dirname -- "$0")/../.."
version=$(node -p process.versions.node)
major=${version%%.*}
minor=${version#*.}
minor=${minor%%.*}
newest=22
# The HTTP library from its own repository has binaries for later versions: docs/operations.md, Node.
if ! grep -q '"uWebSockets.js": "npm:uws-pack@' package.json; then newest=$major; fi
if [ "$major" -lt 20 ] || [ "$major" -gt "$newest" ] || { [ "$major" -eq 20 ] && [ "$minor" -lt 15 ]; }; then
  echo "walletd needs Node 20 (20.15 or later) or 22, and this is Node $version: its HTTP library has no binary for others (docs/operations.md, Node)" >&2
  exit 1
fi
if [ ! node_modules/.package-lock.json -nt package-lock.json ] || [ ! -e node_modules/.bin/tsc ]; then
  npm ci --include=dev --no-audit --no-fund
fi
node_modules/.bin/tsc
node_modules/.bin/tsc -p src/console/page
node dist/src/console/build.js
