/** Failures between here and a bucket as the toolkit's errors. No text of the server reaches a message. */

import { systemCode, ToolkitError } from '../../core/errors.ts'
import { isCertificateError } from '../../support/verified-fetch.ts'

/** The facts of an error of the SDK. The SDK's own object may hold tokens and signatures: it goes no further. */
interface Fault {
  readonly name: string
  /** Status of the HTTP answer; absent where there was none. */
  readonly status?: number
  readonly attempts: number
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined

const faultOf = (error: unknown): Fault => {
  const metadata = memberOf(error, '$metadata')
  const status = memberOf(metadata, 'httpStatusCode')
  const attempts = memberOf(metadata, 'attempts')
  return {
    name: error instanceof Error ? error.name : 'unknown',
    ...(typeof status === 'number' && { status }),
    attempts: typeof attempts === 'number' ? attempts : 1,
  }
}

/** Requests sent, this one included. After more than one, an earlier one may have been carried out unseen. */
export const attemptsOf = (error: unknown): number => faultOf(error).attempts

/** No such object. A `HEAD` has no body, so its 404 may mean the bucket as well. */
export const isAbsent = (error: unknown): boolean => ['NoSuchKey', 'NotFound'].includes(faultOf(error).name)

/** 412: there is an object of that key already. */
export const isTaken = (error: unknown): boolean => {
  const { name, status } = faultOf(error)
  return name === 'PreconditionFailed' || status === 412
}

/** 409: two wrote at once and none of them was carried out. */
export const isConflict = (error: unknown): boolean =>
  ['ConditionalRequestConflict', 'OperationAborted'].includes(faultOf(error).name)

/** The multipart upload is gone: ended by us unseen, or removed by the bucket's own rules. */
export const isUploadGone = (error: unknown): boolean => faultOf(error).name === 'NoSuchUpload'

/** The endpoint does not know this operation, or not in this form. */
export const isUnknownOperation = (error: unknown): boolean => {
  const { name, status } = faultOf(error)
  return (
    status === 405 || status === 501 || ['MalformedXML', 'MissingContentMD5', 'InvalidRequest'].includes(name)
  )
}

const CHECK_CREDENTIALS = 'check the credentials (AWS_PROFILE, AWS_ACCESS_KEY_ID and its secret)'
const CHECK_REGION = 'check AWS_REGION, the bucket is in another one'
const CHECK_RIGHTS = 'check the rights of the credentials, docs/buckets.md lists those needed'

/** Answers that no retry helps, and what a person should check. */
const REFUSALS: Readonly<Record<string, string>> = {
  NoSuchBucket: 'there is no such bucket: check its name and the endpoint, or make it',
  InvalidBucketName: 'check the name of the bucket',
  AccessDenied: CHECK_RIGHTS,
  AllAccessDisabled: CHECK_RIGHTS,
  AccountProblem: CHECK_CREDENTIALS,
  InvalidAccessKeyId: CHECK_CREDENTIALS,
  // versitygw's name for it.
  XAdminUserNotFound: CHECK_CREDENTIALS,
  SignatureDoesNotMatch: CHECK_CREDENTIALS,
  InvalidToken: CHECK_CREDENTIALS,
  ExpiredToken: 'the credentials have expired: get new ones',
  TokenRefreshRequired: 'the credentials have expired: get new ones',
  CredentialsProviderError:
    'no usable credentials were found: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and its secret',
  TokenProviderError: 'the login has expired: log in again',
  RequestTimeTooSkewed: "check this machine's clock",
  PermanentRedirect: CHECK_REGION,
  AuthorizationHeaderMalformed: CHECK_REGION,
  IllegalLocationConstraintException: CHECK_REGION,
  NotImplemented: 'the endpoint lacks an operation that a lake needs',
}

const REFUSED_STATUS: Readonly<Record<number, string>> = {
  301: CHECK_REGION,
  307: CHECK_REGION,
  401: CHECK_CREDENTIALS,
  403: `${CHECK_CREDENTIALS} and their rights`,
}

const stateOf = (error: unknown, { name, status, attempts }: Fault): string => {
  const suffix = attempts > 1 ? ` after ${attempts} attempts` : ''
  // Without an answer the text is the system's, and the only one to say what is wrong (a certificate, a name).
  if (status === undefined) return `${error instanceof Error ? error.message || name : name}${suffix}`
  const isNamed = /^[A-Za-z]{3,60}$/.test(name) && !['Unknown', 'UnknownError'].includes(name)
  return `the storage answered ${isNamed ? `${name} (${status})` : status}${suffix}`
}

/**
 * The toolkit's error for one of the SDK.
 *
 * @param action `Cannot read "s3://bucket/key"`
 */
export const storageError = (action: string, error: unknown): ToolkitError => {
  if (error instanceof ToolkitError) return error
  const fault = faultOf(error)
  const { name, status } = fault
  const context = { name, ...(status !== undefined && { status }) }
  const cause = new Error(`${systemCode(error) ?? name}${status === undefined ? '' : ` ${status}`}`)
  const check = isCertificateError(systemCode(error))
    ? 'NODE_EXTRA_CA_CERTS names a file of further authorities'
    : (REFUSALS[name] ?? (status === undefined ? undefined : REFUSED_STATUS[status]))
  if (name === 'CredentialsProviderError')
    return new ToolkitError('STORAGE_REFUSED', `${action}: ${check}`, context, cause)
  const text = `${action}: ${stateOf(error, fault)}`
  return check === undefined
    ? new ToolkitError('STORAGE_FAILED', text, context, cause)
    : new ToolkitError('STORAGE_REFUSED', `${text}, ${check}`, context, cause)
}
