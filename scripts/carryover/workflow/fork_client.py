"""What the `python` of local jobs is: `fork_client.py FOLDER SCRIPT …` has the fork server in a folder run a script.

It imports little, as every job starts it: `_socket` is a tenth of `socket`.
"""

import marshal
import os
import sys
from _signal import SIGKILL
from _socket import AF_UNIX, SCM_RIGHTS, SOCK_SEQPACKET, SOL_SOCKET, socket


def ask(folder, words):
    """Let the server in `folder` run a script, and exit with the script's status; without a server, or if it refuses
    since PATH differs from its own, replace this process by `python`. `words` are the script and its arguments.

    The server receives the request and the file descriptors of standard output and error, to which the job writes. It
    answers `started`, and at the end the exit code. `recv` returns b"" where it closed the connection instead.
    """
    here = os.getcwd()
    request = marshal.dumps({"words": words, "folder": here, "environment": dict(os.environ)})
    streams = b"".join(number.to_bytes(4, sys.byteorder) for number in (1, 2))
    try:
        server = socket(AF_UNIX, SOCK_SEQPACKET)
        os.chdir(folder)  # the address of a socket must be short
        server.connect("socket")
        os.chdir(here)
        server.sendmsg([request], [(SOL_SOCKET, SCM_RIGHTS, streams)])
        started = server.recv(64)
    except OSError:
        started = b""
    if not started:
        os.chdir(here)
        os.execvp("python", ("python", *words))
    if status := server.recv(64):
        sys.exit(int(status))
    os.kill(os.getpid(), SIGKILL)  # the job ended without sending a status, so it was killed; end in the same way


if __name__ == "__main__":
    ask(sys.argv[1], sys.argv[2:])
