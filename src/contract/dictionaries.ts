/** The service's code dictionaries ("Code dictionaries"), the figure scales and the two consolidations. */

export interface CodeValue {
  /** As it stands in JSON: integer codes are numbers, string codes are text. */
  readonly value: number | string
  /** The text for the code, as the table spells it. */
  readonly name: string
  readonly meaning?: string
}
export interface Dictionary {
  readonly name: string
  readonly about: string
  readonly values: readonly CodeValue[]
}

/** The factor that makes an amount absolute, by `MetaData.FinancialFigureScale`. */
export const FIGURE_SCALE = { None: 1, 'No scale': 1, Thousands: 1e3, Millions: 1e6, Billions: 1e9 } as const
/** Name of a scale of figures: `Thousands`, `Millions`, … */
export type FigureScale = keyof typeof FIGURE_SCALE

/** The text in `consolidation` columns, and the field of Company that holds the statements. */
export const CONSOLIDATIONS = [
  { name: 'Consolidated', field: 'Financials', employees: 'Employees' },
  { name: 'Unconsolidated', field: 'UnconsolidatedFinancials', employees: 'EmployeesUnconsolidated' },
] as const
export type Consolidation = (typeof CONSOLIDATIONS)[number]['name']

const coded = <const V extends number>(value: V, name: string, meaning?: string): CodeValue =>
  meaning === undefined ? { value, name } : { value, name, meaning }
/** A code that is its own text. */
const spelled = (value: string, meaning?: string): CodeValue =>
  meaning === undefined ? { value, name: value } : { value, name: value, meaning }

/** Every dictionary of the interface: its codes with their names. */
export const DICTIONARIES = {
  OperationalStatus: {
    name: 'OperationalStatus',
    about: "A company's status; read-only.",
    values: [
      coded(10, 'Active'),
      coded(20, 'InactiveSleeping'),
      coded(21, 'Sleeping'),
      coded(30, 'UnderLiquidation'),
      coded(31, 'Liquidated'),
      coded(40, 'UnderBankruptcy'),
      coded(41, 'Bankrupt'),
      coded(50, 'Dissolved'),
      coded(60, 'Merged'),
      coded(70, 'Unknown'),
      coded(99, 'Unregistered'),
      coded(100, 'Dissolving'),
      coded(101, 'DissolvingByForce'),
      coded(102, 'DissolvedByForce'),
      coded(103, 'UnderReconstruction'),
    ],
  },
  LegalForm: {
    name: 'LegalForm',
    about: 'Legal form of a company.',
    values: [
      coded(1, 'Limited company'),
      coded(2, 'Private business (gov. ctrl)'),
      coded(3, 'Foreign company'),
      coded(4, 'Bank'),
      coded(5, 'Sole proprietorship'),
      coded(6, 'General partnership'),
      coded(7, 'Society'),
      coded(8, 'Foundation'),
      coded(9, 'Housing company'),
      coded(10, 'State/county company'),
      coded(11, 'Religious organisation'),
      coded(12, 'Insurance company'),
      coded(13, 'Collaborations'),
      coded(20, 'Other'),
      coded(99, 'Unknown'),
      coded(100, 'Death nest'),
      coded(101, 'Limited partnership'),
      coded(102, 'Shipping partnership'),
      coded(103, 'Corporation'),
      coded(104, 'Business foundation'),
      coded(105, 'Association'),
      coded(106, 'Cooperative'),
      coded(107, 'Volunteer association'),
      coded(108, 'Association or LLC'),
      coded(109, 'Limited liability company'),
      coded(110, 'Limited association company'),
      coded(111, 'State administration'),
      coded(112, 'European financial company group'),
      coded(113, 'SCE company'),
      coded(114, 'Special financial business'),
      coded(115, 'Partnership'),
      coded(120, 'Sub-division'),
      coded(130, 'European Economic Interest Group'),
      coded(140, 'Limited liability stock company'),
      coded(141, 'Open trading company'),
      coded(142, 'Statutory corporation'),
      coded(143, 'Professional partnership'),
      coded(144, 'Independent subsidiary'),
      coded(145, 'Dependent subsidiary'),
      coded(146, 'Societas Cooperativa Europaea'),
      coded(147, 'Societas Europaea'),
      coded(148, 'Freier Beruf'),
      coded(149, 'Non-profit stock company'),
      coded(150, 'Entrepreneurial limited company'),
    ],
  },
  SearchableLegalForm: {
    name: 'SearchableLegalForm',
    about: 'The subset of LegalForm commonly used as a search filter; other codes may appear in responses.',
    values: [coded(1, 'Limited_corporation'), coded(20, 'Other')],
  },
  CompanyType: {
    name: 'CompanyType',
    about: 'Role of a company in a group hierarchy.',
    values: [
      coded(1, 'ParentGroup', 'Top-level parent of a consolidated group'),
      coded(2, 'SubGroup', 'Sub-group parent within a larger group'),
      coded(4, 'UnconsolidatingUltimateParent', 'Ultimate parent that does not consolidate subsidiaries'),
      coded(5, 'UnconsolidatingSubsidiary', 'Subsidiary not consolidated into parent accounts'),
      coded(7, 'Independent', 'Not part of a group'),
    ],
  },
  IndustryItemType: {
    name: 'IndustryItemType',
    about: 'Classification that an industry code belongs to.',
    values: [spelled('Nace')],
  },
  ListingType: {
    name: 'ListingType',
    about: 'Whether a company is listed.',
    values: [spelled('Listed', 'company is listed'), spelled('Private', 'not listed')],
  },
  FinancialFigureScale: {
    name: 'FinancialFigureScale',
    about: 'Scale of the amounts as they come; `None` is the default.',
    values: Object.entries(FIGURE_SCALE).map(([scale, factor]) =>
      spelled(scale, factor === 1 ? 'absolute values' : `multiply by ${factor}`),
    ),
  },
  ConsolidationType: {
    name: 'ConsolidationType',
    about: 'Internal classification of financial statements.',
    values: [
      coded(0, 'NoType'),
      coded(1, 'Consolidated', 'figures in `Financials`'),
      coded(2, 'UnConsolidated', 'figures in `UnconsolidatedFinancials`'),
    ],
  },
} as const satisfies Readonly<Record<string, Dictionary>>

export type DictionaryName = keyof typeof DICTIONARIES
