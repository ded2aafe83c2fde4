/** What a client's message can be answered with over a WebSocket. */
import type { ClientMessage, ServerMessage } from '@tutti/protocol'

/**
 * Type of a client's message → types of its answers. Any can be refused with `error`; a submitted run
 * is also answered with its `run_result`, when it ends.
 */
export const REPLIES: Readonly<Record<ClientMessage['type'], readonly ServerMessage['type'][]>> = {
  ping: ['pong', 'error'],
  run_request: ['run_ack', 'run_result', 'error'],
  run_control: ['run_control_ack', 'error'],
  state_query: ['state_response', 'error'],
  subscribe: ['subscribe_ack', 'error'],
  directive: ['directive_ack', 'error'],
  review_decision: ['review_decided', 'error'],
  task_request: ['task_accepted', 'task_progress', 'task_response', 'error'],
  tool_request: ['tool_response', 'error'],
  capability_query: ['capability_response', 'error'],
}
