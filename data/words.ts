/** Word lists of an invented business world. Names are made of syllables and mean nobody. */

export interface Country {
  readonly code: string
  readonly currency: string
  /** Units of the currency for one US dollar, about. */
  readonly perDollar: number
  readonly suffix: string
  readonly orgNoDigits: number
  /** Share of companies with statements that report an EBITDA. */
  readonly ebitdaShare: number
}
const country = (
  code: string,
  currency: string,
  perDollar: number,
  suffix: string,
  orgNoDigits: number,
  ebitdaShare: number,
): Country => ({ code, currency, perDollar, suffix, orgNoDigits, ebitdaShare })

/** Listed as often as their companies shall occur. */
export const COUNTRIES: readonly Country[] = [
  ...Array.from({ length: 5 }, () => country('SE', 'SEK', 10.5, 'AB', 10, 0.97)),
  ...Array.from({ length: 4 }, () => country('NO', 'NOK', 10.7, 'AS', 9, 0.95)),
  ...Array.from({ length: 3 }, () => country('DK', 'DKK', 6.9, 'A/S', 8, 0.9)),
  ...Array.from({ length: 3 }, () => country('FI', 'EUR', 0.92, 'Oy', 8, 0.92)),
  ...Array.from({ length: 3 }, () => country('DE', 'EUR', 0.92, 'GmbH', 9, 0.7)),
  ...Array.from({ length: 2 }, () => country('GB', 'GBP', 0.79, 'Ltd', 8, 0.62)),
  ...Array.from({ length: 2 }, () => country('FR', 'EUR', 0.92, 'SAS', 9, 0.85)),
  country('NL', 'EUR', 0.92, 'B.V.', 8, 0.58),
  country('PL', 'PLN', 4.0, 'Sp. z o.o.', 10, 0.8),
  country('CH', 'CHF', 0.88, 'AG', 9, 0.4),
  country('US', 'USD', 1, 'Inc.', 9, 0.5),
  country('JP', 'JPY', 150, 'K.K.', 13, 0.75),
]

const HEADS = ['Vel', 'Tar', 'Bren', 'Os', 'Kal', 'Mir', 'Lun', 'Dro', 'Fen', 'Gry', 'Ska', 'Ul', 'Zet', 'Åm']
const TAILS = ['mora', 'vik', 'lund', 'dora', 'stad', 'nett', 'ulma', 'gard', 'sø', 'tela', 'ria', 'kven']
const combine = (heads: readonly string[], tails: readonly string[]): readonly string[] =>
  heads.flatMap((head) => tails.map((tail) => head + tail))

export const BRANDS = combine(HEADS, TAILS)
export const TRADES = [
  'Kraft',
  'Foods',
  'Logistics',
  'Timber',
  'Marine',
  'Robotics',
  'Textiles',
  'Energy',
  'Media',
  'Build',
  'Pharma',
  'Retail',
  'Software',
  'Holding',
  'Glass',
] as const
export const FIRST_NAMES = combine(
  ['Al', 'Be', 'Ce', 'Dag', 'El', 'Fi', 'Ing', 'Jo', 'Li', 'Ró'],
  ['vo', 'rin', 'ma', 'nelle', 'dis'],
)
export const LAST_NAMES = combine(
  ['Quer', 'Van', 'Holm', 'Ost', 'Pel', 'Rask', 'Sund', 'Tve'],
  ['nador', 'brik', 'ulien', 'øre', 'esko'],
)
export const CITIES = combine(['Norr', 'Öster', 'Elk', 'Stor', 'Grön'], ['hamn', 'by', 'fors', 'mark'])
export const STREETS = [
  'Long Lane',
  'Quay Road',
  'Mill Street',
  'Storgatan',
  'Ringveien',
  'Birkenallee',
] as const
export const KEYWORDS = [
  'wood',
  'bolts',
  'freight',
  'retail',
  'software',
  'energy',
  'glass',
  'harbour',
  'design',
  'export',
  'leasing',
  'wholesale',
] as const
export const SENTENCES = [
  'Makes and sells parts for industry in the whole region.',
  'Runs warehouses and carries goods by road and sea.',
  'Owns shares in other companies and lends them money.',
  'Develops software for shops, farms and schools.',
  'Builds houses and keeps them in good order.',
  'Grows, freezes and packs vegetables.',
] as const
export const ORIGINALS = [
  'Tillverkar och säljer delar till industrin i hela regionen.',
  'Driver lagre og frakter gods på vei og sjø.',
  'Besitzt Anteile an anderen Unternehmen und verwaltet sie für Dritte.',
  'Kehittää ohjelmistoja kaupoille, maatiloille ja kouluille.',
] as const
/** Invented classification codes with their text. */
export const INDUSTRIES = [
  { code: '16.231', text: 'Wooden doors and frames' },
  { code: '25.940', text: 'Fasteners and screws' },
  { code: '46.190', text: 'Agents in the sale of various goods' },
  { code: '49.410', text: 'Freight by road' },
  { code: '62.010', text: 'Computer programming' },
  { code: '64.202', text: 'Holding companies' },
] as const
export const ROLES = [
  { id: 1, text: 'Chair of the board', category: 'Board' },
  { id: 2, text: 'Member of the board', category: 'Board' },
  { id: 3, text: 'Chief executive', category: 'Management' },
  { id: 4, text: 'Auditor', category: 'Audit' },
  { id: 5, text: 'Deputy member', category: 'Board' },
] as const

/** Text that loaders get wrong: scripts, directions, escapes, and what looks like something else. */
export const AWKWARD_STRINGS = [
  'Åse Ærø Østlånd & Søn A/S',
  '株式会社 霧原製作所',
  '한빛물산 주식회사',
  'Rocket 🚀 & family 👨‍👩‍👧 Oy',
  'شركة الوادي للتجارة',
  'חברת העמק בע״מ',
  'Cafe\u0301 composed of two',
  'The "quoted" \\ back\\slash\\\\ company',
  'line one\nline two\r\n\ttabbed',
  'before\u0000after',
  'separators\u2028and\u2029marks\ufeff',
  '',
  '  spaces around  ',
  'null',
  'NaN',
  '0001-01-01T00:00:00',
  '{"looks":["like",1,"json"]}',
  "'; DROP TABLE companies; --",
  '__proto__',
  'a, b; c\td | "e"',
  'long '.repeat(1_500),
] as const
