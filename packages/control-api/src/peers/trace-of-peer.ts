/** Pure: the trace that a peer asks in. */
import { isTraceparent } from '@tutti/core'

import type { TaskRequest, ToolRequest } from '@tutti/protocol'

/** What `traceContext` says, for what is done for the peer. One that is not as it should be is none. */
export function traceOfPeer({ traceContext }: Pick<TaskRequest | ToolRequest, 'traceContext'>): {
  readonly traceparent?: string
} {
  const { traceparent } = traceContext ?? {}
  return traceparent !== undefined && isTraceparent(traceparent) ? { traceparent } : {}
}
