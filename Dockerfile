# Carryover with its locked requirements, as `make` sets them up:
#   docker build -t carryover .
#   docker run --rm --user "$(id -u):$(id -g)" -v "$PWD/results:/carryover/results" carryover make first
FROM python:3.11-slim@sha256:9c900dea9e8fb7e16277c179b555cc72d29a352dbc33cff48ad5a0412fd5bfc7
# Users whom the image does not know have neither a name nor a home.
ENV HOME=/tmp USER=carryover XDG_CACHE_HOME=/tmp/cache MPLCONFIGDIR=/tmp/matplotlib
# The same run gives the same numbers, on a GPU too.
ENV PYTHONHASHSEED=0 CUBLAS_WORKSPACE_CONFIG=:4096:8
RUN apt-get update && apt-get install -y --no-install-recommends git make && rm -rf /var/lib/apt/lists/*
WORKDIR /carryover
COPY Makefile ./
COPY envs/requirements.lock envs/torch.txt envs/
RUN make .venv/.ready
# For commands other than make, and for jobs that Snakemake starts in this image.
ENV PATH=/carryover/.venv/bin:$PATH
COPY . .
RUN mkdir -p results .snakemake && chmod a+rwX . results .snakemake
CMD ["make"]
