# Carryover with its locked requirements, as `make` sets them up:
#   docker build -t carryover .
#   docker run --rm -v "$PWD/results:/carryover/results" carryover make first
FROM python:3.11-slim
RUN apt-get update && apt-get install -y --no-install-recommends git make && rm -rf /var/lib/apt/lists/*
WORKDIR /carryover
COPY Makefile ./
COPY envs/lock.txt envs/torch.txt envs/
RUN make .venv/.ready
COPY . .
CMD ["make"]
