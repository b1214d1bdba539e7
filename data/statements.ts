/** A small model of a business: absolute yearly figures of every line item that hang together. */

import type { LineItemName } from '../src/contract/line-items.ts'
import type { Random } from './random.ts'

/** All line items of one fiscal year; amounts absolute. */
export type Statement = Readonly<Record<LineItemName, number>>

export interface Business {
  readonly firstYear: number
  readonly years: number
  /** Net sales of the first year in whole currency units. */
  readonly sales: number
  /** Units of the currency for one US dollar, about. */
  readonly perDollar: number
}

interface Core {
  readonly sales: number
  readonly gross: number
  readonly ebitda: number
  readonly ebit: number
  readonly preTax: number
  readonly net: number
  readonly assets: number
  readonly current: number
  readonly employees: number
}

const growth = (now: number, before: number | undefined): number =>
  before === undefined || before === 0 ? 0 : now / before - 1
const yearlyGrowth = (now: number, before: number | undefined, years: number): number =>
  before === undefined || before === 0 || now / before <= 0 ? 0 : (now / before) ** (1 / years) - 1

/** The figures that others follow from: sales grow, the rest are shares of them that waver. */
const coresOf = (random: Random, { years, sales, perDollar }: Business): readonly Core[] => {
  const trend = random.around(0.05, 0.05)
  const margin = random.around(0.13, 0.09)
  const wear = random.between(0.01, 0.05)
  const turn = random.between(0.6, 1.8)
  const perEmployee = random.between(90_000, 400_000) * perDollar
  const cores: Core[] = []
  let now = sales
  for (let year = 0; year < years; year++) {
    const ebitda = now * (margin + random.around(0, 0.02))
    const ebit = ebitda - now * wear
    const preTax = ebit - now * random.between(0, 0.02)
    const assets = now * turn * random.between(0.9, 1.1)
    cores.push({
      sales: now,
      gross: now * (0.3 + margin),
      ebitda,
      ebit,
      preTax,
      net: preTax > 0 ? preTax * 0.78 : preTax,
      assets,
      current: assets * random.between(0.35, 0.5),
      employees: Math.round(now / perEmployee),
    })
    now *= 1 + random.around(trend, 0.08)
  }
  return cores
}

export interface FiscalYear {
  readonly year: number
  readonly employees: number
  readonly figures: Statement
}

/** Statements and headcount, year by year from `firstYear`. */
export const statementsOf = (random: Random, business: Business): readonly FiscalYear[] => {
  const cores = coresOf(random, business)
  const equityShare = random.between(0.2, 0.6)
  const shares = Math.round(business.sales / random.between(5, 50)) + 1
  const multiple = random.between(5, 14)
  const family = random.between(3, 40)
  const minority = random.chance(0.6) ? 0 : random.between(0.001, 0.03)
  const goodwill = random.chance(0.4) ? 0 : random.between(0.01, 0.2)
  const endMonth = random.chance(0.85) ? 12 : random.whole(1, 11)
  const risk = random.whole(1, 5)
  const charges = random.chance(0.5) ? 0 : random.whole(1, 9)

  return cores.map((core, at) => {
    const { sales, gross, ebitda, ebit, preTax, net, assets, current, employees } = core
    const [before, third, fifth] = [cores[at - 1], cores[at - 3], cores[at - 5]]
    const equity = assets * equityShare
    const debt = assets * (1 - equityShare) * 0.4
    const cash = current * 0.3
    const value = Math.max(ebitda, sales * 0.02) * multiple
    const market = value - debt + cash
    const wear = ebitda - ebit
    return {
      year: business.firstYear + at,
      employees,
      figures: {
        AccountsPayable: assets * 0.08,
        AccountReceivables: current * 0.4,
        CashEquivalents: cash,
        CurrentFinancialAssets: current * 0.05,
        CurrentFinancialLiabilities: debt * 0.3,
        GoodwillAndIntangibleAssets: assets * goodwill,
        Inventories: current * 0.25,
        MinorityInterest: equity * minority,
        NonCurrentFinancialLiabilities: debt * 0.7,
        NonCurrentFinancialReceivables: assets * 0.02,
        OtherCurrentOperatingAssets: current * 0.1,
        OtherCurrentOperatingLiabilities: assets * 0.06,
        OtherNonCurrentOperatingAssets: assets * 0.03,
        OtherNonCurrentOperatingLiabilities: assets * 0.04,
        PostEmployeeLiabilities: assets * 0.01,
        ProfitAndLossAccount: equity * 0.7,
        PropertyPlantAndEquipment: (assets - current) * 0.7,
        ShareCapital: shares,
        ShareholderEquity: equity * (1 - minority),
        TotalAssets: assets,
        TotalCurrentAssets: current,
        TotalCurrentLiabilities: assets * (1 - equityShare) * 0.5,
        TotalEquity: equity,
        TotalNonCurrentAssets: assets - current,
        AdministrativeExpenses: -sales * 0.06,
        Amortisation: -wear * 0.2,
        CostOfSales: gross - sales,
        Depreciation: -wear * 0.8,
        DepreciationAmortisation: -wear,
        EBIT: ebit,
        EBITA: ebit + wear * 0.2,
        EBITD: ebitda - wear * 0.2,
        EBITDA: ebitda,
        FinancialExpenses: (preTax - ebit) * 1.2,
        FinancialIncome: (ebit - preTax) * 0.2,
        GrossProfit: gross,
        NetFinancialIncomeOrExpenses: preTax - ebit,
        NetProfit: net,
        NetSales: sales,
        OtherExternalExpenses: -sales * 0.12,
        PersonelExpenses: -sales * 0.24,
        PreTaxProfit: preTax,
        RawMaterialsAndConsumables: -sales * 0.31,
        SellingExpenses: -sales * 0.05,
        TotalRevenue: sales * 1.02,
        CashFlowBeforeFinancialActivites: ebitda * 0.5,
        CashflowOperating: ebitda * 0.85,
        NetChangeInCash: ebitda * 0.1 - wear * 0.2,
        Cagr3YearsNetSales: yearlyGrowth(sales, third?.sales, 3),
        Cagr5YearsNetSales: yearlyGrowth(sales, fifth?.sales, 5),
        Cagr3YearsEBIT: yearlyGrowth(ebit, third?.ebit, 3),
        Cagr5YearsEBIT: yearlyGrowth(ebit, fifth?.ebit, 5),
        Cagr3YearsGrossProfit: yearlyGrowth(gross, third?.gross, 3),
        Cagr5YearsGrossProfit: yearlyGrowth(gross, fifth?.gross, 5),
        Cagr3YearsEBITDA: yearlyGrowth(ebitda, third?.ebitda, 3),
        Cagr5YearsEBITDA: yearlyGrowth(ebitda, fifth?.ebitda, 5),
        Cagr3YearsNumberOfEmployees: yearlyGrowth(employees, third?.employees, 3),
        Cagr5YearsNumberOfEmployees: yearlyGrowth(employees, fifth?.employees, 5),
        Cagr3YearsTotalAssets: yearlyGrowth(assets, third?.assets, 3),
        Cagr5YearsTotalAssets: yearlyGrowth(assets, fifth?.assets, 5),
        Cagr3YearsTotalCurrentAssets: yearlyGrowth(current, third?.current, 3),
        Cagr5YearsTotalCurrentAssets: yearlyGrowth(current, fifth?.current, 5),
        Dividends: Math.max(0, net * 0.4),
        DPS: Math.max(0, net * 0.4) / shares,
        EV: value,
        EBITDAGrowth: growth(ebitda, before?.ebitda),
        EBITDAMargin: ebitda / sales,
        EBITGrowth: growth(ebit, before?.ebit),
        EBITMargin: ebit / sales,
        EmployeeGrowth: growth(employees, before?.employees),
        EPS: net / shares,
        EVToEBIT: value / ebit,
        EVToEBITDA: value / ebitda,
        EVToNetSales: value / sales,
        EquityRatio: equityShare,
        GrossProfitGrowth: growth(gross, before?.gross),
        GrossProfitMargin: gross / sales,
        MarketCap: market,
        NetCapex: -wear * 1.1,
        NetDebt: debt - cash,
        NetDebtToEquity: (debt - cash) / equity,
        NetDebtToEBIT: (debt - cash) / ebit,
        NetDebtToEBITDA: (debt - cash) / ebitda,
        NetProfitGrowth: growth(net, before?.net),
        NetProfitMargin: net / sales,
        NetSalesGrowth: growth(sales, before?.sales),
        PE: market / net,
        PreTaxProfitMargin: preTax / sales,
        PriceToBookValue: market / equity,
        RetainedEarnings: equity * 0.6,
        ReturnOnEquity: net / equity,
        RRK: risk,
        UltimateParentDeprAmo: -wear * family,
        UltimateParentEBIT: ebit * family,
        UltimateParentEBITDA: ebitda * family,
        UltimateParentNetSales: sales * family,
        ChargesOutstanding: charges,
        FiscalYearEndMonth: endMonth,
        FiscalYearLength: at === 0 && endMonth !== 12 ? endMonth : 12,
        ShareIssuePriceEarnings: (market / net) * 0.9,
        ShareIssuePriceEquity: (market / equity) * 0.9,
        ShareIssuePriceSales: (market / sales) * 0.9,
        TotalCharges: charges + 1,
        TotalShareIssueAmount: equity * 0.05,
      },
    }
  })
}
