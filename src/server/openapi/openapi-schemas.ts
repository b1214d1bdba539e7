/** JSON Schemas of the service's objects, requests and headers, made from the contract's declarations. */

import { DICTIONARIES, type Dictionary } from '../../contract/dictionaries.ts'
import type { Field, ObjectType } from '../../contract/fields.ts'
import { PAGINATION_FIELDS } from '../../contract/limits.ts'
import { BATCH_CONTENT } from '../../contract/listings.ts'
import { CONTENT, PROTECTED_IDENTITY, RELATION, ROLE, UBO_DETAILS } from '../../contract/objects.ts'
import {
  COMPANIES_REQUEST,
  FILTER_CLASSES,
  RELATIONS_PARAMETERS,
  RELATIONS_REQUEST,
  type RequestField,
  YEAR_SUFFIX,
} from '../../contract/requests.ts'

export type Schema = Readonly<Record<string, unknown>>

export const schemaRef = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })

const OMITTED = {
  always: '',
  null: ' Omitted when null.',
  zero: ' Omitted when 0.',
  default: ' Omitted when default.',
} as const

const dictionaryOf = (name: string): Dictionary | undefined =>
  Object.values(DICTIONARIES).find((dictionary) => dictionary.name === name)

/** Codes are listed, not enforced: the service may add new ones. */
const codesText = (name: string | undefined): string => {
  const values = (name === undefined ? undefined : dictionaryOf(name))?.values ?? []
  if (values.length === 0) return ''
  const strings = values.map(({ value, name: text }) => (String(value) === text ? text : `${value} ${text}`))
  return ` Values: ${strings.join(', ')}.`
}

const MASKED: Schema = { type: 'string', const: PROTECTED_IDENTITY }
const listOf = (items: Schema, masked: boolean): Schema =>
  masked
    ? { anyOf: [{ type: 'array', items: { anyOf: [items, MASKED] } }, MASKED] }
    : { type: 'array', items }

const typeOf = (field: Field, self: ObjectType): Schema => {
  switch (field.kind) {
    case 'text':
      return { type: 'string' }
    case 'date-time':
      // No format: the offset may be missing, which RFC 3339 does not allow.
      return { type: 'string' }
    case 'integer':
      return { type: 'integer', format: 'int64' }
    case 'number':
      return { type: 'number', format: 'double' }
    case 'boolean':
      return { type: 'boolean' }
    case 'strings':
      return listOf({ type: 'string' }, field.masked === true)
    case 'object':
      return schemaRef(field.of.name)
    case 'objects':
      return listOf(schemaRef(field.of.name), field.masked === true)
    case 'self-list':
      return listOf(schemaRef(self.name), false)
    case 'series':
      return schemaRef('FinancialsTimeSeries')
    case 'financials':
      return schemaRef('FinancialsCategories')
  }
}

const aboutOf = (field: Field): string => {
  const codes = 'codes' in field ? codesText(field.codes) : ''
  const form = field.kind === 'date-time' ? ' ISO 8601.' : ''
  const masked =
    'masked' in field && field.masked === true
      ? ` May be "${PROTECTED_IDENTITY}" for a protected person.`
      : ''
  return `${field.about}${form}${codes}${masked}${OMITTED[field.omitted]}`
}

/** Objects in which the server sends no field that their record lacks: an id of 0 would make one person of all without an id. */
const AS_THEY_CAME: readonly ObjectType[] = [RELATION, ROLE, UBO_DETAILS]

const objectSchema = (object: ObjectType): Schema => {
  const fields = Object.entries(object.fields)
  const required = fields.flatMap(([name, { omitted }]) =>
    omitted === 'always' && !AS_THEY_CAME.includes(object) ? [name] : [],
  )
  return {
    type: 'object',
    description: object.about,
    properties: Object.fromEntries(
      fields.map(([name, field]) => [name, { ...typeOf(field, object), description: aboutOf(field) }]),
    ),
    ...(required.length > 0 && { required }),
  }
}

/** An object and all that it holds, by name. */
const withParts = (object: ObjectType, found: Map<string, Schema>): void => {
  if (found.has(object.name)) return
  found.set(object.name, objectSchema(object))
  for (const field of Object.values(object.fields))
    if (field.kind === 'object' || field.kind === 'objects') withParts(field.of, found)
}

const REQUEST_TYPES: Readonly<Record<RequestField['type'], Schema>> = {
  'search parameters': { type: 'object' },
  text: { type: 'string' },
  integer: { type: 'integer' },
  boolean: { type: 'boolean' },
}

const requestSchema = (
  about: string,
  fields: Readonly<Record<string, RequestField>>,
  parameters: Schema,
): Schema => ({
  type: 'object',
  description: about,
  properties: Object.fromEntries(
    Object.entries(fields).map(([name, { type, default: value, values, rules }]) => {
      const base = type === 'search parameters' ? parameters : REQUEST_TYPES[type]
      const nullable = value === null ? { ...base, type: [base.type, 'null'] } : base
      return [
        name,
        {
          ...nullable,
          ...(values && { enum: values }),
          description: `${rules}${base.description === undefined ? '' : ` ${base.description}`}`,
          ...(value !== undefined && { default: value }),
        },
      ]
    }),
  ),
  required: Object.entries(fields).flatMap(([name, { required }]) => (required ? [name] : [])),
})

const VALUES: Schema = { type: 'array', minItems: 1, items: { type: ['string', 'number'] } }

const companyParameters: Schema = {
  type: 'object',
  minProperties: 1,
  additionalProperties: VALUES,
  description:
    'Parameter name → values; names are case-insensitive, filters of different names are combined with AND. ' +
    `Figures take \`${YEAR_SUFFIX}<year>\`. ${Object.values(FILTER_CLASSES)
      .map(({ parameters, about }) => `${parameters.join(', ')}: ${about}`)
      .join(' ')}`,
}
const relationsParameters: Schema = {
  type: 'object',
  minProperties: 1,
  additionalProperties: VALUES,
  description: `Parameter name → values; names are case-insensitive. ${RELATIONS_PARAMETERS.map(
    ({ name, about }) => `${name}: ${about}`,
  ).join(' ')}`,
}

/** The value of the X-Pagination header: JSON text. */
export const PAGINATION_SCHEMA: Schema = {
  type: 'object',
  properties: Object.fromEntries(
    Object.entries(PAGINATION_FIELDS).map(([name, { type, present, about }]) => [
      name,
      {
        type: type === 'cursor' ? ['string', 'null'] : type,
        description: present === 'always' ? about : `${about} In ${present} only.`,
      },
    ]),
  ),
  required: Object.entries(PAGINATION_FIELDS).flatMap(([name, { present }]) =>
    present === 'always' ? [name] : [],
  ),
}

const text: Schema = { type: 'string' }
const listing = (field: string, entry: string): Schema => ({
  type: 'object',
  properties: { [field]: { type: 'array', items: schemaRef(entry) } },
  required: [field],
})

const OTHERS: Readonly<Record<string, Schema>> = {
  FinancialsTimeSeries: {
    type: 'object',
    description: 'Fiscal year → value.',
    propertyNames: { pattern: '^-?\\d+$' },
    additionalProperties: { type: 'number', format: 'double' },
  },
  FinancialsCategories: {
    type: 'object',
    description: 'Category → line item → fiscal year → value, the scale of MetaData not applied.',
    additionalProperties: { type: 'object', additionalProperties: schemaRef('FinancialsTimeSeries') },
  },
  CompaniesAnswer: listing('Companies', 'Company'),
  RelationsAnswer: listing('Relations', 'RelationsCompany'),
  CompaniesRequest: requestSchema('A company search.', COMPANIES_REQUEST, companyParameters),
  RelationsRequest: requestSchema('A search for relations.', RELATIONS_REQUEST, relationsParameters),
  ParameterListing: listing('SearchParameters', 'ParameterEntry'),
  ParameterEntry: {
    type: 'object',
    description: 'A search parameter; entries of relations have the first three fields only.',
    properties: {
      ParameterName: text,
      Datatype: { type: 'string', enum: ['number', 'string', 'date'] },
      Description: text,
      FilterType: { type: 'string', enum: Object.keys(FILTER_CLASSES) },
      IsSortable: { type: 'boolean' },
      Values: {
        type: 'array',
        items: {
          type: 'object',
          properties: { Value: { type: ['string', 'number'] }, Name: text },
          required: ['Value', 'Name'],
        },
      },
    },
    required: ['ParameterName', 'Datatype'],
  },
  BatchListing: listing('BatchFiles', 'BatchFileEntry'),
  BatchFileEntry: {
    type: 'object',
    properties: {
      BatchFileId: text,
      FileName: text,
      Content: { type: 'string', enum: Object.values(BATCH_CONTENT) },
      CountryCode: { type: 'string', description: 'Absent for records without a country.' },
      CreatedAt: { type: 'string', format: 'date-time' },
      SizeInBytes: { type: 'integer', format: 'int64', description: 'Of the compressed file.' },
      Count: { type: 'integer', description: 'Records in the file.' },
    },
    required: ['BatchFileId', 'FileName', 'Content', 'CreatedAt', 'SizeInBytes', 'Count'],
  },
  ValidationError: {
    type: 'object',
    properties: {
      type: text,
      title: text,
      status: { type: 'integer', const: 400 },
      errors: {
        type: 'object',
        properties: { parameters: { type: 'array', items: text } },
        required: ['parameters'],
      },
    },
    required: ['type', 'title', 'status', 'errors'],
  },
  Problem: {
    type: 'object',
    properties: { type: text, title: text, status: { type: 'integer' } },
    required: ['type', 'title', 'status'],
  },
}

/** `components.schemas` of the document. */
export const contractSchemas = (): Readonly<Record<string, Schema>> => {
  const found = new Map<string, Schema>()
  for (const object of Object.values(CONTENT)) withParts(object, found)
  return { ...Object.fromEntries(found), ...OTHERS }
}
