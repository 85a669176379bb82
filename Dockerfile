# The base. A tag can move; a build that must not pins it: --build-arg NODE_IMAGE=node:22-bookworm-slim@sha256:…
ARG NODE_IMAGE=node:22-bookworm-slim

# Build: everything, then the compiled server and the packages it needs at run time.
FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json ./
COPY src src
COPY bench bench
COPY test test
# uWebSockets.js carries its binaries for all platforms, 130 MB; this one needs its own.
RUN node_modules/.bin/tsc && node dist/src/console/build.js && npm prune --omit=dev --no-audit --no-fund \
  && find node_modules/uWebSockets.js/dist/bin -name 'uws_*.node' \
    ! -name "uws_linux_*_$(node -p process.versions.modules).node" -delete

FROM ${NODE_IMAGE}
# As process 1 a shell, or a command without a handler of its own, hears no signal.
RUN apt-get update && apt-get install -y --no-install-recommends tini && rm -rf /var/lib/apt/lists/*
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist/src dist/src
COPY src/cli/walletd.sh src/cli/walletd.sh
COPY config config
RUN ln -s /app/src/cli/walletd.sh /usr/local/bin/walletd \
  && mkdir /var/lib/walletd && chown node:node /var/lib/walletd
USER node
# ./data and ./node are made here, unless the settings say otherwise: a variable of the image would win over a file.
WORKDIR /var/lib/walletd
VOLUME /var/lib/walletd
# All listen on the container's loopback until they are told who may call, as by WALLETD_CONFIG=/app/config/production.json: callbacks,
# operator API, health, and other nodes of a cluster (config/kubernetes/).
EXPOSE 3000 3001 3002 3003
# Ready, not only alive: an orchestrator must not send callbacks to shards that recover, which can take minutes.
HEALTHCHECK --interval=5s --timeout=5s --start-period=10m CMD ["node", "/app/dist/src/cli/programs/health-check.js"]
ENTRYPOINT ["tini", "--", "walletd"]
CMD ["serve"]
