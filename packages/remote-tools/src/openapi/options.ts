/** What is made of an OpenAPI document, and how its tools call. */
import type { Limiter, OptionNames, OutputCheck } from '@tutti/core'
import type { HttpOptions } from '../http/options.ts'
import type { OpenApiAuth } from './security.ts'

/** An operation of a document, as far as it is asked for here. */
export interface OpenApiOperation {
  /** Its `operationId`, or `METHOD /path` when it has none. */
  readonly id: string
  /** Such as GET. */
  readonly method: string
  /** With places, such as `/users/{id}`. */
  readonly path: string
  readonly tags: readonly string[]
  readonly deprecated: boolean
}

/** Which operations: by id, or by a function. */
export type OpenApiChoice = readonly string[] | ((operation: OpenApiOperation) => boolean)

/** What is made of a document. Limits, headers and the rest are those of HTTP tools. */
export interface OpenApiToolsOptions extends Pick<
  HttpOptions,
  'headers' | 'maxResponseBytes' | 'redirects' | 'idempotencyKeyHeader' | 'guard' | 'clock'
> {
  /** Where the API is: takes the place of absolute servers; relative ones are read from it. */
  readonly baseUrl?: string | URL
  /** Secrets by the name of their security scheme. @default none */
  readonly auth?: OpenApiAuth
  /** Operations that are taken. @default all */
  readonly include?: OpenApiChoice
  /** Operations that are left out. @default none */
  readonly exclude?: OpenApiChoice
  /** Whether deprecated operations are taken, too. @default false */
  readonly deprecated?: boolean
  /** The name of a tool. @default its operationId, or method and path */
  readonly rename?: (operation: OpenApiOperation) => string | undefined
  /** Put before each name, such as `github_`. @default nothing */
  readonly prefix?: string
  /** Operations that need approval: all, those that may change something, or those chosen. @default none */
  readonly approve?: 'all' | 'writes' | 'none' | ((operation: OpenApiOperation) => boolean)
  /** Makes failed requests of idempotent methods again. @default never */
  readonly retries?: HttpOptions['retries']
  /** Limit of one call in milliseconds. @default 30000 */
  readonly timeoutMs?: number
  /** Bounds the calls of all tools of the document together. */
  readonly limiter?: Limiter
  /** What an answer that does not match the schema of its operation means. @default warn */
  readonly outputCheck?: OutputCheck
}

/** The options of an import. */
export const OPEN_API_OPTION_NAMES = {
  headers: true,
  maxResponseBytes: true,
  redirects: true,
  idempotencyKeyHeader: true,
  guard: true,
  clock: true,
  baseUrl: true,
  auth: true,
  include: true,
  exclude: true,
  deprecated: true,
  rename: true,
  prefix: true,
  approve: true,
  retries: true,
  timeoutMs: true,
  limiter: true,
  outputCheck: true,
} as const satisfies OptionNames<OpenApiToolsOptions>

/** Whether a choice has an operation. */
export function isChosen(choice: OpenApiChoice, operation: OpenApiOperation): boolean {
  return typeof choice === 'function' ? choice(operation) : choice.includes(operation.id)
}
