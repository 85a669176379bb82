#!/bin/sh
# Installs dependencies and builds the code if they are missing or outdated. `npm start` and `npm test` run this script
# first. The build needs the compiler even with NODE_ENV=production.
set -eu
cd -- "$(dirname -- "$0")/../.."
version=$(node -p process.versions.node)
major=${version%%.*}
minor=${version#*.}
minor=${minor%%.*}
if [ "$major" -lt 20 ] || [ "$major" -gt 26 ] || { [ "$major" -eq 20 ] && [ "$minor" -lt 15 ]; }; then
  echo "walletd needs Node 20.15 to 26, and this is Node $version: install Node 22, 24 or 26 (docs/operations.md, Node)" >&2
  exit 1
fi
# An installed package is built already.
if [ ! -e tsconfig.json ]; then exit 0; fi
# What was built once runs without the compiler: developers' packages that were removed on purpose do not come back.
if [ node_modules/.package-lock.json -nt package-lock.json ] && [ ! -e node_modules/.bin/tsc ] && [ -e dist/src/commit ]; then
  if [ -z "$(find src -newer dist/src/commit | head -n 1)" ]; then exit 0; fi
  echo "walletd: the code is newer than what was built, and the compiler is not installed: npm ci --include=dev" >&2
  exit 1
fi
if [ ! node_modules/.package-lock.json -nt package-lock.json ] || [ ! -e node_modules/.bin/tsc ]; then
  npm ci --include=dev --no-audit --no-fund
fi
node_modules/.bin/tsc
node_modules/.bin/tsc -p src/console/page
node dist/src/console/build.js
# An image is built without git, and names its commit in REVISION.
commit=${REVISION:-}
if [ -z "$commit" ] && [ -e .git ]; then
  commit=$(git --no-optional-locks describe --always --dirty --abbrev=12 --exclude '*' 2>/dev/null || true)
fi
echo "${commit:-unknown}" >dist/src/commit
