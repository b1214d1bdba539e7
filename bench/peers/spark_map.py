"""Spark on this machine: JSON with a schema of maps, three times exploded, written as Parquet with zstd."""

from common import arguments, decompress, money_items, scaled_items
from pyspark import SparkContext
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

SIMPLE = {"text": "string", "integer": "bigint", "number": "double", "boolean": "boolean"}


def spark_type(shape):
    if isinstance(shape, str):
        return SIMPLE[shape]
    if "list" in shape:
        return f"array<{spark_type(shape['list'])}>"
    return f"struct<{', '.join(f'`{name}`: {spark_type(one)}' for name, one in shape['struct'].items())}>"


def struct(fields):
    return f"struct<{', '.join(f'`{name}`: {kind}' for name, kind in fields.items())}>"


shape, out, files = arguments()
paths = decompress(files, out / "spool")
spark = (
    SparkSession.builder.master("local[*]")
    .config("spark.driver.memory", "2g")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.parquet.compression.codec", "zstd")
    .config("spark.sql.caseSensitive", "true")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")


def lines(schema):
    return spark.read.schema(", ".join(f"`{name}` {kind}" for name, kind in schema.items())).json([str(path) for path in paths])


parts = {}
for column in shape["companies"]:
    if "field" in column:
        parts.setdefault(column["part"], {})[column["field"]] = spark_type(column["type"])
    else:
        parts[column["part"]] = spark_type(column["type"])
companies = lines({name: kind if isinstance(kind, str) else struct(kind) for name, kind in parts.items()}).select(
    *[F.col(f"{c['part']}.{c['field']}" if "field" in c else c["part"]).alias(c["column"]) for c in shape["companies"]]
)

WHO = struct({"InternalId": "bigint", "CountryCode": "string"})
# Keys of JSON are texts.
SERIES = "map<string, double>"
statements = [(c["name"], c["figures"], c["employees"]) for c in shape["consolidations"]]
factor = F.create_map(*[F.lit(one) for pair in shape["scales"].items() for one in pair])
figures = lines({
    "BasicDetails": WHO,
    "MetaData": struct({"CurrentCurrencyCode": "string", "FinancialFigureScale": "string"}),
    **{name: f"map<string, map<string, {SERIES}>>" for _, name, _ in statements},
})
financials = (
    figures.select(
        F.col("BasicDetails.InternalId").alias("internal_id"),
        F.col("BasicDetails.CountryCode").alias("country_code"),
        F.col("MetaData.CurrentCurrencyCode").alias("currency"),
        factor[F.coalesce("MetaData.FinancialFigureScale", F.lit("None"))].alias("factor"),
        F.explode(F.create_map(*[o for name, one, _ in statements for o in (F.lit(name), F.col(one))])).alias(
            "consolidation", "categories"
        ),
    )
    .select("*", F.explode("categories").alias("category", "items"))
    .select("*", F.explode("items").alias("line_item", "years"))
    .select("*", F.explode("years").alias("fiscal_year", "figure"))
    .where("figure IS NOT NULL")
    .select(
        *["internal_id", "country_code", "consolidation", "category", "line_item"],
        F.col("fiscal_year").cast("smallint").alias("fiscal_year"),
        (F.col("figure") * F.when(F.col("line_item").isin(scaled_items(shape)), F.col("factor")).otherwise(1)).alias(
            "value"
        ),
        F.when(F.col("line_item").isin(money_items(shape)), F.col("currency")).alias("currency"),
    )
)
head_counts = lines({"BasicDetails": WHO, "EnhancedDetails": struct({one: SERIES for _, _, one in statements})})
employees = (
    head_counts.select(
        F.col("BasicDetails.InternalId").alias("internal_id"),
        F.col("BasicDetails.CountryCode").alias("country_code"),
        F.explode(
            F.create_map(*[o for name, _, one in statements for o in (F.lit(name), F.col(f"EnhancedDetails.{one}"))])
        ).alias("consolidation", "years"),
    )
    .select("*", F.explode("years").alias("year", "employees"))
    .where("employees IS NOT NULL")
    .select(
        *["internal_id", "country_code", "consolidation"],
        F.col("year").cast("smallint").alias("fiscal_year"),
        "employees",
    )
)
for name, table in {"companies": companies, "financials": financials, "employees": employees}.items():
    table.write.parquet(str(out / name))

# The JVM is a process of its own; it counts only when it was waited for.
jvm = SparkContext._gateway.proc
spark.stop()
jvm.stdin.close()
jvm.wait()
for path in paths:
    path.unlink()
