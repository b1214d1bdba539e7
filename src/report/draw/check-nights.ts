/** Checks over the nights: a bar a rule, a part of it for each night, the newest at the right; below it how often it failed. */

import { type CheckLine, checkWords } from '../checks.ts'
import { type Html, html, untrustedText } from '../html.ts'
import type { Numbers } from '../numbers.ts'
import { cellText, type ReportRow } from '../rows.ts'
import { counted, dayWords, isRule } from '../words.ts'

const HEIGHT = 10

/** Failed ones stand as high as the bar, so that they are seen without colours. */
const LOOKS = {
  passed: ['fu', 3],
  note: ['fr', 6],
  failed: ['fb', HEIGHT],
} as const

const statusOf = (row: ReportRow): CheckLine['status'] => {
  const status = cellText(row.status)
  return status === 'failed' || status === 'note' ? status : 'passed'
}

const checkOf = (row: ReportRow): CheckLine => ({
  name: isRule(cellText(row.rule)) ? `rule:${cellText(row.rule)}` : cellText(row.rule),
  status: statusOf(row),
  value: row.value === null || row.value === undefined ? null : Number(row.value),
  ...(row.value_limit !== null && row.value_limit !== undefined && { limit: Number(row.value_limit) }),
  expected: cellText(row.expected),
})

/** @param nights all nights of the section; a rule has no part where it was not checked */
const strip = (rows: readonly ReportRow[], nights: readonly string[]): Html => {
  const step = 100 / nights.length
  const parts = rows.map((row) => {
    const [tone, height] = LOOKS[statusOf(row)]
    const left = nights.indexOf(cellText(row.night)) * step
    return html`<rect class="${tone}" x="${left.toFixed(2)}" y="${HEIGHT - height}" width="${(step * 0.82).toFixed(2)}" height="${height}"/>`
  })
  return html`<svg class="bar" viewBox="0 0 100 ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true">${parts}</svg>`
}

/** @param rows by `rule`, the newest `night` first */
export const drawCheckNights = (rows: readonly ReportRow[], numbers: Numbers): Html => {
  const nights = [...new Set(rows.map((row) => cellText(row.night)))].sort()
  const failedOf = (of: readonly ReportRow[]): readonly ReportRow[] =>
    of.filter((row) => statusOf(row) === 'failed')
  const rules = [...Map.groupBy(rows, (row) => cellText(row.rule)).values()].sort(
    (a, b) => failedOf(b).length - failedOf(a).length,
  )
  const lines = rules.map((of) => {
    const failed = failedOf(of)
    const { title, found, allowed } = checkWords(checkOf(of[0] ?? {}), numbers)
    const often =
      failed.length === 0
        ? html`<small>${allowed}</small>`
        : html`<small>${allowed}; <span class="bad">✖ failed on ${failed.length} of ${counted(of.length, 'night')}</span>, last ${dayWords(cellText(failed[0]?.night))}</small>`
    return html`<tr><th scope="row">${untrustedText(title)}${often}</th><td class="b">${strip(of, nights)}</td><td class="n"><b>${found}</b></td></tr>\n`
  })
  return html`<table class="bars"><caption class="vh">Checks over ${counted(nights.length, 'night')}, and what the newest found</caption><tbody>
${lines}</tbody></table>`
}
