"""Python with orjson and pyarrow: a process for each file, blocks of records to Arrow tables, Parquet with zstd."""

import os
from concurrent.futures import ProcessPoolExecutor

import pyarrow.parquet as pq
from arrow_tables import Flattener
from common import arguments


def convert(shape, out, number, file):
    writers = {}
    for tables in Flattener(shape).blocks(file):
        for name, table in tables.items():
            if name not in writers:
                writers[name] = pq.ParquetWriter(out / name / f"{number}.parquet", table.schema, compression="zstd")
            writers[name].write_table(table)
    for writer in writers.values():
        writer.close()


def main():
    shape, out, files = arguments()
    for name in ("companies", "financials", "employees"):
        (out / name).mkdir(parents=True)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for done in [pool.submit(convert, shape, out, number, file) for number, file in enumerate(files)]:
            done.result()


if __name__ == "__main__":
    main()
