#!/usr/bin/env python3
"""Runs a server for an SDK that hides its child process, and records how the server ended.

usage: watch.py STATUS TRANSCRIPT COMMAND [ARGUMENT...]

The server inherits standard input and output, so client and server talk directly. When it has ended, one line is
appended to the file STATUS: `exit CODE` or `signal NUMBER`. SIGTERM is passed on.

TRANSCRIPT is a file to append every frame to (`> ` from the client, `< ` from the server), or `-` for none. Only then
do the bytes go through this process.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading


def pump(source, sink, mark, log):
    """Copies until end of input, logs whole lines, then closes the sink so that the end travels on."""
    line = b""
    while True:
        chunk = os.read(source, 65536)
        if not chunk:
            break
        line += chunk
        *whole, line = line.split(b"\n")
        for frame in whole:
            os.write(log, mark + frame + b"\n")
        try:
            while chunk:
                chunk = chunk[os.write(sink, chunk) :]
        except BrokenPipeError:
            break
    if line:
        os.write(log, mark + line + b" (no newline)\n")
    os.close(sink)


def main():
    status, transcript, *command = sys.argv[1:]
    # Until the child exists, SIGTERM waits: otherwise it could end this process and leave the child alone.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    unblock = lambda: signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    if transcript == "-":
        server = subprocess.Popen(command, preexec_fn=unblock)
        from_server = None
    else:
        log = os.open(transcript, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        os.write(log, b"# " + " ".join(command).encode() + b"\n")
        server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, preexec_fn=unblock)
        to_server = threading.Thread(target=pump, args=(0, os.dup(server.stdin.fileno()), b"> ", log), daemon=True)
        from_server = threading.Thread(target=pump, args=(server.stdout.fileno(), 1, b"< ", log), daemon=True)
        server.stdin.close()
        to_server.start()
        from_server.start()
    signal.signal(signal.SIGTERM, lambda *_: server.terminate())
    unblock()

    code = server.wait()
    if from_server is not None:
        from_server.join()
    # A client that has given up has taken the folder with it.
    with contextlib.suppress(FileNotFoundError), open(status, "a", encoding="utf-8") as file:
        file.write(f"signal {-code}\n" if code < 0 else f"exit {code}\n")
    # No interpreter teardown: a reader thread may still hold standard input.
    os._exit(128 - code if code < 0 else code)


if __name__ == "__main__":
    main()
