#!/bin/sh
# Open MPI: one process a host; rank 0 is on the first host of the list, and listens at the port. `--bind-to none` leaves each process all cores
# of its host: by default all its threads would share one core. MPICH and Intel MPI have other flags for the same:
#   mpiexec -hosts "$HOSTS" -ppn 1 -bind-to none -genvlist FIZEAU_RENDEZVOUS,FIZEAU_BASE_URL,FIZEAU_MODEL fizeau sweep ...
set -eu
: "${FIZEAU_BASE_URL:?the address of the server}" "${FIZEAU_MODEL:?its model}" "${HOSTS:?host1,host2,...}"
export FIZEAU_RENDEZVOUS="${HOSTS%%,*}:20317"
mpirun --host "$HOSTS" --map-by node --bind-to none -x FIZEAU_RENDEZVOUS -x FIZEAU_BASE_URL -x FIZEAU_MODEL \
    fizeau sweep --levels 64,256,1024 --level-seconds 60 --out "fizeau-runs/mpi-$(date -u +%Y%m%d-%H%M%S)"
