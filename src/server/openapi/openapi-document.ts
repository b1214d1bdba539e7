/** The interface as an OpenAPI 3.1 document, made from the contract's declarations. */

import { AS_OF_HEADER, PAGINATION_HEADER } from '../../contract/limits.ts'
import {
  COMPANY_MESSAGES,
  type Message,
  OTHER_STATUSES,
  RELATIONS_MESSAGES,
} from '../../contract/messages.ts'
import { OPERATIONS, type Operation } from '../../contract/requests.ts'
import { VERSION } from '../../support/own-package.ts'
import { contractSchemas, PAGINATION_SCHEMA, type Schema, schemaRef } from './openapi-schemas.ts'

const json = (name: string): Schema => ({ 'application/json': { schema: schemaRef(name) } })
const answer = (description: string, content?: Schema, headers?: Schema): Schema => ({
  description,
  ...(headers && { headers }),
  ...(content && { content }),
})
const responseRef = (name: string): Schema => ({ $ref: `#/components/responses/${name}` })

const statusText = (status: number): string =>
  OTHER_STATUSES.find((one) => one.status === status)?.condition ?? ''

const RESPONSES: Readonly<Record<string, Schema>> = {
  Unauthorized: answer(statusText(401)),
  TooManyRequests: answer(statusText(429), undefined, {
    'Retry-After': { description: 'Seconds.', schema: { type: 'integer' } },
  }),
  Busy: answer('The query took longer than the server allows.', json('Problem'), {
    'Retry-After': { description: 'Seconds.', schema: { type: 'integer' } },
  }),
  NotFound: answer('No such file, or none for this token.', json('Problem')),
  TooLarge: answer('The request body is longer than the server takes.', json('Problem')),
  WrongType: answer('The request body says that it is no JSON.', json('Problem')),
}

const COMMON: Schema = { 401: responseRef('Unauthorized'), 429: responseRef('TooManyRequests') }

const messagesText = (messages: Readonly<Record<string, Message>>): string =>
  `Validation error; all messages that apply: ${Object.values(messages)
    .map(({ text, condition }) => `\`${text}\` ${condition}`)
    .join(' ')}`

const search = (name: string, about: string, messages: Readonly<Record<string, Message>>): Schema => ({
  summary: about,
  requestBody: { required: true, content: json(`${name}Request`) },
  responses: {
    200: answer('A page; may be empty.', json(`${name}Answer`), {
      [PAGINATION_HEADER]: {
        description: 'JSON text.',
        required: true,
        content: { 'application/json': { schema: PAGINATION_SCHEMA } },
      },
      [AS_OF_HEADER]: {
        description: 'As of when the data is, of a lake that is served.',
        schema: { type: 'string', format: 'date-time' },
      },
    }),
    400: answer(messagesText(messages), json('ValidationError')),
    ...COMMON,
    413: responseRef('TooLarge'),
    415: responseRef('WrongType'),
    503: responseRef('Busy'),
  },
})

const listing = (name: string, about: string): Schema => ({
  summary: about,
  responses: { 200: answer('The listing.', json(name)), ...COMMON },
})

const FILE_HEADERS: Schema = {
  ETag: { description: 'SHA-256 of the whole file in hex, in quotes.', schema: { type: 'string' } },
  'Repr-Digest': { description: 'SHA-256 of the whole file (RFC 9530).', schema: { type: 'string' } },
  'Accept-Ranges': { schema: { type: 'string', const: 'bytes' } },
}
const RANGE_HEADER: Schema = {
  'Content-Range': { description: 'Which part of which size.', schema: { type: 'string' } },
}
const FILE: Schema = { 'application/octet-stream': {} }
const header = (name: string, description: string): Schema => ({
  name,
  in: 'header',
  description,
  schema: { type: 'string' },
})

const DETAILS: Readonly<Record<Operation, Schema>> = {
  companies: search(
    'Companies',
    'Company search: full or minified, by pages or by cursor.',
    COMPANY_MESSAGES,
  ),
  companiesSearchParameters: listing('ParameterListing', 'Search parameters of the company search.'),
  relations: search('Relations', 'Relations of companies, by cursor.', RELATIONS_MESSAGES),
  relationsSearchParameters: listing('ParameterListing', 'Search parameters of relations.'),
  batchFiles: listing('BatchListing', 'Batch files available to the account.'),
  batchFile: {
    summary: 'A batch file: JSON Lines in Brotli, whole or a range.',
    parameters: [
      { name: 'batchFileId', in: 'path', required: true, schema: { type: 'string' } },
      header('Range', 'One range of bytes.'),
      header('If-Range', 'The ETag of the part that is there already.'),
    ],
    responses: {
      200: answer('The whole file.', FILE, FILE_HEADERS),
      206: answer('The range.', FILE, { ...FILE_HEADERS, ...RANGE_HEADER }),
      304: answer('The file is the one of If-None-Match.'),
      ...COMMON,
      404: responseRef('NotFound'),
      412: answer('The file is not the one of If-Match.'),
      416: answer('The range lies outside the file.', undefined, RANGE_HEADER),
    },
  },
}

const pathsOf = (): Schema => {
  const paths: Record<string, Schema> = {}
  for (const [operation, { method, path }] of Object.entries(OPERATIONS) as [
    Operation,
    (typeof OPERATIONS)[Operation],
  ][])
    paths[path] = { [method.toLowerCase()]: { operationId: operation, ...DETAILS[operation] } }
  return paths
}

/** The document as it is served at `/openapi.json`. */
export const openApiDocument = (): Schema => ({
  openapi: '3.1.0',
  info: {
    title: 'Company search and relations',
    version: VERSION,
    description: 'Company profiles and relations, served from a lake.',
  },
  servers: [{ url: '/' }],
  security: [{ bearer: [] }],
  paths: pathsOf(),
  components: {
    securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    responses: RESPONSES,
    schemas: contractSchemas(),
  },
})
