/** Checks of a lake in plain words: what was found, what is allowed, and where on the page it is shown. */

import { formatBeside, formatSpan } from '../support/format.ts'
import { type Html, html } from './html.ts'
import type { Numbers } from './numbers.ts'
import { cellNumber, cellText, type ReportRow } from './rows.ts'
import { counted, ruleWords } from './words.ts'

/** How a check of the lake ended. */
export interface CheckLine {
  readonly name: string
  readonly status: 'passed' | 'note' | 'failed'
  readonly value: number | null
  /** The largest value that passes, for `companies` the least. */
  readonly limit?: number
  readonly expected: string
}

const STATES = {
  passed: ['good', '✔', 'good'],
  note: ['soft', '!', 'look at it'],
  failed: ['bad', '✖', 'failed'],
} as const

/** A check as a reader knows it. */
export interface CheckWords {
  /** The check's subject, `Companies fell`. */
  readonly title: string
  readonly found: string
  readonly allowed: string
  /** The whole finding, `Companies fell by 69.7 %`. */
  readonly said: string
  /** Id on the page. */
  readonly at: string
}

const RULE = /^rule:/

/** Rules on the data as checks, by the rows of the section that counts their findings. */
export const ruleChecks = (rows: readonly ReportRow[]): readonly CheckLine[] =>
  rows.map((row) => {
    const [errors, notes] = [cellNumber(row.errors), cellNumber(row.notes)]
    const status = errors > 0 ? 'failed' : notes > 0 ? 'note' : 'passed'
    return { name: `rule:${cellText(row.rule)}`, status, value: errors || notes, expected: 'no finding' }
  })

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const words = (title: string, found: string, allowed: string, said: string, at: string): CheckWords => ({
  ...{ title, found, allowed, said, at },
})

export const checkWords = (
  { name, status, value, limit = 0, expected }: CheckLine,
  numbers: Numbers,
): CheckWords => {
  const found = value ?? 0
  const whole = numbers.whole(found)
  const [share, allowedShare] = formatBeside(found, limit, numbers.percent)
  const [age, allowedAge] = formatBeside(found, limit, formatSpan)
  if (RULE.test(name)) {
    const rule = ruleWords(name.replace(RULE, ''))
    const count = counted(found, status === 'failed' ? 'error' : 'note', whole)
    return words(capital(rule), found === 0 ? 'none' : count, 'none', `${count}: ${rule}`, 'quality')
  }
  const [kind = '', content = ''] = name.split(/_(?=companies$|relations$)/)
  if (kind === 'fall')
    return words(
      `${capital(content)} fell`,
      found <= 0 ? 'none' : share,
      `at most ${allowedShare}`,
      `${capital(content)} fell by ${share}`,
      'loads',
    )
  switch (name) {
    case 'age_seconds':
      return words(
        'Age of the newest load',
        value === null ? 'no load' : age,
        `at most ${allowedAge}`,
        value === null ? 'There is no load' : `The newest load is ${age} old`,
        'loads',
      )
    case 'unlooked_seconds':
      return words(
        'Last look for companies that left',
        `${age} ago`,
        `at most ${allowedAge} ago`,
        `Companies that left were last looked for ${age} ago`,
        'loads',
      )
    case 'restated_share':
      return words(
        'Companies that a load restates',
        share,
        `at most ${allowedShare}`,
        `The newest load restates ${share} of the companies`,
        'changes',
      )
    case 'quarantined_share':
      return words(
        'Bad lines of the newest load',
        share,
        `at most ${allowedShare}`,
        `${share} of the newest load’s lines are bad`,
        'quarantine',
      )
    case 'pull_gap':
      return words(
        'Gap of the newest pulls',
        whole,
        `at most ${numbers.whole(limit)}`,
        `The newest pulls missed ${counted(found, 'record', whole)}`,
        'loads',
      )
    case 'new_drift':
      return words(
        'New names',
        whole,
        'none',
        `${counted(found, 'new name', whole)} that no load had before`,
        'drift',
      )
    case 'companies':
      return words(
        'Companies in all',
        whole,
        `at least ${numbers.whole(limit)}`,
        `Only ${counted(found, 'company', whole)}`,
        'coverage',
      )
    default:
      return words(name, value === null ? 'none' : numbers.exact(found), expected, name, 'overview')
  }
}

/** Failed ones first. */
const ORDER = ['failed', 'note', 'passed'] as const

/** The checks, folded. */
export const checkTable = (checks: readonly CheckLine[], numbers: Numbers): Html => {
  const lines = ORDER.flatMap((state) => checks.filter(({ status }) => status === state)).map((check) => {
    const { title, found, allowed, at } = checkWords(check, numbers)
    const [name, sign, word] = STATES[check.status]
    return html`<tr><th scope="row"><a class="quiet" href="#${at}">${title}</a></th><td class="${name}"><span aria-hidden="true">${sign}</span> ${word}</td><td class="n">${found}</td><td class="soft">${allowed}</td></tr>\n`
  })
  return html`<details><summary><h3 id="checks">All ${counted(checks.length, 'check')}</h3></summary><div class="card">
<p class="about">As “firmlake check” finds them with the same expectations.</p>
<table><caption class="vh">Checks of the newest snapshot</caption>
<thead><tr><th scope="col">Check</th><th scope="col">State</th><th scope="col" class="n">Found</th><th scope="col">Expected</th></tr></thead>
<tbody>
${lines}</tbody></table></div></details>
`
}
