/** What every sink must do, as one suite: the life of a sink in `src/core/sink.ts`, step by step. */

import { createHash } from 'node:crypto'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { FileEntry } from '../../src/core/partition.ts'
import type { Receipt, Sink, SinkRun, TableRows } from '../../src/core/sink.ts'
import { Engine, type Row, type Session } from '../../src/lake/duckdb/engine.ts'
import { literal } from '../../src/lake/duckdb/sql.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { columnList, HOSTILE_STRINGS, type SinkRow, sinkRow } from './sink-rows.ts'

/** A sink's target, and how a reader sees it. */
export interface Target {
  /** A new sink object on this target, as another process would make it. */
  readonly sink: () => Sink
  /** The rows of a table that a reader finds, in any order; none where there is no such table. */
  readonly rows: (table: string) => Promise<readonly Row[]>
  /** For sinks that keep files. */
  readonly files?: {
    /** Where the file of a receipt stands once it is committed; of a sink that stages, until it is. */
    readonly place: (file: FileEntry) => string
    /** All files of the target, also those that no reader looks at. */
    readonly all: () => Promise<readonly string[]>
    /** A sink whose target cannot be written: its folder is a file. */
    readonly unwritable: () => Promise<Sink>
  }
}

export interface SinkUnderTest {
  /** Whether receipts name files. */
  readonly keepsFiles: boolean
  /** Whether these files are loaded by commit and gone afterwards. @default false */
  readonly stages?: boolean
  /** Makes a new, empty target in a folder of its own. `session` reads files with DuckDB. */
  readonly make: (directory: string, session: Session) => Target
}

const RUN = '20261121T094500123Z-1f9a2c'
const LATER_RUN = '20261121T100000000Z-00ff00'

interface Bench extends Target {
  /** Rows as a query of the engine gives them: what a loader hands to a sink. */
  readonly relation: (rows: readonly SinkRow[]) => Promise<TableRows>
  readonly failing: () => TableRows
  /** A run of a new sink object. */
  readonly opened: (run?: string) => Promise<SinkRun>
}

const byId = (rows: readonly Row[]): readonly Row[] => rows.toSorted((a, b) => Number(a.id) - Number(b.id))

const filesOf = (receipts: readonly Receipt[]): readonly FileEntry[] => receipts.flatMap(({ files }) => files)

export const describeSink = (name: string, { make, keepsFiles, stages = false }: SinkUnderTest): void => {
  let engine: Engine
  const connected = async (): Promise<Session> => {
    const session = await engine.connect()
    onTestFinished(() => session.close())
    return session
  }

  const bench = async (): Promise<Bench> => {
    const folder = await temporaryFolder()
    const session = await connected()
    const target = make(join(folder, 'target'), session)
    let spooled = 0
    return {
      ...target,
      relation: async (rows) => {
        // Each on a session of its own, as a loader's: streams of one session end each other.
        const own = await connected()
        spooled += 1
        const path = join(folder, `rows-${spooled}.jsonl`)
        await writeFile(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
        return own.relation(`SELECT * FROM read_ndjson(${literal(path)}, columns = ${columnList()},
          auto_detect = false, records = true)`)
      },
      failing: () =>
        session.relation(`SELECT CAST(text AS BIGINT) AS id FROM (VALUES ('1'), ('one')) AS t (text)`),
      opened: async (run = RUN) => target.sink().open(run),
    }
  }

  /** What a reader sees of the given rows. */
  const seen = async (relation: TableRows): Promise<readonly Row[]> => {
    const rows: Row[] = []
    for await (const chunk of relation.rows()) rows.push(...chunk)
    return byId(rows)
  }

  describe(name, () => {
    beforeAll(async () => {
      engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2 })
    })
    afterAll(() => engine.close())

    test('write shows nothing before commit', async () => {
      const { opened, relation, rows } = await bench()
      const sink = await opened()
      await sink.write('p-0', 'companies', await relation([sinkRow(1)]))
      expect(await rows('companies')).toEqual([])
    })

    test('commit shows the rows of every table and partition as they were', async () => {
      const { opened, relation, rows } = await bench()
      const sink = await opened()
      const parts = [
        ['p-0', 'companies', await relation([sinkRow(1), sinkRow(2)])],
        ['p-1', 'companies', await relation([sinkRow(3)])],
        ['p-0', 'financials', await relation([sinkRow(4), sinkRow(5)])],
      ] as const
      const receipts = await Promise.all(
        parts.map(([partition, table, rows]) => sink.write(partition, table, rows)),
      )
      await sink.commit(filesOf(receipts))
      expect(byId(await rows('companies'))).toEqual(
        await seen(await relation([sinkRow(1), sinkRow(2), sinkRow(3)])),
      )
      expect(byId(await rows('financials'))).toEqual(await seen(await relation([sinkRow(4), sinkRow(5)])))
    })

    test('write tells table and rows', async () => {
      const { opened, relation } = await bench()
      const sink = await opened()
      const receipt = await sink.write('p-0', 'companies', await relation([sinkRow(1), sinkRow(2)]))
      expect(receipt).toMatchObject({ table: 'companies', rows: 2 })
      expect(receipt.files.length > 0).toBe(keepsFiles)
    })

    test('write again replaces what was written before', async () => {
      const { opened, relation, rows } = await bench()
      const sink = await opened()
      await sink.write('p-0', 'companies', await relation([sinkRow(1), sinkRow(2), sinkRow(3)]))
      const receipt = await sink.write('p-0', 'companies', await relation([sinkRow(4)]))
      expect(receipt.rows).toBe(1)
      await sink.commit(receipt.files)
      expect((await rows('companies')).map(({ id }) => Number(id))).toEqual([4])
    })

    test('write again replaces what a sink before it had left', async () => {
      const { opened, relation, rows } = await bench()
      await (await opened()).write('p-0', 'companies', await relation([sinkRow(1), sinkRow(2)]))
      const sink = await opened()
      const receipt = await sink.write('p-0', 'companies', await relation([sinkRow(3)]))
      await sink.commit(receipt.files)
      expect((await rows('companies')).map(({ id }) => Number(id))).toEqual([3])
    })

    test('open takes up a run: a new sink commits what an earlier one wrote', async () => {
      const { opened, relation, rows } = await bench()
      const first = await (await opened()).write('p-0', 'companies', await relation([sinkRow(1)]))
      const sink = await opened()
      const second = await sink.write('p-1', 'companies', await relation([sinkRow(2)]))
      await sink.commit(filesOf([first, second]))
      expect(byId(await rows('companies')).map(({ id }) => Number(id))).toEqual([1, 2])
    })

    test('write takes a table without rows', async () => {
      const { opened, relation, rows } = await bench()
      const sink = await opened()
      const receipts = [
        await sink.write('p-0', 'companies', await relation([])),
        await sink.write('p-0', 'financials', await relation([sinkRow(1)])),
      ]
      expect(receipts.map((receipt) => receipt.rows)).toEqual([0, 1])
      await sink.commit(filesOf(receipts))
      expect(await rows('companies')).toEqual([])
      expect(await rows('financials')).toHaveLength(1)
    })

    test('commit takes a run that wrote nothing', async () => {
      const { opened, rows } = await bench()
      const sink = await opened()
      await sink.commit([])
      expect(await rows('companies')).toEqual([])
    })

    test('write keeps hostile text as it is', async () => {
      const { opened, relation, rows } = await bench()
      const sink = await opened()
      const given = HOSTILE_STRINGS.map((text, at) => ({ ...sinkRow(at), text, strings: [text, null, ''] }))
      const { files } = await sink.write('p-0', 'companies', await relation(given))
      await sink.commit(files)
      const found = byId(await rows('companies'))
      // DuckDB's package drops a byte order mark at the start of a text that JavaScript reads.
      expect(found.map(({ text }) => text)).toEqual(
        HOSTILE_STRINGS.map((text) => text.replace(/^\ufeff/, '')),
      )
      expect(found).toEqual(await seen(await relation(given)))
    })

    test('write keeps many rows', async () => {
      const { opened, relation, rows } = await bench()
      const sink = await opened()
      const given = Array.from({ length: 5000 }, (_, at) => sinkRow(at))
      const { files } = await sink.write('p-0', 'companies', await relation(given))
      await sink.commit(files)
      expect(byId(await rows('companies')).map(({ id }) => Number(id))).toEqual(given.map(({ id }) => id))
    })

    test('commit may be called twice', async () => {
      const { opened, relation, rows } = await bench()
      const sink = await opened()
      const { files } = await sink.write('p-0', 'companies', await relation([sinkRow(1)]))
      await sink.commit(files)
      await sink.commit(files)
      await (await opened()).commit(files)
      expect(await rows('companies')).toHaveLength(1)
    })

    test('commit leaves the rows of other runs', async () => {
      const { opened, relation, rows } = await bench()
      for (const [run, id] of [
        [RUN, 1],
        [LATER_RUN, 2],
      ] as const) {
        const sink = await opened(run)
        const { files } = await sink.write('p-0', 'companies', await relation([sinkRow(id)]))
        await sink.commit(files)
      }
      expect(byId(await rows('companies')).map(({ id }) => Number(id))).toEqual([1, 2])
    })

    test('write of rows that cannot be computed fails with the error of the engine and can be repeated', async () => {
      const { opened, relation, rows, failing } = await bench()
      const sink = await opened()
      await expect(sink.write('p-0', 'companies', failing())).rejects.toThrow(/^Conversion Error/)
      const { files } = await sink.write('p-0', 'companies', await relation([sinkRow(1)]))
      await sink.commit(files)
      expect((await rows('companies')).map(({ id }) => Number(id))).toEqual([1])
    })

    test('abort removes what the run wrote', async () => {
      const { opened, relation, rows, files } = await bench()
      const sink = await opened()
      await sink.write('p-0', 'companies', await relation([sinkRow(1)]))
      await sink.write('p-0', 'financials', await relation([sinkRow(2)]))
      await sink.abort()
      expect(await rows('companies')).toEqual([])
      if (files) expect(await files.all()).toEqual([])
      // Nor does a later commit of the same run bring it back.
      await (await opened()).commit([])
      expect(await rows('companies')).toEqual([])
    })

    test('abort removes what an earlier sink of the run wrote', async () => {
      const { opened, relation, rows, files } = await bench()
      await (await opened()).write('p-0', 'companies', await relation([sinkRow(1)]))
      await (await opened()).abort()
      expect(await rows('companies')).toEqual([])
      if (files) expect(await files.all()).toEqual([])
    })

    test('abort is safe before a write, after a failed write, and twice', async () => {
      const { opened, failing, rows } = await bench()
      const sink = await opened()
      await sink.abort()
      await expect(sink.write('p-0', 'companies', failing())).rejects.toThrow()
      await sink.abort()
      await sink.abort()
      expect(await rows('companies')).toEqual([])
    })

    test('abort leaves the rows of other runs, committed or not', async () => {
      const { opened, relation, rows } = await bench()
      const [first, second, third] = [await opened(RUN), await opened(LATER_RUN), await opened(`${RUN}0`)]
      const committed = await first.write('p-0', 'companies', await relation([sinkRow(1)]))
      await first.commit(committed.files)
      const waiting = await second.write('p-0', 'companies', await relation([sinkRow(2)]))
      await third.write('p-0', 'companies', await relation([sinkRow(3)]))
      await third.abort()
      expect((await rows('companies')).map(({ id }) => Number(id))).toEqual([1])
      await second.commit(waiting.files)
      expect(byId(await rows('companies')).map(({ id }) => Number(id))).toEqual([1, 2])
    })

    test('one sink holds several runs open at once', async () => {
      const { sink: newSink, relation, rows } = await bench()
      const sink = newSink()
      const [first, second] = [await sink.open(RUN), await sink.open(LATER_RUN)]
      const one = await first.write('p-0', 'companies', await relation([sinkRow(1)]))
      const two = await second.write('p-0', 'companies', await relation([sinkRow(2)]))
      await first.commit(one.files)
      expect((await rows('companies')).map(({ id }) => Number(id))).toEqual([1])
      await second.commit(two.files)
      expect(byId(await rows('companies')).map(({ id }) => Number(id))).toEqual([1, 2])
    })

    test('a run goes on after abort', async () => {
      const { opened, relation, rows } = await bench()
      const sink = await opened()
      await sink.write('p-0', 'companies', await relation([sinkRow(1)]))
      await sink.abort()
      const { files } = await sink.write('p-0', 'companies', await relation([sinkRow(2)]))
      await sink.commit(files)
      expect((await rows('companies')).map(({ id }) => Number(id))).toEqual([2])
    })

    if (keepsFiles) describeFiles(bench, stages)
  })
}

/** For sinks that keep files: receipts, and what becomes of the files. */
const describeFiles = (bench: () => Promise<Bench>, stages: boolean): void => {
  const withFiles = async (): Promise<Bench & Required<Target>> => {
    const { files, ...rest } = await bench()
    if (files === undefined) throw new TypeError('A sink that keeps files must tell where they are')
    return { ...rest, files }
  }

  test('write tells the length, the SHA-256 and the rows of each file', async () => {
    const { opened, relation, files } = await withFiles()
    const sink = await opened()
    const receipts = [
      await sink.write('p-0', 'companies', await relation([sinkRow(1), sinkRow(2)])),
      await sink.write('p-1', 'companies', await relation([])),
    ]
    if (!stages) await sink.commit(filesOf(receipts))
    for (const receipt of receipts) {
      expect(receipt.files.reduce((sum, { rows }) => sum + rows, 0)).toBe(receipt.rows)
      for (const file of receipt.files) {
        const bytes = await readFile(files.place(file))
        expect(file).toMatchObject({
          table: 'companies',
          bytes: bytes.length,
          sha256: createHash('sha256').update(bytes).digest('hex'),
        })
      }
    }
  })

  test('write gives the same bytes for the same rows', async () => {
    const { opened, relation } = await withFiles()
    const sink = await opened()
    const rows = [sinkRow(1), sinkRow(2), sinkRow(3)]
    const first = await sink.write('p-0', 'companies', await relation(rows))
    expect(await sink.write('p-0', 'companies', await relation(rows))).toEqual(first)
  })

  test('commit shows no file that it was not given', async () => {
    const { opened, relation, rows } = await withFiles()
    const sink = await opened()
    await sink.write('p-0', 'companies', await relation([sinkRow(1)]))
    const { files } = await sink.write('p-1', 'companies', await relation([sinkRow(2)]))
    await sink.commit(files)
    expect((await rows('companies')).map(({ id }) => Number(id))).toEqual([2])
  })

  test.skipIf(stages)('commit that stopped in its midst is completed by a new sink', async () => {
    const { opened, relation, rows, files } = await withFiles()
    const sink = await opened()
    const receipts: Receipt[] = []
    for (const id of [1, 2, 3])
      receipts.push(await sink.write(`p-${id}`, 'companies', await relation([sinkRow(id)])))
    const all = filesOf(receipts)
    const obstacle = files.place(all[1] as FileEntry)
    await mkdir(join(obstacle, 'in the way'), { recursive: true })
    await expect(sink.commit(all)).rejects.toMatchObject({ code: 'WRITE_FAILED' })
    await rm(obstacle, { recursive: true })
    await (await opened()).commit(all)
    expect(byId(await rows('companies')).map(({ id }) => Number(id))).toEqual([1, 2, 3])
  })

  test('write to a target that cannot be written fails with WRITE_FAILED, and abort is safe', async () => {
    const { relation, files } = await withFiles()
    const sink = await (await files.unwritable()).open(RUN)
    await expect(sink.write('p-0', 'companies', await relation([sinkRow(1)]))).rejects.toMatchObject({
      name: 'ToolkitError',
      code: 'WRITE_FAILED',
    })
    await sink.abort()
  })

  test('commit leaves nothing behind but the committed files and the mark of the run', async () => {
    const { opened, relation, files } = await withFiles()
    const sink = await opened()
    const receipt = await sink.write('p-0', 'companies', await relation([sinkRow(1)]))
    await sink.commit(receipt.files)
    const left = (await files.all()).filter((path) => !path.includes('/_loaded/'))
    expect(left).toEqual(stages ? [] : receipt.files.map(files.place))
  })
}

/** A path below a regular file, where nothing can be written, whoever one is. */
export const belowAFile = async (directory: string): Promise<string> => {
  const file = `${directory}-is-a-file`
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, '')
  return join(file, 'below')
}
