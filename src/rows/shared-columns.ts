/** Memory of columns that grow: shared, so that a thread fills what another one reads, and used again. */

type Column =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float64Array
  | BigInt64Array

type ColumnOf<C extends Column> = {
  new (buffer: SharedArrayBuffer): C
  readonly BYTES_PER_ELEMENT: number
}

/** A column of at least `items` items, that begins with those of `column`. Its memory doubles at least. */
export const grown = <C extends Column>(Type: ColumnOf<C>, column: C | undefined, items: number): C => {
  const length = column?.length ?? 0
  if (column !== undefined && length >= items) return column
  const size = Math.max(items, 2 * length)
  const larger = new Type(new SharedArrayBuffer(size * Type.BYTES_PER_ELEMENT))
  if (column !== undefined) copyInto(larger, column)
  return larger
}

const copyInto = (larger: Column, column: Column): void => {
  const { buffer, byteOffset, byteLength } = column
  new Uint8Array(larger.buffer).set(new Uint8Array(buffer, byteOffset, byteLength))
}
