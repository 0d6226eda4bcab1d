#!/usr/bin/env bash
# usage: slurm_down.sh FOLDER     cancels all jobs of the Slurm of slurm_up.sh, and ends its daemons
here=$(cd "$1" && pwd) || exit 1
running() { [ -e "/proc/$1/stat" ] && ! grep -q ') Z ' "/proc/$1/stat"; } # a zombie has ended
timeout 5 scancel --user "$(id -un)" 2>/dev/null
for _ in $(seq 50); do [ -z "$(timeout 5 squeue -h 2>/dev/null)" ] && break; sleep 0.1; done
for daemon in slurmd slurmctld munged; do
  process=$(cat "$here/run/$daemon.pid" 2>/dev/null) || continue
  kill "$process" 2>/dev/null
  for _ in $(seq 100); do running "$process" || break; sleep 0.1; done
  if running "$process"; then kill -9 "$process"; fi
done
if [ "$(readlink /etc/slurm/slurm.conf)" = "$here/slurm.conf" ]; then rm /etc/slurm/slurm.conf; fi
