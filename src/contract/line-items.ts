/** The financial categories and their line items, in the interface's order and spelling, with the unit of each. */

/** Units of figures ("Scale" of the open points); `unknown` is for items that the contract does not list. */
export const UNITS = ['amount', 'per share', 'ratio', 'count', 'month', 'months', 'class', 'unknown'] as const
/** The unit of a line item; only amounts are scaled. */
export type Unit = (typeof UNITS)[number]

/**
 * Kinds of figures: `flow` over the months of a fiscal year, `stock` at its end, `ratio` of figures, `count` of things;
 * `unknown` is for items that the contract does not list. Only flows grow with the length of a year.
 */
export type Kind = 'flow' | 'stock' | 'ratio' | 'count' | 'unknown'

const ITEMS_BY_CATEGORY = {
  BalanceSheet: {
    AccountsPayable: 'amount',
    AccountReceivables: 'amount',
    CashEquivalents: 'amount',
    CurrentFinancialAssets: 'amount',
    CurrentFinancialLiabilities: 'amount',
    GoodwillAndIntangibleAssets: 'amount',
    Inventories: 'amount',
    MinorityInterest: 'amount',
    NonCurrentFinancialLiabilities: 'amount',
    NonCurrentFinancialReceivables: 'amount',
    OtherCurrentOperatingAssets: 'amount',
    OtherCurrentOperatingLiabilities: 'amount',
    OtherNonCurrentOperatingAssets: 'amount',
    OtherNonCurrentOperatingLiabilities: 'amount',
    PostEmployeeLiabilities: 'amount',
    ProfitAndLossAccount: 'amount',
    PropertyPlantAndEquipment: 'amount',
    ShareCapital: 'amount',
    ShareholderEquity: 'amount',
    TotalAssets: 'amount',
    TotalCurrentAssets: 'amount',
    TotalCurrentLiabilities: 'amount',
    TotalEquity: 'amount',
    TotalNonCurrentAssets: 'amount',
  },
  ProfitAndLoss: {
    AdministrativeExpenses: 'amount',
    Amortisation: 'amount',
    CostOfSales: 'amount',
    Depreciation: 'amount',
    DepreciationAmortisation: 'amount',
    EBIT: 'amount',
    EBITA: 'amount',
    EBITD: 'amount',
    EBITDA: 'amount',
    FinancialExpenses: 'amount',
    FinancialIncome: 'amount',
    GrossProfit: 'amount',
    NetFinancialIncomeOrExpenses: 'amount',
    NetProfit: 'amount',
    NetSales: 'amount',
    OtherExternalExpenses: 'amount',
    PersonelExpenses: 'amount', // sic
    PreTaxProfit: 'amount',
    RawMaterialsAndConsumables: 'amount',
    SellingExpenses: 'amount',
    TotalRevenue: 'amount',
  },
  CashFlow: {
    CashFlowBeforeFinancialActivites: 'amount', // sic
    CashflowOperating: 'amount', // sic
    NetChangeInCash: 'amount',
  },
  KeyFinancialRatio: {
    Cagr3YearsNetSales: 'ratio',
    Cagr5YearsNetSales: 'ratio',
    Cagr3YearsEBIT: 'ratio',
    Cagr5YearsEBIT: 'ratio',
    Cagr3YearsGrossProfit: 'ratio',
    Cagr5YearsGrossProfit: 'ratio',
    Cagr3YearsEBITDA: 'ratio',
    Cagr5YearsEBITDA: 'ratio',
    Cagr3YearsNumberOfEmployees: 'ratio',
    Cagr5YearsNumberOfEmployees: 'ratio',
    Cagr3YearsTotalAssets: 'ratio',
    Cagr5YearsTotalAssets: 'ratio',
    Cagr3YearsTotalCurrentAssets: 'ratio',
    Cagr5YearsTotalCurrentAssets: 'ratio',
    Dividends: 'amount',
    DPS: 'per share',
    EV: 'amount',
    EBITDAGrowth: 'ratio',
    EBITDAMargin: 'ratio',
    EBITGrowth: 'ratio',
    EBITMargin: 'ratio',
    EmployeeGrowth: 'ratio',
    EPS: 'per share',
    EVToEBIT: 'ratio',
    EVToEBITDA: 'ratio',
    EVToNetSales: 'ratio',
    EquityRatio: 'ratio',
    GrossProfitGrowth: 'ratio',
    GrossProfitMargin: 'ratio',
    MarketCap: 'amount',
    NetCapex: 'amount',
    NetDebt: 'amount',
    NetDebtToEquity: 'ratio',
    NetDebtToEBIT: 'ratio',
    NetDebtToEBITDA: 'ratio',
    NetProfitGrowth: 'ratio',
    NetProfitMargin: 'ratio',
    NetSalesGrowth: 'ratio',
    PE: 'ratio',
    PreTaxProfitMargin: 'ratio',
    PriceToBookValue: 'ratio',
    RetainedEarnings: 'amount',
    ReturnOnEquity: 'ratio',
    RRK: 'class',
  },
  UltimateParent: {
    UltimateParentDeprAmo: 'amount',
    UltimateParentEBIT: 'amount',
    UltimateParentEBITDA: 'amount',
    UltimateParentNetSales: 'amount', // the interface's row says `…NetSalesNet`, its note corrects it
  },
  OtherFinancialItems: {
    ChargesOutstanding: 'count',
    FiscalYearEndMonth: 'month',
    FiscalYearLength: 'months',
    ShareIssuePriceEarnings: 'ratio',
    ShareIssuePriceEquity: 'ratio',
    ShareIssuePriceSales: 'ratio',
    TotalCharges: 'count',
    TotalShareIssueAmount: 'amount',
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Unit>>>>

type Declared = typeof ITEMS_BY_CATEGORY
export type Category = keyof Declared
export type LineItemName = { [C in Category]: keyof Declared[C] }[Category] & string

const KIND_OF_CATEGORY: Readonly<Record<Category, Kind>> = {
  BalanceSheet: 'stock',
  ProfitAndLoss: 'flow',
  CashFlow: 'flow',
  KeyFinancialRatio: 'ratio',
  UltimateParent: 'flow',
  OtherFinancialItems: 'count',
}

/** The line items that are of another kind than their category. */
const KIND_OF_ITEM: { readonly [Name in LineItemName]?: Kind } = {
  Dividends: 'flow',
  DPS: 'flow',
  EPS: 'flow',
  NetCapex: 'flow',
  EV: 'stock',
  MarketCap: 'stock',
  NetDebt: 'stock',
  RetainedEarnings: 'stock',
  ShareIssuePriceEarnings: 'ratio',
  ShareIssuePriceEquity: 'ratio',
  ShareIssuePriceSales: 'ratio',
  TotalShareIssueAmount: 'stock',
}

/** The categories of an income statement and of a balance sheet: a consolidated statement counts if it has a figure of these. */
export const PRIMARY_CATEGORIES: ReadonlySet<Category> = new Set(['ProfitAndLoss', 'BalanceSheet'])

/** A line item with its category and unit. */
export interface LineItem {
  readonly category: Category
  readonly lineItem: LineItemName
  readonly unit: Unit
  readonly kind: Kind
  /** Whether `FinancialFigureScale` applies: to amounts only. */
  readonly scaled: boolean
  /** Whether its figures are in the currency of the company: those of amounts and per-share figures. */
  readonly isMoney: boolean
  /** Whether it says something of the statement, its length or its end, and is no figure of it. */
  readonly isDescriptive: boolean
}

/** Categories of line items, as the financials name them. */
export const CATEGORIES = Object.keys(ITEMS_BY_CATEGORY) as readonly Category[]

/** The line items, category by category. A name occurs in one category only. */
export const LINE_ITEMS: readonly LineItem[] = CATEGORIES.flatMap((category) =>
  Object.entries<Unit>(ITEMS_BY_CATEGORY[category]).map(([lineItem, unit]) => ({
    category,
    lineItem: lineItem as LineItemName,
    unit,
    kind: KIND_OF_ITEM[lineItem as LineItemName] ?? KIND_OF_CATEGORY[category],
    scaled: unit === 'amount',
    isMoney: unit === 'amount' || unit === 'per share',
    isDescriptive: unit === 'month' || unit === 'months',
  })),
)
