/**
 * Full-text ranking by our own inverted index: texts of companies cut into terms, terms into postings, and BM25 over
 * them, all in SQL. Documents and questions are cut by the same expression. Languages written without spaces are
 * found by whole runs of letters only.
 *
 * Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009 (weights of texts
 * as in its BM25F: a term in a name counts as if it stood there three times).
 */

import { foldedSql } from './folded.ts'

/** Longest term, in characters; longer ones are cut. */
const TERM_LENGTH = 64
/** Terms of a question that are looked up. A bound on what one request can cost. */
const QUESTION_TERMS = 128

/** How soon more of the same term stops to help, and how much long texts are held back: the usual values. */
const K1 = 1.2
const B = 0.75

/** Terms of a text expression: VARCHAR[], in order, repeated ones too. */
export const termsOf = (text: string): string =>
  `list_transform(regexp_extract_all(${foldedSql(text)}, '[\\p{L}\\p{N}]+'), lambda term: left(term, ${TERM_LENGTH}))`

/** A text without blanks and signs between its letters and digits: "556012-3456" becomes "5560123456". */
const joined = (text: string): string => `regexp_replace(${text}, '[[:punct:][:space:]]+', '', 'g')`

/**
 * The texts of a company, one a row: `internal_id, weight, text`.
 * @param companies a relation with the columns of the lake's `companies`
 */
export const companyStrings = (companies: string): string => `
  SELECT internal_id, part.weight AS weight, part.text AS text
  FROM (
    SELECT internal_id, unnest([
      {weight: 3, text: company_name},
      {weight: 3, text: array_to_string(previous_names, ' ')},
      {weight: 3, text: org_no},
      {weight: 3, text: CASE WHEN ${joined('org_no')} <> org_no THEN ${joined('org_no')} END},
      {weight: 3, text: vat_number},
      {weight: 3, text: CASE WHEN ${joined('vat_number')} <> vat_number THEN ${joined('vat_number')} END},
      {weight: 2, text: array_to_string(keywords, ' ')},
      {weight: 2, text: array_to_string(linkedin.keywords, ' ')},
      {weight: 2, text: array_to_string(list_transform(industry_codes, lambda item: item.text), ' ')},
      {weight: 1, text: business_description_eng},
      {weight: 1, text: business_description_original},
      {weight: 1, text: website_summary},
      {weight: 1, text: address_city},
      {weight: 1, text: ${host('url')}},
      {weight: 1, text: CASE WHEN ${host('enhanced_url')} IS DISTINCT FROM ${host('url')} THEN ${host('enhanced_url')} END}
    ]) AS part
    FROM ${companies}
  )
  WHERE part.text IS NOT NULL`

/** The host of an address, without `www.`: "https://www.acme.se/om" becomes "acme.se". */
function host(url: string): string {
  return `regexp_extract(lower(${url}), '^\\s*(?:[a-z][a-z0-9+.-]*://)?(?:www\\.)?([^/?#\\s]*)', 1)`
}

/**
 * The inverted index: `term, internal_id, weight`, one row a term and company. `weight` is how often the term stands
 * in the company's texts, each time counted by the weight of its text.
 */
export const postingsOf = (companies: string): string => `
  SELECT term, internal_id, sum(weight)::FLOAT AS weight
  FROM (SELECT internal_id, weight, unnest(${termsOf('text')}) AS term FROM (${companyStrings(companies)}))
  GROUP BY term, internal_id`

/**
 * Length of each company's texts in terms, counted by weight as in the postings: `internal_id, text_terms`. Companies
 * without a term have no row.
 * @param postings a relation of postings, made by `postingsOf`
 */
export const termCountsOf = (postings: string): string => `
  SELECT internal_id, sum(weight)::INTEGER AS text_terms FROM ${postings} GROUP BY internal_id`

/** Longest text that an embedder gets of a company, in characters. */
const EMBEDDED_LENGTH = 2000

/** The text that an embedder reads of each company, the most specific first: `internal_id, text`; `text` is '' for none. */
export const embeddingStrings = (companies: string): string => `
  SELECT internal_id, left(concat_ws('. ',
    company_name,
    array_to_string(list_transform(industry_codes, lambda item: item.text), ', '),
    array_to_string(keywords, ', '),
    array_to_string(linkedin.keywords, ', '),
    coalesce(business_description_eng, business_description_original),
    website_summary,
    address_city), ${EMBEDDED_LENGTH}) AS text
  FROM ${companies}`

/**
 * Companies that have any term of a question, with their BM25 score: `internal_id, score`, score above 0. A SELECT
 * over `serving.posting` and `serving.company`, to stand in brackets; its order is not given.
 * @param question placeholder of the question's text, e.g. `$1`
 */
export const rankedByTerms = (question: string): string => `
  WITH asked AS MATERIALIZED (SELECT ${question}::VARCHAR AS question),
  total AS (SELECT count(*) AS companies, avg(text_terms) AS terms FROM serving.company),
  hit AS MATERIALIZED (
    SELECT term, internal_id, weight FROM serving.posting
    WHERE term IN (SELECT unnest(${questionTerms('question')}) FROM asked)
  ),
  rarity AS (
    SELECT term, ln(1 + (any_value(companies) - count(*) + 0.5) / (count(*) + 0.5)) AS rarity
    FROM hit, total GROUP BY term
  )
  SELECT internal_id, sum(rarity * weight * ${K1 + 1} / (weight + ${K1} * (1 - ${B} + ${B} * text_terms / terms))) AS score
  FROM hit JOIN rarity USING (term) JOIN serving.company USING (internal_id), total
  GROUP BY internal_id`

/**
 * Terms of a question in a column. What is written with signs between digits is looked for joined too, as numbers are
 * kept. (Of a bound value instead of a column, DuckDB would work it out again and again while it plans: 40 ms.)
 */
const questionTerms = (question: string): string => {
  const numbers = `list_transform(regexp_extract_all(${question}, '\\S*[0-9]\\S*'), lambda word: ${joined('word')})`
  return `${termsOf(`concat_ws(' ', ${question}, array_to_string(${numbers}, ' '))`)}[1:${QUESTION_TERMS}]`
}

/**
 * Companies whose vector is near a question's: `internal_id, score`, score the cosine similarity. A SELECT over
 * `serving.embedding`, to stand in brackets; its order is not given.
 * @param question placeholder of the question's vector as text (`vectorText`)
 * @param embedder gives the dimensions and the least similarity
 */
export const rankedByVector = (
  question: string,
  { dimensions, minSimilarity }: { readonly dimensions: number; readonly minSimilarity: number },
): string => `
  SELECT internal_id, score
  FROM (
    SELECT internal_id, array_inner_product(vector::FLOAT[${dimensions}], ${question}::VARCHAR::FLOAT[${dimensions}])::DOUBLE AS score
    FROM serving.embedding
  )
  WHERE score >= ${minSimilarity}`
