/** Options of `openApiTools`. */
import type { Limiter } from '@tutti/core'
import type { OptionNames, OutputCheck } from '@tutti/core/internal'
import type { HttpOptions } from '../http/options.ts'
import type { OpenApiAuth } from './security.ts'

/** An operation of a document, for choosing and naming. */
export interface OpenApiOperation {
  /** Its `operationId`, or `METHOD /path` when it has none. */
  readonly id: string
  /** HTTP method in upper case, such as GET. */
  readonly method: string
  /** Path with placeholders, such as `/users/{id}`. */
  readonly path: string
  readonly tags: readonly string[]
  readonly deprecated: boolean
}

/** A choice of operations: their ids, or a function. */
export type OpenApiChoice = readonly string[] | ((operation: OpenApiOperation) => boolean)

/** Options of the tools of a document. Those of requests are the same as in HTTP tools. */
export interface OpenApiToolsOptions extends Pick<
  HttpOptions,
  'headers' | 'maxResponseBytes' | 'redirects' | 'idempotencyKeyHeader' | 'guard' | 'clock'
> {
  /** URL of the API. It replaces absolute server URLs, and is the base of relative ones. @default the servers of the document */
  readonly baseUrl?: string | URL
  /** Secrets by the name of their security scheme. @default none */
  readonly auth?: OpenApiAuth
  /** Operations to import. @default all */
  readonly include?: OpenApiChoice
  /** Operations to leave out. @default none */
  readonly exclude?: OpenApiChoice
  /** Whether deprecated operations are imported. @default false */
  readonly deprecated?: boolean
  /** Returns the name of a tool; undefined for the default. @default its operationId, or method and path */
  readonly rename?: (operation: OpenApiOperation) => string | undefined
  /** Prefix of each name, such as `github_`. @default none */
  readonly prefix?: string
  /** Operations that need approval: all, those that may write, or those for which a function returns true. @default none */
  readonly approve?: 'all' | 'writes' | 'none' | ((operation: OpenApiOperation) => boolean)
  /** Retries of failed requests with idempotent methods. @default none */
  readonly retries?: HttpOptions['retries']
  /** Time limit of one call, in milliseconds. @default 30000 */
  readonly timeoutMs?: number
  /** Limits the concurrent calls of all tools of the document together. */
  readonly limiter?: Limiter
  /** Whether a response that does not match the schema is logged as a warning or fails the call. @default warn */
  readonly outputCheck?: OutputCheck
}

/** Names of the {@link OpenApiToolsOptions}. */
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

/** Returns whether a choice includes an operation. */
export function isChosen(choice: OpenApiChoice, operation: OpenApiOperation): boolean {
  return typeof choice === 'function' ? choice(operation) : choice.includes(operation.id)
}
