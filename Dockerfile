# Helm and kustomize from the modules whose go.sum this repository holds: the same sources as in tests and on a desk.
FROM --platform=$BUILDPLATFORM golang:1.26-bookworm AS programs
ARG TARGETOS
ARG TARGETARCH
ENV CGO_ENABLED=0 GOFLAGS="-trimpath -buildvcs=false"
WORKDIR /build
COPY tools/helm/go.mod tools/helm/go.sum helm/
COPY tools/kustomize/go.mod tools/kustomize/go.sum kustomize/
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    GOOS=$TARGETOS GOARCH=$TARGETARCH go build -C helm -o /out/helm \
      -ldflags "-s -w -X helm.sh/helm/v4/internal/version.version=v4.3.1" helm.sh/helm/v4/cmd/helm \
 && GOOS=$TARGETOS GOARCH=$TARGETARCH go build -C kustomize -o /out/kustomize \
      -ldflags "-s -w" sigs.k8s.io/kustomize/kustomize/v5

# The packages that the agent runs on; they hold nothing that depends on the machine.
FROM --platform=$BUILDPLATFORM node:24-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --omit=optional --ignore-scripts

FROM node:24-slim
# tini reaps what a killed child leaves behind; ssh refuses to run for a user without an entry in passwd.
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates git openssh-client tini \
 && rm -rf /var/lib/apt/lists/* \
 && groupadd --gid 65532 espalier \
 && useradd --uid 65532 --gid 65532 --home-dir /cache --no-create-home --shell /usr/sbin/nologin espalier \
 && install -d -o 65532 -g 65532 /cache
COPY --from=programs /out/helm /out/kustomize /usr/local/bin/
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY package.json LICENSE ./
COPY src src
# The root file system may be read-only: all that is written goes to /cache and /tmp.
ENV NODE_ENV=production \
    HOME=/cache \
    XDG_CACHE_HOME=/cache \
    ESPALIER_TOOL_HELM=/usr/local/bin/helm \
    ESPALIER_TOOL_KUSTOMIZE=/usr/local/bin/kustomize
USER 65532:65532
EXPOSE 8080
ENTRYPOINT ["tini", "--", "node", "/app/src/cli.ts"]
CMD ["agent"]
