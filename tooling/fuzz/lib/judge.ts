/** Finds faults in a response, independent of the request. Pure. */
import { ERROR_CODES, FAILURE_CODES, isErrorCode } from '@tutti/protocol'

import { MAX_ANSWER_BYTES, MAX_ERROR_BYTES, type Answer } from './exchange.ts'

/** JSON-RPC 2.0 code of an internal error. */
const RPC_INTERNAL = -32_603

/** Error codes with a status of 500 or above that mean a missing feature. */
const NOT_OFFERED: readonly string[] = ['NOT_CONFIGURED', 'NOT_IMPLEMENTED']

/** Returns every fault of a response. */
export function faultsOf({ status, contentType, body, bytes }: Answer): readonly string[] {
  const faults: string[] = []
  const limit = status >= 400 ? MAX_ERROR_BYTES : MAX_ANSWER_BYTES
  if (bytes > limit) faults.push(`${bytes} bytes with status ${status}, limit ${limit}`)
  if (!contentType.startsWith('application/json')) {
    if (status >= 500) faults.push(`Status ${status}: ${body.slice(0, 200)}`)
    if (STREAM.test(contentType)) faults.push(...streamFaultsOf(body))
    return faults
  }
  const parsed = parsedOf(body)
  if (parsed === undefined && body !== '') faults.push(`No JSON: ${body.slice(0, 200)}`)
  const code = fieldOf(parsed, 'error')
  const isOffered = !(typeof code === 'string' && NOT_OFFERED.includes(code))
  if (status >= 500 && isOffered && !isRunFailure(code)) {
    faults.push(`Status ${status}: ${body.slice(0, 200)}`)
  }
  if (typeof code === 'string' && isErrorCode(code) && ERROR_CODES[code].status !== status) {
    faults.push(`${code} with status ${status}`)
  }
  if (fieldOf(code, 'code') === RPC_INTERNAL) faults.push(`Internal error: ${body.slice(0, 200)}`)
  return faults
}

/**
 * Whether an error of OpenAI's API reports that a run has failed as it may, for example because the answer of its model
 * did not match the requested schema.
 */
function isRunFailure(error: unknown): boolean {
  const name = toCodeName(fieldOf(error, 'code'))
  return Object.hasOwn(FAILURE_CODES, name) && !SERVER_FAILED.includes(name)
}

/** Codes of failures that no request and no model may cause. */
const SERVER_FAILED: readonly string[] = [
  'INTERNAL',
  'ENGINE_FAILED',
  'PROCESS_LOST',
  'STORE_REFUSED',
  'RUN_UNREADABLE',
]

/** Returns a code under its name in the tables of codes; OpenAI's API has it in lower case. */
function toCodeName(code: unknown): string {
  return typeof code === 'string' ? code.toUpperCase() : ''
}

/** Content types of streams of JSON values. */
const STREAM = /^(?:text\/event-stream|application\/x-ndjson)/

/** Returns every fault of the values in a stream: events, or lines. */
function streamFaultsOf(body: string): readonly string[] {
  return body.split('\n').flatMap((line) => {
    const value = parsedOf(line.replace(/^data: ?/, ''))
    const code = fieldOf(fieldOf(value, 'error'), 'code') ?? fieldOf(value, 'code')
    const name = code ?? fieldOf(value, 'error')
    const isInternal = name === RPC_INTERNAL || SERVER_FAILED.includes(toCodeName(name))
    return isInternal ? [`Internal error in a stream: ${line.slice(0, 200)}`] : []
  })
}

/** Returns every fault of a WebSocket message. */
export function messageFaultsOf(text: string): readonly string[] {
  const faults: string[] = []
  if (text.length > MAX_ANSWER_BYTES) faults.push(`A message of ${text.length} characters`)
  const code = fieldOf(parsedOf(text), 'error') ?? fieldOf(parsedOf(text), 'code')
  if (code === 'INTERNAL') faults.push(`Internal error: ${text.slice(0, 200)}`)
  return faults
}

/** Returns a parsed JSON text; undefined when it is none. */
export function parsedOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns an own field of an object; undefined when the value has none. */
export function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  return Object.hasOwn(value, name)
    ? Object.getOwnPropertyDescriptor(value, name)?.value
    : undefined
}
