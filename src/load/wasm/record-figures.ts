/**
 * The figures of a record from text to values, as WebAssembly: nine of ten bytes of a company are figures. This is
 * AssemblyScript, TypeScript with the machine's numbers; `npm run wasm` compiles it to `record-figures.wasm`.
 *
 * Reads the plain form `{"BalanceSheet":{"TotalAssets":{"2020":1.5,"2021":-3}}}`, without white space and escapes, of line items
 * of the contract, with years in order. Any other form is left to the careful way, which adds its rows here too.
 * `record-figures.ts` of the room gives it the line with zeros behind it, the contract's names, and memory for rows.
 */

export { CATEGORY_KEYS, LINE_ITEM_KEYS, setKeys } from './keys'
export { POWERS_OF_FIVE } from './nearest-double'
export { readSeries, readStatement } from './plain-form'
export { addText, endSeries, FIGURES, HEADCOUNTS } from './rows'
export { endRecord } from './values'

/** The room's own memory begins here. */
export const END: usize = __heap_base
