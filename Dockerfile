# The Tutti server: docker build -t tutti-server . (BuildKit). How to run it: docs/production.md.

# Everything that is copied from this stage is JavaScript, so it is built once for all platforms.
FROM --platform=$BUILDPLATFORM node:24.21.0-slim@sha256:d6aa754f16b3197301076f047b5def2f02ea1dbbc2ca920407d46d7ec7f87b20 AS build
WORKDIR /build
COPY . .
RUN --mount=type=cache,target=/root/.local/share/pnpm/store \
    --mount=type=cache,target=/build/.turbo/cache \
    npm run build
RUN --mount=type=cache,target=/root/.local/share/pnpm/store \
    node tooling/container/assemble.ts /image

# slim and not distroless: an image made FROM this one runs npm ci, process tools need a shell and other programs, and
# whoever looks for a fault needs both. The folders that are copied are the same for any base with this Node.
FROM node:24.21.0-slim@sha256:d6aa754f16b3197301076f047b5def2f02ea1dbbc2ca920407d46d7ec7f87b20
LABEL org.opencontainers.image.title="Tutti server" \
      org.opencontainers.image.description="Submit, follow and steer runs of LLM agent teams over HTTP, SSE and WebSocket" \
      org.opencontainers.image.source="https://github.com/tutti-dev/tutti" \
      org.opencontainers.image.documentation="https://github.com/tutti-dev/tutti/blob/main/docs/production.md" \
      org.opencontainers.image.licenses="Apache-2.0"

# On this address the server does not start without keys (TUTTI_API_KEYS, or auth.keys of a config).
# Its files are read-only, and what Node compiled of them is kept nowhere.
ENV NODE_ENV=production NODE_DISABLE_COMPILE_CACHE=1
ENV HOST=0.0.0.0 PORT=7329 TUTTI_DATA_DIR=/data
WORKDIR /app
COPY --from=build /image/app/ /app/
COPY --from=build --chown=10001:10001 /image/data/ /data/

# Runs and their events; nothing else is written.
VOLUME ["/data"]
# By number, so that Kubernetes can see that it is not root.
USER 10001:10001
EXPOSE 7329
STOPSIGNAL SIGTERM

# Whether the process answers. It says nothing of the database: a restart would not bring that back.
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/api/health/live`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]

# A config at /app/tutti.config.ts is found; npm ci in /app replaces the server by the project's own.
ENTRYPOINT ["node", "/app/node_modules/@tutti/server/dist/tutti.js"]
CMD ["start"]
