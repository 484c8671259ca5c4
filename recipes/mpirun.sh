#!/bin/sh
# One process a host; rank 0 is on the first host of the list, and listens at the port.
set -eu
: "${FIZEAU_BASE_URL:?the address of the server}" "${FIZEAU_MODEL:?its model}" "${HOSTS:?host1,host2,...}"
export FIZEAU_RENDEZVOUS="${HOSTS%%,*}:20317"
mpirun --host "$HOSTS" --map-by node -x FIZEAU_RENDEZVOUS -x FIZEAU_BASE_URL -x FIZEAU_MODEL \
    fizeau sweep --levels 64,256,1024 --level-seconds 60 --out "fizeau-runs/mpi-$(date -u +%Y%m%d-%H%M%S)"
