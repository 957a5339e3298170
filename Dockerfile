# Two images: one for every process (`npm run web` by default, `npm run worker`, `npm run release`), and with
# `--target all-in-one` one that runs everything, MongoDB and Redis included.
FROM node:24-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY script/linkPrograms.mjs ./script/
RUN npm ci --omit=dev

FROM node:24-slim AS pages
WORKDIR /app
COPY package.json package-lock.json .npmrc tsconfig.json ./
COPY script ./script
RUN npm ci --omit=dev
COPY src/client ./src/client
COPY src/dashboard ./src/dashboard
RUN node script/buildDashboard.mjs

FROM node:24-slim AS service
LABEL org.opencontainers.image.title="Signalbox" org.opencontainers.image.version="0.1.0" \
  org.opencontainers.image.description="Self-hosted job tracking and webhook gateway" org.opencontainers.image.licenses="MIT"
# The last two save memory: docs/explanation/performance.md.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 MALLOC_ARENA_MAX=2 NODE_COMPILE_CACHE=/tmp/compiled
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY package.json LICENSE ./
COPY src ./src
COPY docs ./docs
COPY --from=pages /app/dist/dashboard ./dist/dashboard
USER 1000
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=4s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# The shell becomes node, which gets the signal to stop as process 1. The options bound its heap.
CMD ["sh", "-c", "exec node $(node src/cli/start/printHeapOptions.ts $WEB_CONCURRENCY) src/api/main.ts"]

# `docker run -p 3000:3000 -v signalbox:/data/db`: MongoDB's image with Node and Redis. Everything that must last is in /data/db.
FROM mongo:8 AS all-in-one
LABEL org.opencontainers.image.title="Signalbox with MongoDB and Redis" org.opencontainers.image.version="0.1.0" \
  org.opencontainers.image.description="Self-hosted job tracking and webhook gateway, for one machine"
# hadolint ignore=DL3008
RUN apt-get update && apt-get install --yes --no-install-recommends redis-server && rm -rf /var/lib/apt/lists/*
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 MALLOC_ARENA_MAX=2 NODE_COMPILE_CACHE=/tmp/compiled SIGNALBOX_DATA_DIR=/data/db
WORKDIR /app
COPY --from=service /usr/local/bin/node /usr/local/bin/
COPY --from=service /app ./
COPY script/allInOne.sh ./script/
# `signalbox start` looks here for the programs of its servers.
RUN mkdir -p .tools/bin && ln -s /usr/bin/mongod /usr/bin/redis-server .tools/bin/
USER 999
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=4s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT []
CMD ["sh", "script/allInOne.sh"]

# Without `--target`.
FROM service
