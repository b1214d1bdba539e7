/** Lines that somebody broke: pieces put in and cut out, members written twice or moved elsewhere. */

const MOST_CHANGES = 3

export interface LineChanges {
  /** What may be put in somewhere. */
  readonly pieces: readonly string[]
  /** Where in a line most changes are made. */
  readonly focus: (line: string) => readonly [from: number, to: number]
  /** Of all changes so many are made there. */
  readonly inFocus: number
  /** Something of the line, from about `at` on, to be put in a second time. */
  readonly copied: (line: string, at: number) => string
}

/** The next place from `at` on where a member of an object may begin. */
export const memberFrom = (text: string, at: number): number => {
  const found = text.slice(at).search(/[{,]"/)
  return found < 0 ? at : at + found + 1
}

const oneChange = (text: string, random: () => number, changes: LineChanges): string => {
  const [from, to] = random() < changes.inFocus ? changes.focus(text) : [0, text.length]
  const anywhere = from + Math.floor(random() * (to - from))
  const kind = random()
  const at = kind < 0.5 ? anywhere : memberFrom(text, anywhere)
  if (kind > 0.85)
    return (
      text.slice(0, at) + changes.copied(text, from + Math.floor(random() * (to - from))) + text.slice(at)
    )
  const cut = kind > 0.5 ? 0 : random() < 0.25 ? Math.floor(random() * 30) : Math.floor(random() * 3)
  const piece = random() < 0.7 ? (changes.pieces[Math.floor(random() * changes.pieces.length)] ?? '') : ''
  return text.slice(0, at) + piece + text.slice(at + cut)
}

export const changedLine = (line: string, random: () => number, changes: LineChanges): string => {
  let text = line
  const count = 1 + Math.floor(random() * MOST_CHANGES)
  for (let change = 0; change < count; change++) text = oneChange(text, random, changes)
  return text.replaceAll('\n', ' ')
}
