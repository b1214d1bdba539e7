"""A night of firmlake as an asset of Dagster: `dagster dev -f examples/dagster_lake.py`, in the folder of firmlake.toml.

Assets that read the lake depend on it (`deps=["lake"]`). They are skipped while a load is held back, until a person has called
"firmlake release" or "firmlake discard" and the next run has found the lake as it is expected to be. FIRMLAKE is the command
(default: firmlake), PAUSE the seconds before the service is asked again (default: 900).
"""

import json
import os
import shlex
import subprocess

from dagster import Definitions, Failure, MaterializeResult, RetryRequested, asset

DONE, PARTIAL, FAILED, LATER = 0, 6, 1, 75


@asset(output_required=False)
def lake(context):
    command = shlex.split(os.environ.get("FIRMLAKE", "firmlake"))
    night = subprocess.run([*command, "nightly"], stdout=subprocess.PIPE, text=True)
    summary = json.loads(night.stdout or "{}")
    error = summary.get("error", {})
    if night.returncode in (DONE, PARTIAL):
        parts = summary["parts"]
        if error:
            context.log.warning(error["message"])
        snapshots = [part["snapshot"] for part in parts if part.get("snapshot")]
        records = sum(part.get("records", 0) for part in parts)
        yield MaterializeResult(metadata={"records": records, "snapshot": max(snapshots, default=0)})
    elif night.returncode in (FAILED, LATER):
        # The same command resumes the run.
        raise RetryRequested(max_retries=3, seconds_to_wait=float(os.environ.get("PAUSE", "900")))
    elif error.get("code") == "LOAD_HELD":
        # Without an output, what depends on it is skipped: the lake is as it was, and a person decides.
        context.log.error(error["message"])
    else:
        raise Failure(error.get("message", f"firmlake ended with {night.returncode}"), allow_retries=False)


defs = Definitions(assets=[lake])
