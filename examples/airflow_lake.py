"""A night of firmlake as a task of Airflow. Put it into the folder of DAGs; LAKE_FOLDER is the folder of firmlake.toml.

The task is a sensor, so that a night that cannot go on waits without taking a worker (up_for_reschedule): while a load is held
back, until a person has called "firmlake release" or "firmlake discard", and while the service is busy. What follows the task
reads the lake. FIRMLAKE is the command (default: firmlake).
"""

import json
import os
import shlex
import subprocess
from datetime import datetime, timedelta

from airflow.sdk import PokeReturnValue, dag, task
from airflow.sdk.exceptions import AirflowFailException

DONE, PARTIAL, FAILED, LATER = 0, 6, 1, 75


def firmlake(*words):
    command = shlex.split(os.environ.get("FIRMLAKE", "firmlake"))
    done = subprocess.run([*command, *words], stdout=subprocess.PIPE, text=True, cwd=os.environ.get("LAKE_FOLDER", "."))
    return done.returncode, json.loads(done.stdout or "{}")


@dag(schedule="15 2 * * *", start_date=datetime(2026, 1, 1), catchup=False, max_active_runs=1)
def firmlake_nightly():
    @task.sensor(
        mode="reschedule",
        poke_interval=900,
        timeout=timedelta(days=7).total_seconds(),
        retries=3,
        retry_delay=timedelta(minutes=15),
    )
    def night():
        _, status = firmlake("status", "--json")
        if status.get("held"):
            return PokeReturnValue(False)
        code, summary = firmlake("nightly")
        error = summary.get("error", {})
        if code in (DONE, PARTIAL):
            return PokeReturnValue(True, [part.get("snapshot") for part in summary["parts"]])
        if code == LATER or error.get("code") == "LOAD_HELD":
            return PokeReturnValue(False)
        message = error.get("message", f"firmlake ended with {code}")
        # Airflow tries again what the same command may resume; the rest fails the same each time.
        raise RuntimeError(message) if code == FAILED else AirflowFailException(message)

    night()


firmlake_nightly()
