"""Loads files into a lake by the executors of a Spark cluster.

    spark-submit examples/spark_workers.py LAKE PATH... [OPTION OF "firmlake convert"...]

The driver and every executor have firmlake, and reach the lake and the files under the same names. Credentials are those of
each machine (its role, or ~/.aws): the driver sends none. FIRMLAKE is the command (default: firmlake), PAUSE the seconds
before Spark tries a unit again (default: 5).
"""

import json
import os
import shlex
import subprocess
import sys

from pyspark.sql import SparkSession

# Variables that the executors get from the driver; rdd.pipe gives a command no others.
SENT = ["PATH", "HOME", "AWS_REGION", "AWS_ENDPOINT_URL", "FIRMLAKE_WORK_DIR"]

# 2, 3 and 4 fail the same each time: they are results, and Spark does not try them again.
WORK = """
while read -r unit; do
  code=0
  $FIRMLAKE run work "$RUN" --lake "$LAKE" --unit "$unit" >&2 || code=$?
  case $code in
    0 | 2 | 3 | 4 | 6) echo "$code" ;;
    *) sleep "$PAUSE"; exit "$code" ;;
  esac
done
"""


def main(lake, inputs):
    firmlake = os.environ.get("FIRMLAKE", "firmlake")
    command = shlex.split(firmlake)
    plan = subprocess.run(
        [*command, "convert", *inputs, "--lake", lake, "--plan-only", "--json"], stdout=subprocess.PIPE
    )
    if plan.returncode != 0:
        return plan.returncode
    planned = json.loads(plan.stdout)
    if planned.get("run") is None:
        print("Nothing to load.")
        return 0
    run, units = planned["run"], planned["units"]

    env = {name: os.environ[name] for name in SENT if name in os.environ}
    env.update(FIRMLAKE=firmlake, RUN=run, LAKE=lake, PAUSE=os.environ.get("PAUSE", "5"))
    context = SparkSession.builder.appName(f"firmlake {run}").getOrCreate().sparkContext
    work = context.parallelize(range(units), max(1, units)).pipe(shlex.join(["sh", "-c", WORK]), env, checkCode=True)
    failed = [int(code) for code in work.collect() if code not in ("0", "6")]
    context.stop()
    if failed:
        return failed[0]
    return subprocess.run([*command, "run", "commit", run, "--lake", lake]).returncode


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2:]))
