/** What one ensemble asks of another over a WebSocket. */

import { answerTaskRequest, answerToolRequest, sharedCapabilities } from '@tutti/gateway'

import type { Asker, MessageOf } from './answer-message.ts'
import type { SharedCapability } from '@tutti/protocol'

/** A message of a peer. */
export type PeerMessage = MessageOf<'task_request' | 'tool_request' | 'capability_query'>

/**
 * Does what a peer asks and replies.
 *
 * @throws {TuttiError} when it is refused; nothing was sent then.
 */
export async function answerPeer(message: PeerMessage, asker: Asker): Promise<void> {
  switch (message.type) {
    case 'task_request':
      await answerTaskRequest(message, asker)
      return
    case 'tool_request':
      await answerToolRequest(message, asker)
      return
    case 'capability_query':
      answerCapabilityQuery(message, asker)
  }
}

function answerCapabilityQuery(
  { requestId, toolName, tag, capabilityType }: MessageOf<'capability_query'>,
  { options, send }: Asker,
): void {
  const fits = ({ name, type, tags = [] }: SharedCapability): boolean =>
    (toolName === undefined || (type === 'TOOL' && name === toolName)) &&
    (tag === undefined || tags.includes(tag)) &&
    (capabilityType === undefined || type === capabilityType)
  send({
    type: 'capability_response',
    requestId,
    ensemble: options.runs.ensembles[0]?.name ?? '',
    capabilities: sharedCapabilities(options).filter(fits),
  })
}
