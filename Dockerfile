# The base, Node 22.23.3 on Debian 13. A digest does not get security updates by itself: build with a newer one, which
# `docker buildx imagetools inspect node:22-trixie-slim` prints, by --build-arg NODE_IMAGE=node:22-trixie-slim@sha256:…
ARG NODE_IMAGE=node:22.23.3-trixie-slim@sha256:b26b04c123d9ff8ab646ceb18b9d75a1173acf64b9a401094b906d27b29338d4

# Build: everything, then the compiled server, the packages it needs at run time on this platform, and the list of them (SBOM).
FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json ./
COPY src src
# The commit, for `walletd --version`: --build-arg REVISION=$(git rev-parse --short=12 HEAD)
ARG REVISION=unknown
RUN REVISION=${REVISION} sh src/cli/setup.sh && npm sbom --omit=dev --sbom-format=cyclonedx >sbom.json \
  && npm prune --omit=dev --no-audit --no-fund && node dist/src/cli/programs/prune-packages.js

FROM ${NODE_IMAGE}
ARG REVISION=unknown
LABEL org.opencontainers.image.title=walletd \
  org.opencontainers.image.description="The operator's side of a game platform's wallet callbacks" \
  org.opencontainers.image.version=0.2.0 \
  org.opencontainers.image.revision=${REVISION}
# As process 1 a shell, or a command without a handler of its own, hears no signal.
RUN apt-get update && apt-get install -y --no-install-recommends tini && rm -rf /var/lib/apt/lists/*
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json /app/sbom.json ./
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
# Ready, not only alive: an orchestrator must not send callbacks to shards that recover, which can take minutes. A check takes
# 0.2 s of processor time, mostly to read the settings, and so runs often only during the start.
HEALTHCHECK --interval=30s --timeout=5s --start-period=10m --start-interval=5s CMD ["node", "/app/dist/src/cli/programs/health-check.js"]
ENTRYPOINT ["tini", "--", "walletd"]
CMD ["serve"]
