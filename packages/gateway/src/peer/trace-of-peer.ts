/** Pure: the trace that a peer asks in. */
import { traceContextOf, type TraceContext } from '@tutti/core'

import type { TaskRequest, ToolRequest } from '@tutti/protocol'

/** What `traceContext` says, for what is done for the peer. One that is not as it should be is none. */
export function traceOfPeer({
  traceContext,
}: Pick<TaskRequest | ToolRequest, 'traceContext'>): TraceContext {
  return traceContextOf(traceContext?.traceparent, traceContext?.tracestate)
}
