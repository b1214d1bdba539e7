/** The schema of a Kubernetes Job. */

import { readFile } from 'node:fs/promises'
import Ajv from 'ajv/dist/2020.js'

const SCHEMA = new URL('../fixtures/kubernetes-1.37/job.schema.json', import.meta.url)

/** What is wrong with a Job, by its schema. */
export const jobProblems = async (job: unknown): Promise<readonly string[]> => {
  const schema: object = JSON.parse(await readFile(SCHEMA, 'utf8'))
  // Its formats (int32, date-time) are Kubernetes' own.
  const ajv = new Ajv.default({ strict: false, validateFormats: false, allErrors: true })
  const validate = ajv.compile(schema)
  validate(job)
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}
