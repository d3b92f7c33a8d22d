# An edge: one static binary and nothing else. Build from the repository's root:
#   docker build -f deploy/edge.Dockerfile -t waypost-edge .
# No secret is baked in; the environment brings them (see docker-compose.yml).

FROM golang:1.26.8-bookworm AS build
WORKDIR /src
# Modules first: they change less often than code, so this layer is kept.
COPY go.work go.work.sum ./
COPY shared/go.* shared/
COPY edge/go.* edge/
COPY origin/go.* origin/
COPY deploy/go.* deploy/
COPY bench/go.* bench/
RUN cd edge && go mod download
COPY shared shared
COPY edge edge
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o /out/waypost-edge waypost/edge
RUN mkdir -p /out/state

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/waypost-edge /waypost-edge
# A volume mounted here starts out owned by the user below.
COPY --from=build --chown=65532:65532 /out/state /state
USER 65532:65532
EXPOSE 8080 9180
ENTRYPOINT ["/waypost-edge"]
