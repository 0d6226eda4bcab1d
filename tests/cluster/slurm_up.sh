#!/usr/bin/env bash
# usage: slurm_up.sh FOLDER     starts a real Slurm of one node, without systemd; slurm_down.sh FOLDER ends it
# All it has (configuration, key, state, logs, sockets) is in FOLDER, but for the link /etc/slurm/slurm.conf: Snakemake's
# jobs lose SLURM_CONF on their way. Needs root and a host name that resolves. CPUs and GPUs are claimed, not real.
set -euo pipefail
here=$(mkdir -p "$1" && cd "$1" && pwd)
host=$(hostname -s)
user=$(id -un)
address=$(getent ahostsv4 "$host" | awk 'NR == 1 { print $1 }' || true)
[ -n "$address" ] || { echo "the host name $host does not resolve: add it to /etc/hosts" >&2; exit 2; }
if [ -e /etc/slurm/slurm.conf ] && [ ! -L /etc/slurm/slurm.conf ]; then
  echo "/etc/slurm/slurm.conf is a file: this machine belongs to a cluster" >&2
  exit 2
fi
mkdir -p "$here"/{state,spool,log,run} /etc/slurm
chmod 755 "$here" "$here"/*/

cat > "$here/slurm.conf" <<CONF
ClusterName=small
SlurmctldHost=$host($address)
SlurmctldPort=16817
SlurmdPort=16818
SrunPortRange=16830-16899
# Listen on the address of the host name alone.
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
AuthType=auth/munge
AuthInfo=socket=$here/run/munge.socket
SlurmUser=$user
SlurmdUser=$user
StateSaveLocation=$here/state
SlurmdSpoolDir=$here/spool
SlurmctldPidFile=$here/run/slurmctld.pid
SlurmdPidFile=$here/run/slurmd.pid
SlurmctldLogFile=$here/log/slurmctld.log
SlurmdLogFile=$here/log/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=2,bf_interval=2,batch_sched_delay=0,sched_min_interval=0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
EnforcePartLimits=ALL
KillWait=2
MinJobAge=600
# Without control groups: memory is looked at every second, and a job that has too much of it is ended.
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
AccountingStorageType=accounting_storage/none
GresTypes=gpu
NodeName=$host NodeAddr=$address CPUs=8 RealMemory=$(awk '/MemTotal/ { print int($2 / 1024) - 512 }' /proc/meminfo) Gres=gpu:fake:2
PartitionName=cpu Nodes=$host Default=YES MaxTime=INFINITE State=UP
PartitionName=gpu Nodes=$host MaxTime=INFINITE State=UP
CONF
# Only GPUs with a device file are counted.
for device in /dev/null /dev/zero; do echo "NodeName=$host Name=gpu Type=fake File=$device"; done > "$here/gres.conf"
ln -sfn "$here/slurm.conf" /etc/slurm/slurm.conf
export SLURM_CONF="$here/slurm.conf" # gres.conf is looked for beside it

(umask 077; head -c 1024 /dev/urandom > "$here/munge.key")
munged --key-file="$here/munge.key" --socket="$here/run/munge.socket" --pid-file="$here/run/munged.pid" \
  --log-file="$here/log/munged.log" --seed-file="$here/run/munged.seed"
slurmctld -c # without the state of an earlier start
for _ in $(seq 200); do scontrol ping 2>/dev/null | grep -q "is UP" && break; sleep 0.1; done
slurmd
state() { sinfo -h -N -n "$host" -p cpu -o %T 2>/dev/null; }
for _ in $(seq 200); do [ "$(state)" = idle ] && break; sleep 0.1; done
[ "$(state)" = idle ] || { tail -n 20 "$here"/log/slurm*.log >&2; exit 1; }
