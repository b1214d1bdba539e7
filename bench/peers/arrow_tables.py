"""Records to Arrow tables, a block at a time: orjson reads, Python walks, NumPy repeats what many figures share."""

from itertools import islice

import numpy as np
import orjson
import pyarrow as pa
from common import employee_rows, lines_of, money_items, scaled_items, value_of

RECORDS = 3_000
SIMPLE = {"text": pa.string(), "integer": pa.int64(), "number": pa.float64(), "boolean": pa.bool_()}


def arrow_type(shape):
    if isinstance(shape, str):
        return SIMPLE[shape]
    if "list" in shape:
        return pa.list_(arrow_type(shape["list"]))
    return pa.struct([(name, arrow_type(one)) for name, one in shape["struct"].items()])


class Flattener:
    def __init__(self, shape):
        self.shape = shape
        self.schema = pa.schema([(c["column"], arrow_type(c["type"])) for c in shape["companies"]])
        self.places = [(c["part"], c.get("field"), c["column"]) for c in shape["companies"]]
        self.categories = list(dict.fromkeys(item["category"] for item in shape["items"]))
        self.items = [item["lineItem"] for item in shape["items"]]
        self.codes = {name: code for code, name in enumerate(self.items)}
        self.category_of = np.array([self.categories.index(i["category"]) for i in shape["items"]], np.int8)
        self.scaled = np.isin(self.items, scaled_items(shape))
        self.not_money = ~np.isin(self.items, money_items(shape))
        self.years = {str(year): year for year in range(1800, 2200)}

    def blocks(self, file):
        """Tables of each block: companies, financials, employees."""
        lines = lines_of(file)
        while block := list(islice(lines, RECORDS)):
            records = [orjson.loads(line) for line in block]
            yield {
                "companies": self.companies(records),
                "financials": self.financials(records),
                "employees": self.employees(records),
            }

    def companies(self, records):
        columns = [[value_of(record, part, field) for record in records] for part, field, _ in self.places]
        return pa.table(
            [pa.array(values, type=one.type) for values, one in zip(columns, self.schema)], schema=self.schema
        )

    def financials(self, records):
        """A series is one entry of each list but the last two; NumPy makes rows of them."""
        ids, countries, currencies, factors = [], [], [], []
        owners, statements, codes, counts, years, values = [], [], [], [], [], []
        scales, code_of, year_of = self.shape["scales"], self.codes, self.years
        for owner, record in enumerate(records):
            basic, meta = record.get("BasicDetails") or {}, record.get("MetaData") or {}
            ids.append(basic.get("InternalId"))
            countries.append(basic.get("CountryCode"))
            currencies.append(meta.get("CurrentCurrencyCode"))
            factors.append(scales[meta.get("FinancialFigureScale") or "None"])
            for number, consolidation in enumerate(self.shape["consolidations"]):
                for items in (record.get(consolidation["figures"]) or {}).values():
                    for item, series in (items or {}).items():
                        if not series:
                            continue
                        owners.append(owner)
                        statements.append(number)
                        codes.append(code_of[item])
                        counts.append(len(series))
                        years.extend([year_of[year] for year in series])
                        values.extend(series.values())
        owner = np.repeat(np.array(owners, np.int32), counts)
        code = np.repeat(np.array(codes, np.int16), counts)
        statement = np.repeat(np.array(statements, np.int8), counts)
        figures = pa.array(values, pa.float64())
        number = figures.to_numpy(zero_copy_only=False)
        factor = np.where(self.scaled[code], np.array(factors, np.float64)[owner], 1.0)

        def chosen(names, indices):
            return pa.DictionaryArray.from_arrays(pa.array(indices), pa.array(names, pa.string()))

        def of_owner(texts, without=None):
            encoded = pa.array(texts, pa.string()).dictionary_encode()
            return encoded.take(pa.array(owner, mask=without))

        table = pa.table({
            "internal_id": pa.array(ids, pa.int64()).take(pa.array(owner)),
            "country_code": of_owner(countries),
            "consolidation": chosen([c["name"] for c in self.shape["consolidations"]], statement),
            "category": chosen(self.categories, self.category_of[code]),
            "line_item": chosen(self.items, code),
            "fiscal_year": pa.array(years, pa.int16()),
            "value": pa.array(number * factor),
            "currency": of_owner(currencies, self.not_money[code]),
        })
        return table.filter(figures.is_valid()) if figures.null_count else table

    def employees(self, records):
        columns = {"internal_id": [], "country_code": [], "consolidation": [], "fiscal_year": [], "employees": []}
        for record in records:
            employee_rows(self.shape, record, columns)
        types = {
            "internal_id": pa.int64(), "country_code": pa.string(), "consolidation": pa.string(),
            "fiscal_year": pa.int16(), "employees": pa.float64(),
        }
        table = pa.table({name: pa.array(values, types[name]) for name, values in columns.items()})
        return table.filter(table["employees"].is_valid())
