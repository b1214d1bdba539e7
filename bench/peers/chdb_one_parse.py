"""chDB with one parse: lines into a table that keeps nothing; three materialised views of it write Parquet files."""

from chdb.session import Session
from common import arguments, money_items, scaled_items

SIMPLE = {
    "text": "Nullable(String)", "integer": "Nullable(Int64)", "number": "Nullable(Float64)", "boolean": "Nullable(Bool)",
}


def clickhouse_type(shape):
    if isinstance(shape, str):
        return SIMPLE[shape]
    if "list" in shape:
        return f"Array({clickhouse_type(shape['list'])})"
    return tuple_of({name: clickhouse_type(one) for name, one in shape["struct"].items()})


def tuple_of(fields):
    return f"Tuple({', '.join(f'`{name}` {kind}' for name, kind in fields.items())})"


def quoted(texts):
    return ", ".join(f"'{text}'" for text in texts)


shape, out, files = arguments()
statements = shape["consolidations"]
parts = {}
for column in shape["companies"]:
    if "field" in column:
        parts.setdefault(column["part"], {})[column["field"]] = clickhouse_type(column["type"])
    else:
        parts[column["part"]] = clickhouse_type(column["type"])
SERIES = "Map(UInt16, Nullable(Float64))"
NAME = "LowCardinality(String)"
for one in statements:
    parts["EnhancedDetails"][one["employees"]] = SERIES
    parts[one["figures"]] = f"Map({NAME}, Map({NAME}, {SERIES}))"
structure = ", ".join(f"`{n}` {kind if isinstance(kind, str) else tuple_of(kind)}" for n, kind in parts.items())

companies = ", ".join(
    f"{c['part']}.{c['field']} AS {c['column']}" if "field" in c else f"{c['part']} AS {c['column']}"
    for c in shape["companies"]
)
who = "BasicDetails.InternalId AS internal_id, BasicDetails.CountryCode AS country_code"
scale = "ifNull(MetaData.FinancialFigureScale, 'None')"
factor = f"transform({scale}, [{quoted(shape['scales'])}], [{', '.join(f'{v}.0' for v in shape['scales'].values())}], 0.0)"


def from_statements(field):
    return f"""ARRAY JOIN [{quoted(s['name'] for s in statements)}] AS consolidation,
      [{', '.join(field(s) for s in statements)}] AS found"""


views = {
    "companies": f"SELECT {companies} FROM lines",
    "financials": f"""
      SELECT internal_id, country_code, consolidation, category, line_item, toInt16(years.1) AS fiscal_year,
        assumeNotNull(years.2) * if(line_item IN ({quoted(scaled_items(shape))}), factor, 1.0) AS value,
        if(line_item IN ({quoted(money_items(shape))}), own_currency, NULL) AS currency
      FROM (
        SELECT {who}, MetaData.CurrentCurrencyCode AS own_currency, {factor} AS factor,
          consolidation, categories.1 AS category, items.1 AS line_item, items.2 AS series
        FROM (
          SELECT BasicDetails, MetaData, consolidation, categories FROM (
            SELECT BasicDetails, MetaData, consolidation, found FROM lines
            {from_statements(lambda s: s['figures'])})
          ARRAY JOIN CAST(found, 'Array(Tuple({NAME}, Map({NAME}, {SERIES})))') AS categories)
        ARRAY JOIN CAST(categories.2, 'Array(Tuple({NAME}, {SERIES}))') AS items)
      ARRAY JOIN CAST(series, 'Array(Tuple(UInt16, Nullable(Float64)))') AS years
      WHERE isNotNull(years.2)""",
    "employees": f"""
      SELECT internal_id, country_code, consolidation, toInt16(years.1) AS fiscal_year,
        assumeNotNull(years.2) AS employees
      FROM (SELECT {who}, consolidation, found FROM lines
        {from_statements(lambda s: 'EnhancedDetails.' + s['employees'])})
      ARRAY JOIN CAST(found, 'Array(Tuple(UInt16, Nullable(Float64)))') AS years
      WHERE isNotNull(years.2)""",
}
session = Session()
session.query("SET output_format_parquet_compression_method = 'zstd', input_format_skip_unknown_fields = 1")
session.query("SET parallel_view_processing = 1, print_pretty_type_names = 0")
session.query(f"CREATE TABLE lines ({structure}) ENGINE = Null")
for name, select in views.items():
    (out / name).mkdir(parents=True)
    described = session.query(f"DESCRIBE ({select})", "TabSeparatedRaw").bytes().decode()
    columns = ", ".join(" ".join(line.split("\t")[:2]) for line in described.splitlines())
    session.query(f"CREATE TABLE {name} ({columns}) ENGINE = File(Parquet, '{out / name}/0.parquet')")
    session.query(f"CREATE MATERIALIZED VIEW to_{name} TO {name} AS {select}")
# One statement: a Parquet file takes no second one.
names = f"{files[0].parent}/{{{','.join(file.name for file in files)}}}"
session.query(f"INSERT INTO lines SELECT * FROM file('{names}', JSONEachRow, $${structure}$$)")
session.close()
