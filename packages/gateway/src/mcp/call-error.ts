/** What a call is answered with that could not be done. */
import { wireErrorOf } from '../http/on-error.ts'

import type { GatewayOptions } from '../gateway-options.ts'
import type { CallToolResult } from '@modelcontextprotocol/server'

/** Where the result of a call says which error it was, with the body that REST gives for it. */
const ERROR_META = 'tutti/error'

/**
 * The result of a call that was refused or went wrong; faults of ours are logged under the id in it. `before`
 * says what else the caller has to know.
 */
export function errorResult(
  error: unknown,
  options: Pick<GatewayOptions, 'logger' | 'redactor' | 'metrics'>,
  before?: string,
): CallToolResult {
  const { body } = wireErrorOf(error, options)
  const { retryAfterMs } = body
  const again =
    retryAfterMs === undefined ? '' : ` (try again in ${Math.ceil(retryAfterMs / 1000)} s)`
  const start = before === undefined ? '' : `${before}: `
  return {
    isError: true,
    content: [{ type: 'text', text: `${start}${body.message}${again}` }],
    _meta: { [ERROR_META]: { ...body } },
  }
}
