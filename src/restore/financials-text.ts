/**
 * Figures as JSON texts: the three levels that the checker lays flat, nested again. Written as bytes into one buffer, because a string grown figure by figure takes three times as long and leaves as much to collect.
 */

import { CONSOLIDATIONS } from '../contract/dictionaries.ts'
import { ByteWriter } from '../support/buffers.ts'
import { JSON_BYTES } from '../support/json-bytes.ts'
import type { CompanySeries } from './nested-series.ts'
import { NUMBER_BYTES, writeNumber, writeYear } from './number-text.ts'
import type { ItemNames } from './slice-figures.ts'

const { OPEN_BRACE } = JSON_BYTES

/** The statements of a company as object texts. They stand until the next company's are written. */
export interface Statements {
  readonly financials: Uint8Array | undefined
  readonly unconsolidated: Uint8Array | undefined
}

/** The most bytes of a figure: `,"-32768":` and its number. */
const FIGURE_BYTES = 16 + NUMBER_BYTES
const END = Buffer.from('}}}')

/** The text before a line item's series, by the text before that. */
interface OpeningItem {
  readonly first: Opening
  readonly inNextCategory: Opening
  readonly further: Opening
  /** The place of the first item of its category. */
  readonly category: number
}

/** A text in words of four bytes, which are copied in a quarter of the time; behind it the last one is filled with anything. */
interface Opening {
  readonly words: Uint32Array
  readonly bytes: number
}

const openingOf = (text: string): Opening => {
  const bytes = Buffer.from(text)
  const padded = Buffer.alloc(4 * Math.ceil(bytes.length / 4))
  bytes.copy(padded)
  const words = Uint32Array.from({ length: padded.length / 4 }, (_, at) => padded.readUInt32LE(4 * at))
  return { words, bytes: bytes.length }
}

/** Writes the statements of a slice's companies. */
export class FigureWriter {
  readonly #names: ItemNames
  readonly #opening: (OpeningItem | undefined)[] = []
  readonly #writer = new ByteWriter()

  constructor(names: ItemNames) {
    this.#names = names
  }

  write(series: CompanySeries): Statements {
    const writer = this.#writer
    writer.clear()
    const items = this.#names.items.length
    const ends = [0, 0]
    for (let at = 0, statement = 0; statement < CONSOLIDATIONS.length; statement++) {
      let category: number | undefined
      for (; at < series.count; at++) {
        const item = (series.numbers[at] ?? 0) - statement * items
        if (item >= items) break
        const opening = this.#openingOf(item)
        this.#writeOpening(
          category === undefined
            ? opening.first
            : category === opening.category
              ? opening.further
              : opening.inNextCategory,
        )
        category = opening.category
        this.#writeSeries(series, series.starts[at] ?? 0, series.ends[at] ?? 0)
      }
      if (category !== undefined) writer.append(END)
      ends[statement] = writer.length
    }
    const [middle = 0, end = 0] = ends
    return {
      financials: middle > 0 ? writer.bytes.subarray(0, middle) : undefined,
      unconsolidated: end > middle ? writer.bytes.subarray(middle, end) : undefined,
    }
  }

  #writeOpening({ words, bytes }: Opening): void {
    const writer = this.#writer
    writer.reserve(4 * words.length)
    const { words: target, length } = writer
    for (let at = 0; at < words.length; at++) target.setUint32(length + 4 * at, words[at] ?? 0, true)
    writer.length = length + bytes
  }

  #writeSeries({ years, figures }: CompanySeries, start: number, end: number): void {
    const writer = this.#writer
    writer.reserve((end - start) * FIGURE_BYTES)
    const { words } = writer
    let at = writer.length
    for (let row = start; row < end; row++)
      at = writeNumber(words, writeYear(words, at, years[row] ?? 0), figures[row] ?? 0)
    // Over the comma before the first year.
    words.setUint8(writer.length, OPEN_BRACE)
    writer.length = at
  }

  #openingOf(item: number): OpeningItem {
    const known = this.#opening[item]
    if (known !== undefined) return known
    const name = this.#names.items[item]
    if (name === undefined) throw new RangeError(`Cannot find the line item at ${item}`)
    const [category, lineItem] = [JSON.stringify(name.category), JSON.stringify(name.lineItem)]
    const opening = {
      first: openingOf(`{${category}:{${lineItem}:`),
      inNextCategory: openingOf(`}},${category}:{${lineItem}:`),
      further: openingOf(`},${lineItem}:`),
      category: this.#names.items.findIndex((one) => one.category === name.category),
    }
    this.#opening[item] = opening
    return opening
  }
}
