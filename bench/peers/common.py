"""What the peers in Python share: arguments, the shape of a record, decoding, and the flattening into Arrow tables."""

import json
import sys
from itertools import repeat
from pathlib import Path

import brotli

CHUNK = 1 << 20


def arguments():
    """SHAPE.json OUT FILE.jsonl.br …"""
    shape, out, *files = sys.argv[1:]
    return json.loads(Path(shape).read_text()), Path(out), [Path(file) for file in files]


def chunks_of(file):
    decoder = brotli.Decompressor()
    with open(file, "rb") as source:
        while chunk := source.read(CHUNK):
            yield decoder.process(chunk)
    if not decoder.is_finished():
        raise ValueError(f"Cannot decode {file}: it is truncated")


def decompress(files, folder):
    """Writes each file decoded, for tools that read no Brotli; returns the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for file in files:
        path = folder / file.name.removesuffix(".br")
        with open(path, "wb") as target:
            for chunk in chunks_of(file):
                target.write(chunk)
        paths.append(path)
    return paths


def lines_of(file):
    rest = b""
    for chunk in chunks_of(file):
        *lines, rest = (rest + chunk).split(b"\n")
        yield from lines
    if rest:
        yield rest


def value_of(record, part, field):
    found = record.get(part)
    return found if field is None or found is None else found.get(field)


def scaled_items(shape):
    return [item["lineItem"] for item in shape["items"] if item["scaled"]]


def money_items(shape):
    return [item["lineItem"] for item in shape["items"] if item["isMoney"]]


def employee_rows(shape, record, columns):
    """Appends the head counts of a record to lists of values."""
    basic, enhanced = record.get("BasicDetails") or {}, record.get("EnhancedDetails") or {}
    for consolidation in shape["consolidations"]:
        years = enhanced.get(consolidation["employees"]) or {}
        columns["internal_id"].extend(repeat(basic.get("InternalId"), len(years)))
        columns["country_code"].extend(repeat(basic.get("CountryCode"), len(years)))
        columns["consolidation"].extend(repeat(consolidation["name"], len(years)))
        columns["fiscal_year"].extend(map(int, years.keys()))
        columns["employees"].extend(years.values())
