/** Lists of an entity whose items are rows: which rows, of which entity and kind, and how they are numbered within it. */

import { grown } from './shared-columns.ts'

const FIRST_LISTS = 256

/** The columns as they pass between threads: their memory is shared. */
export type RowListColumns = Pick<RowLists, 'lists' | 'entity' | 'kind' | 'base' | 'start' | 'end'>

export class RowLists {
  lists = 0
  entity = new Uint32Array(0)
  kind = new Uint8Array(0)
  /** Rows of the entity's lists of lower kinds: the first row of this one has the next number. */
  base = new Uint32Array(0)
  /** Its first row, and the one behind its last. */
  start = new Uint32Array(0)
  end = new Uint32Array(0)
  #recordLists = 0

  clear(): void {
    this.lists = 0
  }

  columns(): RowListColumns {
    const { lists, entity, kind, base, start, end } = this
    return { lists, entity, kind, base, start, end }
  }

  /** Takes columns of another thread in place of its own. */
  adopt(columns: RowListColumns): void {
    Object.assign(this, columns)
  }

  startRecord(): void {
    this.#recordLists = this.lists
  }

  /** Takes back the lists of the record at hand. */
  dropRecord(): void {
    this.lists = this.#recordLists
  }

  /** Begins a list whose first row is `row`. @returns its number */
  startList(entity: number, kind: number, row: number): number {
    const list = this.lists++
    if (list >= this.entity.length) {
      this.entity = grown(Uint32Array, this.entity, Math.max(list + 1, FIRST_LISTS))
      this.kind = grown(Uint8Array, this.kind, this.entity.length)
      this.base = grown(Uint32Array, this.base, this.entity.length)
      this.start = grown(Uint32Array, this.start, this.entity.length)
      this.end = grown(Uint32Array, this.end, this.entity.length)
    }
    this.entity[list] = entity
    this.kind[list] = kind
    this.base[list] = 0
    this.start[list] = row
    this.end[list] = row
    return list
  }
}
