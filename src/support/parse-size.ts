/** Sizes as people write them: `1GiB`, `512MB`, `800000000`. */

/** In bytes, not rounded; `undefined` for what is no size. */
export const parseSize = (text: string): number | undefined => {
  const match = /^(\d+(?:\.\d+)?)\s*([kmgt]i?b?|b)?$/i.exec(text.trim())
  if (match === null) return undefined
  const unit = match[2]?.toLowerCase() ?? 'b'
  const power = ['b', 'k', 'm', 'g', 't'].indexOf(unit.charAt(0))
  return Number(match[1]) * (unit.includes('i') ? 1024 : 1000) ** power
}
