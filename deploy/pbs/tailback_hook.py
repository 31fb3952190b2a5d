"""Reports the start and the end of a job to Tailback: a hook of PBS' MoM for execjob_begin and execjob_end.

It never delays and never rejects a job: it passes the event to `tailback-job send`, a process of its own, and always accepts.
That retries for five minutes, then drops the event. Settings are in /etc/tailback/slurm-job.conf, see tailback-job.

    qmgr -c "create hook tailback event='execjob_begin,execjob_end'"
    qmgr -c "import hook tailback application/x-python default /usr/lib/tailback/pbs/tailback_hook.py"
"""

import json
import os
import subprocess
import time

import pbs

SENDER = os.environ.get("TAILBACK_SENDER", "/usr/lib/tailback/slurm/tailback-job")


def hosts(job):
    """Hosts of the job, each once, in the order of its chunks; a vnode such as `node1[0]` is a part of a host."""
    names = [chunk.vnode_name.split("[")[0] for chunk in job.exec_vnode.chunks]
    return list(dict.fromkeys(names))


def event(hook_event):
    job = hook_event.job
    now = int(time.time())
    over = hook_event.type == pbs.EXECJOB_END
    start = getattr(job, "stime", None) or (None if over else now)
    return {
        "job_id": job.id,
        "user": str(job.Job_Owner or "").split("@")[0],
        "name": str(job.Job_Name or ""),
        "nodes": hosts(job),
        "start": start and int(start),
        "end": now if over else None,
    }


def report(hook_event):
    # Each host of the job runs the hook; the first one reports.
    if not hook_event.job.in_ms_mom():
        return
    subprocess.Popen(
        [SENDER, "send", json.dumps(event(hook_event))],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True, close_fds=True,
    )


hook_event = pbs.event()
try:
    report(hook_event)
except Exception as error:  # A job must not fail because its start could not be reported.
    pbs.logmsg(pbs.LOG_WARNING, "tailback: %s" % error)
hook_event.accept()
