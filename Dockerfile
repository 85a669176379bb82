# Build: everything, then the compiled server and the packages it needs at run time.
FROM node:22-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json ./
COPY src src
COPY bench bench
COPY test test
# uWebSockets.js carries its binaries for all platforms, 130 MB; this one needs its own.
RUN node_modules/.bin/tsc && npm prune --omit=dev --no-audit --no-fund \
  && find node_modules/uWebSockets.js/dist/bin -name 'uws_*.node' \
    ! -name "uws_linux_*_$(node -p process.versions.modules).node" -delete

FROM node:22-bookworm-slim
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
ENV WALLETD_STORE=lmdb:/var/lib/walletd \
  WALLETD_NODE_FOLDER=/var/lib/walletd/node
VOLUME /var/lib/walletd
# Both listen on the container's loopback until they are told who may call: config/production.json does.
EXPOSE 3000 3001
# Ready, not only alive: an orchestrator must not send callbacks to shards that recover.
HEALTHCHECK --interval=5s --timeout=2s --start-period=60s \
  CMD ["node", "--no-warnings", "-e", "const e = process.env; e.NODE_TLS_REJECT_UNAUTHORIZED = '0'; fetch(`http${e.WALLETD_ADMIN_TLS_CERTIFICATE_FILE ? 's' : ''}://127.0.0.1:${e.WALLETD_ADMIN_PORT || 3001}/readyz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["walletd"]
CMD ["serve"]
