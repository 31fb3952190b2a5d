"""Asks Tailback whether this job is contended now, and reports its progress. Needs the standard library alone.

Address, token and job are in the environment, where the prolog puts them: TAILBACK_URL (http://ADDRESS:PORT or unix:PATH; an address
and no name, since resolving a name may block), TAILBACK_JOB_TOKEN, TAILBACK_JOB_ID or SLURM_JOB_ID.

A call returns within 50 ms and never raises: without an answer the job is not judged. At most one call a second asks the server, fewer
where thousands of jobs run; others repeat the last answer. At most one a second reports; others keep the count for the next. After each
further failure the pause doubles, up to a minute. The connection is kept between requests where the server keeps it.
"""

import collections
import json
import os
import re
import socket
import threading
import time

CLEAR, CONTENDED, NOT_JUDGED = "clear", "contended", "not_judged"
LIMIT_S, PAUSE_S, PAUSE_MAX_S, ANSWER_BYTES_MAX = 0.04, 1.0, 64.0, 65536
NAMES_MAX, COUNT_MAX = 8, 2**64 - 1

# The state; seconds lost since the start with the 95% interval; since when and until when it is contended, in seconds since the epoch;
# what is contended, as the API describes it. None is unknown.
Answer = collections.namedtuple("Answer", "state lost_s lost_lo_s lost_hi_s since_s until_s resources")
_UNKNOWN = Answer(NOT_JUDGED, None, None, None, None, None, ())
_NAME = re.compile("[a-z0-9_]{1,32}")
_HEADER = re.compile(rb"\r\n(connection|content-length): *([^\r]*)")


class _Pace:
    """When the next request may be sent, and the pause after the next failure."""

    def __init__(self):
        self.lock, self.next_s, self.pause_s = threading.Lock(), 0.0, PAUSE_S

    def is_due(self):
        return time.monotonic() >= self.next_s

    def worked(self, pauses=1):
        self.pause_s = PAUSE_S
        self.next_s = time.monotonic() + self.pause_s * pauses

    def failed(self):
        self.next_s = time.monotonic() + self.pause_s
        self.pause_s = min(2 * self.pause_s, PAUSE_MAX_S)


_last, _asking, _reporting = _UNKNOWN, _Pace(), _Pace()
_names, _unsent = set(), {}
_kept = []  # the connection for the next request: the process that made it, its address and itself; at most one


def contention():
    """The answer for this job."""
    global _last
    if not _asking.lock.acquire(blocking=False):
        return _last  # another thread asks
    try:
        if _asking.is_due():
            _last, again_s = _ask()
            _asking.worked(min(max(again_s, 1), 60))
    except Exception:  # the application must not fail for its monitor
        _last = _UNKNOWN
        _asking.failed()
    finally:
        _asking.lock.release()
    return _last


def progress(name, count):
    """Reports that this process has counted `count` of `name` since its start.

    Names are such as "steps", "bytes", "iterations": 1 to 32 of a-z, 0-9 and _, at most 8; others are ignored. The count rises; one that
    falls begins again. The rank is that of Slurm, PMI or Open MPI, else 0.
    """
    try:
        if name not in _names and (len(_names) >= NAMES_MAX or not _NAME.fullmatch(name)):
            return
        count = int(count)
        if not 0 <= count <= COUNT_MAX:
            return
        _names.add(name)
        _unsent[name] = count
    except Exception:  # what is no name or no count
        return
    if not _reporting.lock.acquire(blocking=False):
        return  # another thread reports
    try:
        if _reporting.is_due():
            _report()
            _reporting.worked()
    except Exception:  # the application must not fail for its monitor
        _reporting.failed()
    finally:
        _reporting.lock.release()


def _report():
    sent, rank = dict(_unsent), _rank()
    _request("progress", json.dumps([{"name": name, "count": count, "rank": rank} for name, count in sent.items()]))
    for name, count in sent.items():
        if _unsent.get(name) == count:  # no other thread counted meanwhile
            _unsent.pop(name, None)


def _rank():
    """Rank of this process among those of the job step."""
    found = (os.environ.get(name, "") for name in ("SLURM_PROCID", "PMI_RANK", "OMPI_COMM_WORLD_RANK"))
    return next((int(text) for text in found if text.isdigit()), 0)


def _host(url):
    """The host of a request to `url`."""
    return "localhost" if url.startswith("unix:") else url.split("//", 1)[1].split("/")[0]


def _connect(url, deadline_s):
    """A connected socket."""
    if url.startswith("unix:"):
        family, address = socket.AF_UNIX, url[5:]
    else:
        name, port = _host(url).rsplit(":", 1)
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
    return connection


def _take(url):
    """The kept connection, if it leads to `url`, was not made before a fork, and the server has not closed it."""
    try:
        owner, kept_url, connection = _kept.pop()
    except IndexError:
        return None
    if (owner, kept_url) == (os.getpid(), url):
        try:
            connection.setblocking(False)
            connection.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return connection
        except OSError:
            pass
    connection.close()
    return None


def _ask():
    found = json.loads(_request("contention"))
    numbers = [found[name] for name in Answer._fields[1:-1]]
    return Answer(found["state"], *numbers, found["resources"]), found["ask_again_s"]


def _request(what, body=""):
    """Sends one request about this job, with a body a POST; returns the body of the answer."""
    deadline_s = time.monotonic() + LIMIT_S
    job = os.environ.get("TAILBACK_JOB_ID") or os.environ["SLURM_JOB_ID"]
    url, token = os.environ["TAILBACK_URL"], os.environ.get("TAILBACK_JOB_TOKEN")
    lines = [f"{'POST' if body else 'GET'} /api/v1/jobs/{job}/{what} HTTP/1.0", f"Host: {_host(url)}", "Connection: keep-alive"]
    lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    if token:
        lines.append(f"Authorization: Bearer {token}")
    request = "\r\n".join(lines + ["", body]).encode()
    kept = _take(url)
    try:
        head, content = _exchange(kept or _connect(url, deadline_s), url, request, deadline_s)
    except ConnectionError:
        if kept is None:
            raise
        # The server has just closed it.
        head, content = _exchange(_connect(url, deadline_s), url, request, deadline_s)
    if head.split(b" ", 2)[1] not in (b"200", b"202"):
        raise ValueError(head)
    return content


def _exchange(connection, url, request, deadline_s):
    """Sends a request; returns head and body of the answer. The connection is kept if the server keeps it, and no other is."""
    answer, is_kept = b"", False
    try:
        connection.settimeout(max(deadline_s - time.monotonic(), 0.001))
        connection.sendall(request)
        while len(answer) < ANSWER_BYTES_MAX and not is_kept:
            connection.settimeout(max(deadline_s - time.monotonic(), 0.001))
            part = connection.recv(ANSWER_BYTES_MAX)
            if not part and not answer:
                raise ConnectionResetError
            if not part:
                break
            answer += part
            if time.monotonic() > deadline_s:
                raise TimeoutError
            is_kept = _is_whole(answer)
        head, content = answer.split(b"\r\n\r\n", 1)
    except Exception:
        connection.close()
        raise
    if is_kept and not _kept:
        _kept.append((os.getpid(), url, connection))
    else:
        connection.close()
    return head, content


def _is_whole(answer):
    """Whether all of an answer arrived over a connection that the server keeps."""
    head, end, content = answer.partition(b"\r\n\r\n")
    headers = dict(_HEADER.findall(head.lower()))
    is_kept = headers.get(b"connection") == b"keep-alive"
    return bool(end) and is_kept and headers.get(b"content-length") == str(len(content)).encode()
