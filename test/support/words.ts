/** Words that are always wrong in this project, where each is looked for, and what to write in its place. */

/** Kinds of text in a file. `help` is what the command line prints of its options. */
export type Prose = 'comment' | 'message' | 'help' | 'docs' | 'identifier'

interface WrongWord {
  readonly pattern: RegExp
  readonly where: readonly Prose[]
  readonly write: string
}

const PROSE: readonly Prose[] = ['comment', 'message', 'help', 'docs']
const SPOKEN: readonly Prose[] = ['message', 'help', 'docs']

export const WRONG_WORDS: readonly WrongWord[] = [
  {
    pattern: /^(?:Of|What|Whoever|Whose|Such|One|Where|All|Its|Which|It|Those|By)\b/,
    where: ['comment'],
    write: 'a sentence that names its noun first',
  },
  { pattern: /\bforeign(?! key| company)\b/i, where: PROSE, write: 'unknown' },
  { pattern: /\b(?:is|are|was|were|be|being) told\b/i, where: PROSE, write: 'is reported; or is asked to' },
  {
    pattern: /\b(?:hears?|heard|unheard) (?:of|from)\b/i,
    where: PROSE,
    write: 'is called when, is notified of',
  },
  { pattern: /\bgoes on\b/i, where: PROSE, write: 'continues, resumes' },
  { pattern: /\blies in\b/i, where: PROSE, write: 'is in' },
  { pattern: /\bvanish/i, where: PROSE, write: 'is deleted' },
  { pattern: /\bserving copy\b/i, where: PROSE, write: 'serving index' },
  { pattern: /\bgiv(?:e|es|en|ing) back\b/i, where: PROSE, write: 'restore, return' },
  { pattern: /\bnobody needs\b/i, where: PROSE, write: 'unreferenced' },
  { pattern: /\bas ever\b/i, where: PROSE, write: 'is unaffected' },
  { pattern: /\bslips? of the hand\b/i, where: PROSE, write: 'typo' },
  {
    pattern: /\bfor want of\b|\bin (?:its|their|the) midst\b/i,
    where: PROSE,
    write: 'without; before the last',
  },
  { pattern: /\bwas stopped\b/i, where: SPOKEN, write: 'was interrupted' },
  { pattern: /\bone of both\b/i, where: PROSE, write: 'one of the two' },
  { pattern: /\bleast and greatest\b/i, where: SPOKEN, write: 'minimum and maximum' },
  { pattern: /\bwho is it about\b|\bwhoever\b/i, where: SPOKEN, write: 'who: a reader, a user, the caller' },
  {
    pattern: /^(?:foreign|heard|unheard|wanted|giveBack|stretch|shelf|texts)$/,
    where: ['identifier'],
    write: 'see words',
  },
]

/** A piece of prose or code of a file, with its line. */
interface Piece {
  readonly kind: Prose
  readonly text: string
  readonly line: number
}

/** Comments, regular expressions (which may hold quotes), texts and names, whichever begins first. */
const CODE = new RegExp(
  [
    String.raw`\/\*[\s\S]*?\*\/|\/\/[^\n]*`,
    String.raw`(?<=[=(,:;!&|?[{}>]\s*|\breturn\s+)\/(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*`,
    String.raw`'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"`,
    '`(?:[^`\\\\]|\\\\.)*`',
    String.raw`[A-Za-z_$][\w$]*`,
  ].join('|'),
  'g',
)

/** Text of a comment without its marks; lines that follow each other as line comments are one comment each. */
const commentText = (text: string): string =>
  text
    .replace(/^\/\*\*?|\*\/$/g, '')
    .replace(/^\/\/+/, '')
    .replaceAll(/\n\s*\* ?/g, ' ')
    .trim()

const kindOf = (token: string, isHelp: boolean): Prose => {
  if (/^\/[/*]/.test(token)) return 'comment'
  if (/^['"`]/.test(token)) return isHelp ? 'help' : 'message'
  return 'identifier'
}

const lineAt = (text: string, index: number): number => text.slice(0, index).split('\n').length

/** Comments that begin a line; whatever stands before them, they are no text. */
const COMMENTS = /^[ \t]*(\/\*[\s\S]*?\*\/|\/\/[^\n]*)/gm

const codePieces = (file: string, text: string): Piece[] => {
  const isHelp = /^src\/cli\/(?:commands|options)\//.test(file)
  const comments: Piece[] = [...text.matchAll(COMMENTS)].map(({ 0: whole, 1: comment = '', index }) => {
    const line = lineAt(text, index + whole.indexOf(comment))
    return { kind: 'comment', text: commentText(comment), line }
  })
  const code = text.replaceAll(COMMENTS, (comment) => comment.replaceAll(/[^\n]/g, ' '))
  const others = [...code.matchAll(CODE)].map(({ 0: token, index }) => {
    const kind = kindOf(token, isHelp)
    return { kind, text: kind === 'comment' ? commentText(token) : token, line: lineAt(code, index) }
  })
  return [...comments, ...others]
}

/** Files of this repository that comments name, each with its line; those of the build and of other projects are none. */
export const filesNamedIn = (
  file: string,
  text: string,
): readonly (readonly [name: string, line: number])[] =>
  codePieces(file, text).flatMap(({ kind, text: piece, line }) =>
    kind === 'comment'
      ? [
          ...piece.matchAll(/(?<![\w./-])(?!dist\/|doc\/specs\/|DIR\/)([\w./-]*[\w-]{2,}\.(?:ts|mjs|md))\b/g),
        ].map(([, name = '']) => [name, line] as const)
      : [],
  )

/** Lines of a page; its blocks of code are not prose. */
const pagePieces = (text: string): Piece[] =>
  text
    .replaceAll(/```[\s\S]*?```|`[^`\n]*`/g, (code) => code.replaceAll(/[^\n]/g, ' '))
    .split('\n')
    .map((line, at) => ({ kind: 'docs', text: line, line: at + 1 }))

/** A line for each wrong word: `src/a.ts:3: "goes on" in a comment, write continues, resumes`. */
export const wrongWordsIn = (file: string, text: string): string[] => {
  const pieces = file.endsWith('.md') ? pagePieces(text) : codePieces(file, text)
  return pieces.flatMap(({ kind, text: piece, line }) =>
    WRONG_WORDS.flatMap(({ pattern, where, write }) => {
      const found = where.includes(kind) ? pattern.exec(piece)?.[0] : undefined
      return found === undefined ? [] : [`${file}:${line}: "${found}" (${kind}), write: ${write}`]
    }),
  )
}
