/** Answers that stand for an answer of a server that cannot be used. Pure. */
import { isJsonObject, limitText, unmarkText } from '@tutti/core/internal'

import type { JSONRPCErrorResponse, RequestId } from '@modelcontextprotocol/client'

/** Field of the data of such an answer. The SDK copies messages over HTTP, so it cannot be a symbol. */
const MARK = 'tutti/unusable-answer'

/** JSON-RPC code of an internal error. */
const INTERNAL_ERROR = -32_603

/** Maximum number of characters of a foreign value that a message quotes. */
const QUOTED_LENGTH = 500

/** Returns the answer that ends a request with a reason. */
export function failedAnswer(id: RequestId, reason: string): JSONRPCErrorResponse {
  return {
    jsonrpc: '2.0',
    id,
    error: { code: INTERNAL_ERROR, message: reason, data: { [MARK]: true } },
  }
}

/** Returns whether the data of an error is that of a {@link failedAnswer}. */
export function isOfFailedAnswer(data: unknown): boolean {
  return isJsonObject(data) && data[MARK] === true
}

/** Returns the start of a foreign value: text unchanged, another value as JSON. */
export function preview(value: unknown): string {
  if (typeof value === 'string') return limitText(value, QUOTED_LENGTH)
  try {
    return limitText(unmarkText(JSON.stringify(value) ?? String(value)), QUOTED_LENGTH)
  } catch {
    return '[a value that is nested too deeply]'
  }
}
