"""The place of a program that is started often: what runs in it is forked from a process that has imported everything.

`python -I -S launch.py SOCKET PROGRAM ARGUMENT…`. The streams, the folder and the environment are handed over, signals
are handed on, and the exit status is the program's. See `programs.py`.
"""

import _socket
import marshal
import os
import signal
import sys

_HANDED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)


def main() -> None:
    """Hand everything over, and end as the program ends."""
    conn = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    conn.connect(sys.argv[1])
    told = marshal.dumps((sys.argv[2:], os.getcwd(), dict(os.environ)))
    streams = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2))
    conn.sendmsg([len(told).to_bytes(4, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
    conn.sendall(told)
    for number in _HANDED_ON:
        signal.signal(number, lambda number, _: conn.send(bytes([number])))
    ended = conn.recv(2)
    if not ended:
        sys.exit("The process that forks prepared programs is gone.")
    code, number = ended
    if not number:
        os._exit(code)
    # Ended by a signal, as the program was.
    if number in _HANDED_ON:
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


main()
