/** Command: `npm run data -- --companies N --seed S --out DIR`. */

import { parseArgs } from 'node:util'
import { ALL_CONTENT, writeSample } from './sample.ts'

const HELP = `Writes batch files of invented companies and relations, and their control totals.

  npm run data -- --companies N --seed S --out DIR [options]

  --companies N   number of companies
  --seed S        whole number; the same seed and options give the same bytes
  --out DIR       folder for companies-0001.jsonl.br, relations-0001.jsonl.br, … and control.json
  --files F       batch files of each content (1)
  --small         lean lines of 1-3 KB instead of 10-12 KB with about 500 figures
  --awkward P     share of awkward lines, 0 to 1 (0.05); 0 makes all lines plain
  --sound         ownership without circles, and of no more than 100 % of a company
  --later N       a later delivery: those of the companies that changed since, and N new ones
  --content C     companies, relations or both (both)
  --quality Q     Brotli quality, 0 to 11 (5)
`

const { values } = parseArgs({
  options: {
    companies: { type: 'string' },
    seed: { type: 'string' },
    out: { type: 'string' },
    files: { type: 'string', default: '1' },
    small: { type: 'boolean', default: false },
    awkward: { type: 'string', default: '0.05' },
    sound: { type: 'boolean', default: false },
    later: { type: 'string' },
    content: { type: 'string', default: 'both' },
    quality: { type: 'string', default: '5' },
    help: { type: 'boolean', default: false },
  },
})

const numberOf = (
  name: string,
  text: string | undefined,
  min: number,
  most: number,
  whole = true,
): number => {
  const value = Number(text ?? Number.NaN)
  if (!(value >= min && value <= most) || (whole && !Number.isInteger(value))) {
    throw new RangeError(`Cannot generate: --${name} is "${text ?? ''}", expected ${min} to ${most}`)
  }
  return value
}

const main = async (): Promise<void> => {
  const content = values.content === 'both' ? ALL_CONTENT : ALL_CONTENT.filter((c) => c === values.content)
  if (values.out === undefined) throw new TypeError('Cannot generate: --out is missing, expected a folder')
  if (content.length === 0) {
    throw new TypeError(
      `Cannot generate: --content is "${values.content}", expected companies, relations or both`,
    )
  }
  const options = {
    companies: numberOf('companies', values.companies, 1, 5_000_000),
    seed: numberOf('seed', values.seed, 0, 2 ** 31 - 1),
    files: numberOf('files', values.files, 1, 9_999),
    small: values.small,
    awkward: numberOf('awkward', values.awkward, 0, 1, false),
    ...(values.sound && { sound: true }),
    ...(values.later !== undefined && {
      later: { newCompanies: numberOf('later', values.later, 0, 5_000_000) },
    }),
    content,
  }
  const { files } = await writeSample(values.out, options, numberOf('quality', values.quality, 0, 11))
  for (const { name, records, decodedBytes } of files) {
    console.log(`${name}: ${records} records, ${(decodedBytes / 1e6).toFixed(1)} MB decoded`)
  }
}

if (values.help) {
  console.log(HELP)
} else {
  try {
    await main()
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
