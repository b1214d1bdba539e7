"""
Polars: it has no maps, and a struct for each of 104 items by year takes ten times as long. So the statements stay JSON
text, as Polars prints it, which is taken apart by patterns; all else is read with types.
"""

import polars as pl
from common import arguments, decompress

SIMPLE = {"text": pl.String, "integer": pl.Int64, "number": pl.Float64, "boolean": pl.Boolean}
YEAR = r'"\d{4}": [^,}]+'


def polars_type(shape):
    if isinstance(shape, str):
        return SIMPLE[shape]
    if "list" in shape:
        return pl.List(polars_type(shape["list"]))
    return pl.Struct({name: polars_type(one) for name, one in shape["struct"].items()})


def years(column, value):
    """A row of each year of `"2020": 1, "2021": null`."""
    return [
        pl.col(column).str.slice(1, 4).cast(pl.Int16).alias("fiscal_year"),
        pl.col(column).str.slice(8).cast(pl.Float64, strict=False).alias(value),
    ]


shape, out, files = arguments()
statements = shape["consolidations"]
parts = {}
for column in shape["companies"]:
    if "field" in column:
        parts.setdefault(column["part"], {})[column["field"]] = polars_type(column["type"])
    else:
        parts[column["part"]] = polars_type(column["type"])
for one in statements:
    parts["EnhancedDetails"][one["employees"]] = parts[one["figures"]] = pl.String
schema = {name: pl.Struct(one) if isinstance(one, dict) else one for name, one in parts.items()}

paths = decompress(files, out / "spool")
for name in ("companies", "financials", "employees"):
    (out / name).mkdir()
items = pl.LazyFrame(shape["items"]).rename({"lineItem": "line_item"})

for number, path in enumerate(paths):
    lines = pl.read_ndjson(path, schema=schema).lazy()
    companies = lines.select(
        (pl.col(c["part"]).struct.field(c["field"]) if "field" in c else pl.col(c["part"])).alias(c["column"])
        for c in shape["companies"]
    )
    base = lines.select(
        pl.col("BasicDetails").struct.field("InternalId").alias("internal_id"),
        pl.col("BasicDetails").struct.field("CountryCode").alias("country_code"),
        pl.col("MetaData").struct.field("CurrentCurrencyCode").alias("currency"),
        pl.col("MetaData")
        .struct.field("FinancialFigureScale")
        .fill_null("None")
        .replace_strict(shape["scales"], return_dtype=pl.Float64)
        .alias("factor"),
        *[one["figures"] for one in statements],
        *[pl.col("EnhancedDetails").struct.field(one["employees"]) for one in statements],
    )
    who = ["internal_id", "country_code"]
    financials, employees = [], []
    for one in statements:
        financials.append(
            base.select(*who, "currency", "factor", item=pl.col(one["figures"]).str.extract_all(r'"\w+": \{"\d[^{}]*\}'))
            .explode("item")
            .drop_nulls("item")
            .select(
                *who, "currency", "factor", pl.col("item").str.extract(r'^"(\w+)"').alias("line_item"),
                pl.col("item").str.extract_all(YEAR).alias("year"),
            )
            .explode("year")
            .select(*who, "currency", "factor", "line_item", *years("year", "value"))
            .drop_nulls("value")
            .join(items, on="line_item")
            .select(
                *who, pl.lit(one["name"]).alias("consolidation"), "category", "line_item", "fiscal_year",
                pl.when("scaled").then(pl.col("value") * pl.col("factor")).otherwise("value").alias("value"),
                pl.when("isMoney").then("currency").alias("currency"),
            )
        )
        employees.append(
            base.select(*who, year=pl.col(one["employees"]).str.extract_all(YEAR))
            .explode("year")
            .select(*who, pl.lit(one["name"]).alias("consolidation"), *years("year", "employees"))
            .drop_nulls("employees")
        )
    tables = {"companies": companies, "financials": pl.concat(financials), "employees": pl.concat(employees)}
    for name, table in tables.items():
        table.sink_parquet(out / name / f"{number}.parquet", compression="zstd")
    path.unlink()
