/** Does what a peer asks of a shared tool: one call, as `POST /api/tools/{name}/invoke` makes it. */
import { findTool, invokeTool } from '../tools/invoke-tool.ts'
import { requestKey } from './request-key.ts'
import { sharedTools } from './shared.ts'
import { traceOfPeer } from './trace-of-peer.ts'

import type { PeerCall } from './peer-call.ts'
import type { ToolRequest } from '@tutti/protocol'

/**
 * Calls the tool and replies. The call is cancelled when the connection goes away. The tool gets an
 * idempotency key that is the same when the same request is sent again.
 *
 * @throws {TuttiError} as `findTool` and `invokeTool`.
 */
export async function answerToolRequest(request: ToolRequest, asker: PeerCall): Promise<void> {
  const { requestId, from } = request
  const { options, gone } = asker
  const tool = findTool(sharedTools(options), request.tool)
  const { status, output, errorMessage, durationMs } = await invokeTool(options, tool, {
    input: request.input ?? {},
    signal: gone,
    idempotencyKey: requestKey(from, requestId),
    ...traceOfPeer(request),
  })
  const end =
    status === 'SUCCESS'
      ? ({ status: 'COMPLETED', result: output ?? '' } as const)
      : ({ status: 'FAILED', error: errorMessage ?? '' } as const)
  asker.send({ type: 'tool_response', requestId, ...end, durationMs })
}
