"""`client.py SOCKET SCRIPT …`: what `python SCRIPT …` does, in a process that the fork server has ready.

It takes its place: exit code or signal are the job's, and where this process ends, the job does. Where the server is
gone, or another environment is asked for than its own, `python` is started as ever.
"""

import json
import os
import signal
import socket
import sys


def main(address, *words):
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    request = {"words": words, "folder": os.getcwd(), "environment": dict(os.environ)}
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
            server.connect(address)
            socket.send_fds(server, [json.dumps(request).encode()], [1, 2])
            status = int(server.recv(64) or b"none")
    except (OSError, ValueError):  # no server, one that ended, or one that is of no use here
        os.execvp("python", ("python", *words))
    if status < 0:  # no signal but this one's own is caught here
        os.kill(os.getpid(), -status)
    sys.exit(status)


if __name__ == "__main__":
    main(*sys.argv[1:])
