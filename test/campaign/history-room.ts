/** What a lake takes on disk at each month's end, by what it is, beside a lake that keeps every version as it was loaded. */

import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { textTable } from '../../src/cli/output/text-table.ts'
import { isOfTable, pastOf, versionsTable } from '../../src/lake/tables/past-tables.ts'
import { mainTables, TABLES } from '../../src/lake/tables/tables.ts'
import { listManifest, readSnapshot } from '../../src/manifest/snapshots/snapshots.ts'
import { countFiles } from './year-files.ts'

const PAST = new Set([
  ...TABLES.map((table) => pastOf(table).name),
  ...mainTables().map(({ content }) => versionsTable(content).name),
])
const FIGURES = [
  ...(['partitions', 'rows kB', 'past kB', 'lists kB', 'manifest kB', 'lake.duckdb kB'] as const),
  ...(['lake.ducklake kB', 'all kB'] as const),
] as const
type Figures = Readonly<Record<(typeof FIGURES)[number], number>>

export interface Room {
  readonly nights: number
  readonly lakes: Readonly<Record<string, Figures>>
}

const kilobytes = (bytes: number): number => Math.round(bytes / 1000)

const figuresOf = async (lake: string): Promise<Figures> => {
  const { partitions, versions } = await readSnapshot(lake, Math.max(...(await listManifest(lake)).snapshots))
  const files = partitions.flatMap((one) => one.files)
  const bytesOf = (some: readonly { readonly bytes: number }[]): number =>
    kilobytes(some.reduce((sum, { bytes }) => sum + bytes, 0))
  const sizeOf = async (name: string): Promise<number> => kilobytes((await stat(join(lake, name))).size)
  return {
    partitions: partitions.length,
    'rows kB': bytesOf(
      files.filter((file) => TABLES.some(({ name }) => isOfTable(file, name)) && !PAST.has(file.table)),
    ),
    'past kB': bytesOf(files.filter(({ table }) => PAST.has(table))),
    'lists kB': bytesOf(versions),
    'manifest kB': kilobytes((await countFiles(join(lake, '_manifest'))).bytes),
    'lake.duckdb kB': await sizeOf('lake.duckdb'),
    'lake.ducklake kB': await sizeOf('lake.ducklake'),
    'all kB': kilobytes((await countFiles(lake)).bytes),
  }
}

export const roomOf = async (lakes: Readonly<Record<string, string>>, nights: number): Promise<Room> => ({
  nights,
  lakes: Object.fromEntries(
    await Promise.all(
      Object.entries(lakes).map(async ([name, lake]) => [name, await figuresOf(lake)] as const),
    ),
  ),
})

/** A line for each lake and month. */
export const roomTable = (rooms: readonly Room[]): readonly string[] => [
  ...textTable(
    [
      { title: 'nights', right: true },
      { title: 'lake' },
      ...FIGURES.map((title) => ({ title, right: true })),
    ],
    rooms.flatMap(({ nights, lakes }) =>
      Object.entries(lakes).map(([name, figures]) => [
        String(nights),
        name,
        ...FIGURES.map((figure) => String(figures[figure])),
      ]),
    ),
  ),
]
