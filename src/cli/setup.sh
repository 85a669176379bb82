#!/bin/sh
# Installs dependencies and builds the code if they are missing or outdated. `npm start` and `npm test` run this script
# first. The build needs the compiler even with NODE_ENV=production.
set -eu
cd -- "$(dirname -- "$0")/../.."
version=$(node -p process.versions.node)
major=${version%%.*}
minor=${version#*.}
minor=${minor%%.*}
newest=22
# Installed from its own repository, the HTTP library has binaries for later Node versions (docs/operations.md, Node).
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
