/** The names of a slice's figures: numbered as they come, then in the order in which they are nested. */

import type { Session } from '../lake/duckdb/engine.ts'
import { sliceView } from './slices.ts'

/** A line item in its category. */
export interface ItemName {
  readonly category: string
  readonly lineItem: string
}

/**
 * A figure's number is statement × items + item: the items of the consolidated statements, then those of the others; items by
 * the bytes of category and line item.
 */
export interface ItemNames {
  readonly items: readonly ItemName[]
}

/** Whether the scale was applied to a line item when it was loaded. */
export type IsScaled = (category: string, lineItem: string) => boolean

const keyOf = (category: string, lineItem: string): string => JSON.stringify([category, lineItem])

/** What the dictionary of the run that loaded the slice says. Names come as JSON: of one read as it is a leading U+FEFF would be dropped. */
export const scaledItems = async (session: Session): Promise<IsScaled> => {
  const rows = await session.rows(
    `SELECT to_json(category)::VARCHAR AS category, to_json(line_item)::VARCHAR AS line_item FROM ${sliceView('line_items')} WHERE scaled`,
  )
  const scaled = new Set(
    rows.map(({ category, line_item }) =>
      keyOf(String(JSON.parse(String(category))), String(JSON.parse(String(line_item)))),
    ),
  )
  return (category, lineItem) => scaled.has(keyOf(category, lineItem))
}

/** Numbers items in the order in which they come. */
export class ItemNumbers {
  readonly #names: ItemName[] = []
  readonly #numbers = new Map<string, number>()

  numberOf(category: string, lineItem: string): number {
    const key = keyOf(category, lineItem)
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    this.#numbers.set(key, this.#names.length)
    return this.#names.push({ category, lineItem }) - 1
  }

  /** All in the order in which they are nested, and by number the place of each among them. */
  inOrder(): { readonly names: ItemNames; readonly places: Int32Array } {
    const sorted = this.#names
      .map((name, number) => ({
        ...{ name, number },
        bytes: [Buffer.from(name.category), Buffer.from(name.lineItem)] as const,
      }))
      .sort(({ bytes: a }, { bytes: b }) => Buffer.compare(a[0], b[0]) || Buffer.compare(a[1], b[1]))
    const places = new Int32Array(sorted.length)
    for (const [place, { number }] of sorted.entries()) places[number] = place
    return { names: { items: sorted.map(({ name }) => name) }, places }
  }
}
