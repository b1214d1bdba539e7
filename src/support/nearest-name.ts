/** The name that somebody may have meant. */

/** The name that takes the fewest edits: at most one for each three letters given; one for two. */
export const nearestName = (given: string, names: readonly string[]): string | undefined => {
  const most = given.length < 2 ? 0 : Math.max(1, Math.floor(given.length / 3))
  let best: { name: string; edits: number } | undefined
  for (const name of names) {
    const edits = editDistance(given.toLowerCase(), name.toLowerCase())
    if (edits <= most && (best === undefined || edits < best.edits)) best = { name, edits }
  }
  return best?.name
}

/** Characters to insert, leave out, replace or swap with the next to make one text of the other (Damerau, Levenshtein). */
const editDistance = (a: string, b: string): number => {
  let before: readonly number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwapped ? (before[j - 2] ?? Infinity) + 1 : Infinity
      next.push(Math.min(replaced, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    before = row
    row = next
  }
  return row[b.length] ?? 0
}
