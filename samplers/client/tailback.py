"""Asks Tailback whether this job is contended now. Needs the standard library alone.

Address, token and job are in the environment, where the prolog puts them: TAILBACK_URL (http://ADDRESS:PORT or unix:PATH; an address
and no name, since resolving a name may block), TAILBACK_JOB_TOKEN, TAILBACK_JOB_ID or SLURM_JOB_ID.

A call returns within 50 ms and never raises: without an answer the job is not judged. At most one call a second asks the server, fewer
where thousands of jobs run; others repeat the last answer. After each further failure the pause doubles, up to a minute.
"""

import collections
import json
import os
import socket
import threading
import time

CLEAR, CONTENDED, NOT_JUDGED = "clear", "contended", "not_judged"
LIMIT_S, PAUSE_S, PAUSE_MAX_S, ANSWER_BYTES_MAX = 0.04, 1.0, 64.0, 65536

# The state; seconds lost since the start with the 95% interval; since when and until when it is contended, in seconds since the epoch;
# what is contended, as the API describes it. None is unknown.
Answer = collections.namedtuple("Answer", "state lost_s lost_lo_s lost_hi_s since_s until_s resources")
_UNKNOWN = Answer(NOT_JUDGED, None, None, None, None, None, ())
_lock, _last = threading.Lock(), _UNKNOWN
_next_s, _pause_s = 0.0, PAUSE_S


def contention():
    """The answer for this job."""
    global _last, _next_s, _pause_s
    if not _lock.acquire(blocking=False):
        return _last  # another thread asks
    try:
        if time.monotonic() >= _next_s:
            _last, again_s = _ask()
            _pause_s = PAUSE_S
            _next_s = time.monotonic() + _pause_s * min(max(again_s, 1), 60)
    except Exception:  # the application must not fail for its monitor
        _last = _UNKNOWN
        _next_s = time.monotonic() + _pause_s
        _pause_s = min(2 * _pause_s, PAUSE_MAX_S)
    finally:
        _lock.release()
    return _last


def _connect(url, deadline_s):
    """A connected socket, and the host of the request."""
    if url.startswith("unix:"):
        family, address, host = socket.AF_UNIX, url[5:], "localhost"
    else:
        host = url.split("//", 1)[1].split("/")[0]
        name, port = host.rsplit(":", 1)
        name = "127.0.0.1" if name == "localhost" else name.strip("[]")
        numeric = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
        family, _, _, _, address = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM, flags=numeric)[0]
    connection = socket.socket(family, socket.SOCK_STREAM)
    try:
        connection.settimeout(max(deadline_s - time.monotonic(), 0.001))
        connection.connect(address)
    except Exception:
        connection.close()
        raise
    return connection, host


def _ask():
    deadline_s = time.monotonic() + LIMIT_S
    job = os.environ.get("TAILBACK_JOB_ID") or os.environ["SLURM_JOB_ID"]
    token = os.environ.get("TAILBACK_JOB_TOKEN")
    connection, host = _connect(os.environ["TAILBACK_URL"], deadline_s)
    with connection:
        lines = [f"GET /api/v1/jobs/{job}/contention HTTP/1.0", f"Host: {host}"]
        if token:
            lines.append(f"Authorization: Bearer {token}")
        connection.sendall("\r\n".join(lines + ["", ""]).encode())
        answer = b""
        while len(answer) < ANSWER_BYTES_MAX:
            connection.settimeout(max(deadline_s - time.monotonic(), 0.001))
            part = connection.recv(ANSWER_BYTES_MAX)
            if not part:
                break
            answer += part
            if time.monotonic() > deadline_s:
                raise TimeoutError
    head, body = answer.split(b"\r\n\r\n", 1)
    if head.split(b" ", 2)[1] != b"200":
        raise ValueError(head)
    found = json.loads(body)
    numbers = [found[name] for name in Answer._fields[1:-1]]
    return Answer(found["state"], *numbers, found["resources"]), found["ask_again_s"]
