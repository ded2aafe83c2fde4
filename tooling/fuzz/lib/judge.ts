/** Finds faults in a response, independent of the request. Pure. */
import { ERROR_CODES, isErrorCode } from '@tutti/protocol'

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
    return faults
  }
  const parsed = parsedOf(body)
  if (parsed === undefined && body !== '') faults.push(`No JSON: ${body.slice(0, 200)}`)
  const code = fieldOf(parsed, 'error')
  if (status >= 500 && !(typeof code === 'string' && NOT_OFFERED.includes(code))) {
    faults.push(`Status ${status}: ${body.slice(0, 200)}`)
  }
  if (typeof code === 'string' && isErrorCode(code) && ERROR_CODES[code].status !== status) {
    faults.push(`${code} with status ${status}`)
  }
  if (fieldOf(code, 'code') === RPC_INTERNAL) faults.push(`Internal error: ${body.slice(0, 200)}`)
  return faults
}

/** Returns every fault of a WebSocket message. */
export function messageFaultsOf(text: string): readonly string[] {
  const faults: string[] = []
  if (text.length > MAX_ANSWER_BYTES) faults.push(`A message of ${text.length} characters`)
  const code = fieldOf(parsedOf(text), 'error') ?? fieldOf(parsedOf(text), 'code')
  if (code === 'INTERNAL') faults.push(`Internal error: ${text.slice(0, 200)}`)
  return faults
}

function parsedOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  return Object.hasOwn(value, name)
    ? Object.getOwnPropertyDescriptor(value, name)?.value
    : undefined
}
