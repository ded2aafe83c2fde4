/** Builds the error responses of a route by status, each with its possible error codes. Pure. */
import { ERROR_CODES, ErrorBody, type ErrorCode } from '@tutti/protocol'
import { COMMON_ERRORS } from '@tutti/protocol/internal'

import type { ApiResponse, Example, Header, Reference } from './open-api-types.ts'
import type { SchemaComponents } from './schema-components.ts'

/** Response headers of a status. */
const HEADERS: Readonly<Record<number, Readonly<Record<string, Header>>>> = {
  401: {
    'WWW-Authenticate': requiredHeader('The required authentication scheme'),
  },
  405: {
    Allow: requiredHeader('Methods that the path allows'),
  },
  429: { 'Retry-After': retryAfter() },
  503: { 'Retry-After': retryAfter() },
}

/** Returns the error responses that every route can send, by component name. */
export function commonResponses(
  components: SchemaComponents,
): Readonly<Record<string, ApiResponse>> {
  const groups = [...groupByStatus(COMMON_ERRORS)]
  return Object.fromEntries(
    groups.map(([status, codes]) => [
      componentName(status),
      errorResponse(status, codes, components),
    ]),
  )
}

/** Returns the error responses of a route for `codes`, by status. */
export function errorResponses(
  own: readonly ErrorCode[],
  components: SchemaComponents,
): Readonly<Record<string, ApiResponse | Reference>> {
  const owned: ReadonlySet<number> = new Set(own.map((code) => ERROR_CODES[code].status))
  const groups = [...groupByStatus([...own, ...COMMON_ERRORS])]
  return Object.fromEntries(
    groups.map(([status, codes]) => [
      String(status),
      owned.has(status)
        ? errorResponse(status, codes, components)
        : { $ref: `#/components/responses/${componentName(status)}` },
    ]),
  )
}

function componentName(status: number): string {
  return `Error${status}`
}

function groupByStatus(codes: readonly ErrorCode[]): ReadonlyMap<number, readonly ErrorCode[]> {
  const groups = new Map<number, ErrorCode[]>()
  for (const code of codes) {
    const { status } = ERROR_CODES[code]
    groups.set(status, [...(groups.get(status) ?? []), code])
  }
  return groups
}

/** Returns the response for error codes that share a status. */
export function errorResponse(
  status: number,
  codes: readonly ErrorCode[],
  components: SchemaComponents,
): ApiResponse {
  const headers = HEADERS[status]
  const meanings = codes.map((code) => `- \`${code}\`: ${ERROR_CODES[code].meaning}`)
  return {
    description: meanings.join('\n'),
    ...(headers === undefined ? {} : { headers }),
    content: {
      'application/json': {
        schema: {
          allOf: [components.refer(ErrorBody), { properties: { error: { enum: codes } } }],
        },
        examples: Object.fromEntries(codes.map((code) => [code, toExample(code)])),
      },
    },
  }
}

function toExample(code: ErrorCode): Example {
  const { meaning } = ERROR_CODES[code]
  return { summary: meaning, value: { error: code, message: meaning } }
}

function requiredHeader(description: string): Header {
  return { description, required: true, schema: { type: 'string' } }
}

function retryAfter(): Header {
  return {
    description: 'Seconds to wait before a retry, if known',
    schema: { type: 'integer', minimum: 0 },
  }
}
