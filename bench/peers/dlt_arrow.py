"""dlt with Arrow tables: resources that yield tables, which dlt writes to a folder as Parquet with its load package."""

import os
import shutil

from common import arguments

shape, out, files = arguments()
working = out.with_name(f"{out.name}-dlt")
os.environ.update({
    "RUNTIME__DLTHUB_TELEMETRY": "false",
    "RUNTIME__LOG_LEVEL": "ERROR",
    "DESTINATION__FILESYSTEM__BUCKET_URL": str(out.parent),
    "DESTINATION__FILESYSTEM__LAYOUT": "{table_name}/{load_id}.{file_id}.{ext}",
    "DATA_WRITER__COMPRESSION": "zstd",
})

import dlt  # noqa: E402
from arrow_tables import Flattener  # noqa: E402


def blocks():
    for file in files:
        yield from Flattener(shape).blocks(file)


@dlt.resource(name="blocks")
def tables():
    for block in blocks():
        for name, table in block.items():
            yield dlt.mark.with_table_name(table, name)


pipeline = dlt.pipeline("peer", pipelines_dir=str(working), destination="filesystem", dataset_name=out.name)
pipeline.run(tables(), loader_file_format="parquet").raise_on_failed_jobs()
shutil.rmtree(working)
