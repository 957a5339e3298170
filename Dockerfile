# One image for every process: `npm run web` (default), `npm run worker`, `npm run release`.
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

FROM node:24-slim
# The last two save memory: docs/explanation/performance.md.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 MALLOC_ARENA_MAX=2 NODE_COMPILE_CACHE=/tmp/compiled
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY package.json LICENSE ./
COPY src ./src
COPY docs ./docs
COPY --from=pages /app/dist/dashboard ./dist/dashboard
USER node
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=4s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# The shell becomes node, which gets the signal to stop as process 1. The options bound its heap.
CMD ["sh", "-c", "exec node $(node src/cli/start/printHeapOptions.ts $WEB_CONCURRENCY) src/api/main.ts"]
