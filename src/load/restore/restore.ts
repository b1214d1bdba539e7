/**
 * Gives the current records of a lake back as they came, partition by partition in bounded memory. DuckDB
 * reads and orders, JavaScript puts the texts together: nesting by string aggregation took six times as long.
 */

import type { Content } from '../../contract/objects.ts'
import type { Snapshot } from '../../core/partition.ts'
import { Engine, type Session } from '../../lake/duckdb/engine.ts'
import { newSpillFolder } from '../../lake/duckdb/spill-folder.ts'
import { filesOfThisWork } from '../../storage/check-files.ts'
import { companyPieces } from '../companies.ts'
import { numberedCompanies, numberedItems, orderedFigures } from '../financials.ts'
import { relationRecords } from '../relations.ts'
import { type FigureItem, FigureWriter } from './financials-text.ts'
import { prepareGivingBack, type SessionRequest, type SliceRows, slicesOf, sliceView } from './slices.ts'

export { prepareGivingBack, type SessionRequest } from './slices.ts'

/** A company's record in pieces, so that whoever lays it out knows where each stands. */
export interface CompanyPieces {
  readonly id: bigint
  /** MetaData.CurrentCurrencyCode; undefined where the record has none. */
  readonly currency: string | undefined
  /** Object text of MetaData's other members; undefined where there is none. */
  readonly meta: string | undefined
  /** Object text of the consolidated statements. */
  readonly financials: string | undefined
  /** Object text of the parent-only statements. */
  readonly unconsolidated: string | undefined
  /** Object text of everything else but Score: BasicDetails, EnhancedDetails, LinkedIn, unknown fields. */
  readonly rest: string
  /** JSON text of Score. */
  readonly score: string | undefined
}

/** A relations record as JSON text. */
export interface RelationText {
  readonly id: bigint
  readonly text: string
}

export interface GiveBackRequest {
  /** Folder of the lake. */
  readonly lake: string
  readonly snapshot: Snapshot
  /** @default both, companies first */
  readonly content?: Content | undefined
  /** Only the records of these InternalIds. @default all */
  readonly ids?: readonly bigint[] | undefined
  /** DuckDB's memory in bytes. */
  readonly memoryBytes: number
  readonly threads?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** How far the fetch and check of files are. */
  readonly onFetch?: SessionRequest['onFetch']
}

/** JSON texts of the records, one document each; equal as data to what came in. */
export async function* giveBack(request: GiveBackRequest): AsyncGenerator<string> {
  const { content, memoryBytes, threads, ...what } = request
  const spill = await newSpillFolder()
  const engine = await Engine.open({
    memoryBytes,
    ...(threads !== undefined && { threads }),
    spillFolder: spill.path,
  })
  try {
    const inSession = { ...what, known: filesOfThisWork(), session: await engine.connect() }
    await prepareGivingBack(inSession, content)
    if (content !== 'relations') {
      for await (const companies of giveBackCompanies(inSession)) yield* companies.map(companyText)
    }
    if (content !== 'companies') {
      for await (const relations of giveBackRelations(inSession)) for (const { text } of relations) yield text
    }
  } finally {
    engine.close()
    spill.remove()
  }
}

/** Figures are sorted together, and the other pieces of a slice's companies are held in memory. */
const COMPANY_ROWS: SliceRows = { companies: 16_384, financials: 2_000_000, employees: 400_000 }

/** All current companies, partition by partition, in the order of `slicesOf`. */
export async function* giveBackCompanies(request: SessionRequest): AsyncGenerator<readonly CompanyPieces[]> {
  for await (const _ of slicesOf(request, 'companies', COMPANY_ROWS)) yield* companiesOfSlice(request.session)
}

/** A company without its figures. */
type Profile = Omit<CompanyPieces, 'financials' | 'unconsolidated'>

/** Merges profiles and figures, which come in the same order: nothing is joined or nested in DuckDB. */
async function* companiesOfSlice(session: Session): AsyncGenerator<readonly CompanyPieces[]> {
  const profiles = await profilesOfSlice(session)
  const items = await itemsOfSlice(session)
  const writer = new FigureWriter(items)
  let given = 0
  const upTo = (end: number): CompanyPieces[] => {
    const companies = profiles
      .slice(given, end)
      .map((profile, at) => ({ ...profile, ...writer.take(given + at) }))
    given = end
    return companies
  }
  await session.run(
    `CREATE OR REPLACE TEMP TABLE part_companies_numbered AS ${numberedCompanies(sliceView('companies'))}`,
  )
  const figures = orderedFigures(sliceView('financials'), 'part_companies_numbered', 'part_items_numbered', {
    companies: profiles.length,
    items: items.length,
  })
  for await (const [keys, values] of session.streamNumbers(figures)) {
    if (keys && values) writer.add(keys, values)
    if (writer.company > given) yield upTo(writer.company)
  }
  writer.end()
  yield upTo(profiles.length)
}

const profilesOfSlice = async (session: Session): Promise<readonly Profile[]> => {
  const profiles: Profile[] = []
  const pieces = companyPieces(sliceView('companies'), sliceView('employees'))
  for await (const [ids = [], currencies = [], metas = [], rests = [], scores = []] of session.streamColumns(
    `SELECT internal_id, currency, meta, rest, score FROM (${pieces}) ORDER BY internal_id`,
  )) {
    for (const [at, id] of ids.entries()) {
      const currency = textOrNone(currencies[at])
      profiles.push({
        id: BigInt(String(id)),
        currency: currency === undefined ? undefined : String(JSON.parse(currency)),
        meta: textOrNone(metas[at]),
        rest: String(rests[at]),
        score: textOrNone(scores[at]),
      })
    }
  }
  return profiles
}
const textOrNone = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

const itemsOfSlice = async (session: Session): Promise<readonly FigureItem[]> => {
  await session.run(
    `CREATE OR REPLACE TEMP TABLE part_items_numbered AS ${numberedItems(sliceView('financials'), sliceView('line_items'))}`,
  )
  // As JSON: of a name read as it is a leading U+FEFF would be dropped.
  const rows = await session.rows(
    'SELECT to_json(category)::VARCHAR AS category, to_json(line_item)::VARCHAR AS line_item FROM part_items_numbered ORDER BY item',
  )
  return rows.map(({ category, line_item }) => ({ category: String(category), lineItem: String(line_item) }))
}

/** A company's record as one JSON document. */
export const companyText = (pieces: CompanyPieces): string => {
  const { currency, meta, financials, unconsolidated, rest, score } = pieces
  const metaMembers = [
    ...(currency === undefined ? [] : [`"CurrentCurrencyCode":${JSON.stringify(currency)}`]),
    ...(meta === undefined ? [] : [membersOf(meta)]),
  ]
  return `{${[
    membersOf(rest),
    financials === undefined ? '' : `"Financials":${financials}`,
    unconsolidated === undefined ? '' : `"UnconsolidatedFinancials":${unconsolidated}`,
    metaMembers.length === 0 ? '' : `"MetaData":{${metaMembers.join(',')}}`,
    score === undefined ? '' : `"Score":${score}`,
  ]
    .filter((members) => members !== '')
    .join(',')}}`
}

/** What stands between the braces of an object text. */
const membersOf = (object: string): string => object.slice(1, -1)

/** About what a block of a batch file holds: records are nested as texts in memory, some kilobytes for each row. */
const RELATION_ROWS: SliceRows = {
  relations: 20_000,
  relation_entities: 30_000,
  ownerships: 60_000,
  roles: 60_000,
}

/** All current relations records, partition by partition, in the order of `slicesOf`. */
export async function* giveBackRelations(request: SessionRequest): AsyncGenerator<readonly RelationText[]> {
  const { session } = request
  for await (const _ of slicesOf(request, 'relations', RELATION_ROWS)) {
    const [deepest] = await session.rows(`SELECT max(depth) AS depth FROM ${sliceView('relation_entities')}`)
    const { steps, records } = relationRecords(
      {
        relations: sliceView('relations'),
        relation_entities: sliceView('relation_entities'),
        ownerships: sliceView('ownerships'),
        roles: sliceView('roles'),
      },
      Number(deepest?.depth ?? 0),
    )
    for (const step of steps) await session.run(step)
    for await (const [ids = [], texts = []] of session.streamColumns(
      `SELECT internal_id, record FROM (${records}) ORDER BY internal_id`,
    )) {
      yield ids.map((id, at) => ({ id: BigInt(String(id)), text: String(texts[at]) }))
    }
  }
}
