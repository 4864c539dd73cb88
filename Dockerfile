# docker build -t agentmaild .                                     builds the binary inside
# contrib/dist && docker build --target prebuilt -t agentmaild .   takes the one that contrib/dist has built
# docker run -v ./etc:/etc/agentmaild:ro -v agentmaild:/var/lib/agentmaild agentmaild
#
# The image holds a static binary, the certificate authorities and nothing else; time zones are in the binary. It runs as user
# 65532, reads /etc/agentmaild/agentmaild.toml and keeps its state in /var/lib/agentmaild.

FROM scratch AS prebuilt
COPY dist/root/ /
COPY --chown=65532:65532 dist/state/ /var/lib/
USER 65532:65532
VOLUME /var/lib/agentmaild
ENTRYPOINT ["/agentmaild"]
CMD ["run"]

FROM golang:1.26 AS build
WORKDIR /src
COPY . .
RUN contrib/dist

FROM scratch
COPY --from=build /src/dist/root/ /
COPY --from=build --chown=65532:65532 /src/dist/state/ /var/lib/
USER 65532:65532
VOLUME /var/lib/agentmaild
ENTRYPOINT ["/agentmaild"]
CMD ["run"]
