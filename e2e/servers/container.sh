#!/usr/bin/env bash
# container.sh build DIR CONTEXT     the image of CONTEXT/Dockerfile's target "prebuilt", kept in DIR; no registry is asked
# container.sh run DIR FOLDER ARGS…  runs it in the foreground with ARGS, on the network of the caller, with FOLDER at the same path inside and
#                                    nothing else of the machine: root file system read-only, no capabilities. SIGTERM stops it.
# Root, on Debian with podman, buildah and runc; no daemon of an engine is needed. The limits are set by name, or they are asked for as
# "unlimited", which a root without CAP_SYS_RESOURCE is refused.
set -euo pipefail
cmd=$1 dir=$2; shift 2
store=(--storage-driver vfs --root "$dir/store" --runroot "$dir/run")
case $cmd in
build) buildah "${store[@]}" build --isolation chroot --target prebuilt --tag agentmaild "$1" ;;
run)
  folder=$1; shift
  exec podman "${store[@]}" --runtime runc --cgroup-manager cgroupfs --events-backend file run --rm --network host \
    --ulimit nofile=20000:20000 --ulimit nproc=10000:10000 --read-only --cap-drop all --security-opt no-new-privileges \
    --volume "$folder:$folder" agentmaild "$@" ;;
*) exit 2 ;;
esac
