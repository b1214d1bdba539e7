import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { BEFORE, offered } from '../../docs/offered.ts'
import { readPage } from '../support/page.ts'

const SECTION = '### Options and formats'

/** The entries of the newest section, one item each. */
const entriesOf = (changelog: string): string[] =>
  (changelog.split(`\n${SECTION}\n`)[1]?.split(/\n##/)[0] ?? '').split(/\n(?=- )/).map((one) => one.trim())

/** What an entry must name in backquotes: a command and its option, a key, a format. */
const namesIn = (line: string): string[] => {
  const [, kind = '', what = ''] = /^(\w+) (.*?)(?: = .*)?$/.exec(line) ?? []
  if (kind === 'option') {
    const [words = '', flags = ''] = what.split(': ')
    // An option of every command stands alone.
    return [words.replace(/^firmlake ?/, ''), /--[\w-]+/.exec(flags)?.[0] ?? ''].filter(Boolean)
  }
  if (kind === 'key') return [what.split(': ')[0] ?? '']
  return [kind === 'command' ? what.replace(/^firmlake /, '') : what]
}

/** Lines that only one of two releases has. */
const changed = (before: readonly string[], now: readonly string[]): string[] => [
  ...before.filter((line) => !now.includes(line)),
  ...now.filter((line) => !before.includes(line)),
]

/** Lines of which only one of two releases has, or another form, and that no entry names. */
const unnamed = (before: readonly string[], now: readonly string[], changelog: string): string[] => {
  const entries = entriesOf(changelog)
  const isNamed = (line: string): boolean =>
    entries.some((entry) => namesIn(line).every((name) => entry.includes(`\`${name}\``)))
  // Of a command that is new or gone all options are.
  const commands = new Set(
    changed(before, now)
      .filter((line) => line.startsWith('command '))
      .map((line) => `${line.replace('command', 'option')}:`),
  )
  const isOfCommand = (line: string): boolean => commands.has(line.slice(0, line.indexOf(':') + 1))
  return changed(before, now)
    .filter((line) => !isOfCommand(line) && !isNamed(line))
    .sort()
}

test('CHANGELOG.md names every option, key and format that is new, changed or gone since the last release', async () => {
  const before = readFileSync(BEFORE, 'utf8').trimEnd().split('\n')
  const now = await offered()
  expect(now.length).toBeGreaterThan(500)
  expect(unnamed(before, now, readPage('CHANGELOG.md'))).toEqual([])
})

test('a changed option without an entry is found, and one with an entry is not', () => {
  const before = ['option firmlake pull: --days <n> = 7', 'key pull.days: a number', 'format lake 2']
  const now = ['option firmlake pull: --days <n> = 8', 'option firmlake sync: --days <n>', 'format lake 2']
  const changelog = (entries: string): string =>
    `# Changelog\n\n## 1\n\n${SECTION}\n\n${entries}\n\n### More\n`
  const found = (entries: string): string[] => unnamed(before, now, changelog(entries))
  expect(found('- none')).toHaveLength(4)
  expect(found('- `pull`: `--days` is 8')).toEqual([
    'key pull.days: a number',
    'option firmlake sync: --days <n>',
  ])
  expect(found('- `pull`, `sync`: `--days` is 8\n- gone: `pull.days`')).toEqual([])
})
