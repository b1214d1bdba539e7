/** Facets of OpenLineage: facts that name the schema they keep to. Source: openlineage.io/spec, release 2-0-2. */

import { VERSION } from '../../support/tool-version.ts'

export const PRODUCER = `urn:firmlake:${VERSION}`
const SPEC = 'https://openlineage.io/spec'
export const EVENT_SCHEMA = `${SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent`

/** The facets that are sent, with the version of each. */
const FACETS = {
  SchemaDatasetFacet: '1-2-0',
  DatasetVersionDatasetFacet: '1-0-1',
  InputStatisticsInputDatasetFacet: '1-0-0',
  OutputStatisticsOutputDatasetFacet: '1-0-2',
  ErrorMessageRunFacet: '1-0-1',
  ProcessingEngineRunFacet: '1-1-1',
  JobTypeJobFacet: '2-0-4',
} as const

export const facet = (kind: keyof typeof FACETS, facts: object): object => ({
  _producer: PRODUCER,
  _schemaURL: `${SPEC}/facets/${FACETS[kind]}/${kind}.json#/$defs/${kind}`,
  ...facts,
})
