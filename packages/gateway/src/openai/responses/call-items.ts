/** Pure: reviews as items of a response, and outputs of the client as decisions. */
import { asksQuestion } from '../../service/decision-in-text.ts'
import { toApprovalId, toCallItemId, toClientCallId } from './ids.ts'

import type { WaitingReview } from '@tutti/protocol/internal'
import type { ApprovalItem, FunctionCallItem, SegmentEvent } from './wire.ts'

/** An item and its events. */
export interface MadeItem<Item> {
  readonly item: Item
  readonly events: readonly SegmentEvent[]
}

/** Returns a call of a client tool. */
export function toFunctionCall(review: WaitingReview, index: number): MadeItem<FunctionCallItem> {
  const { reviewId, toolName = '', toolInput } = review
  const text = JSON.stringify(toolInput) ?? '{}'
  const id = toCallItemId(reviewId)
  const item: FunctionCallItem = {
    type: 'function_call',
    id,
    call_id: toClientCallId(reviewId),
    name: toolName,
    arguments: text,
    status: 'completed',
  }
  const position = { item_id: id, output_index: index }
  return {
    item,
    events: [
      {
        type: 'response.output_item.added',
        output_index: index,
        item: { ...item, arguments: '', status: 'in_progress' },
      },
      { type: 'response.function_call_arguments.delta', ...position, delta: text },
      {
        type: 'response.function_call_arguments.done',
        ...position,
        name: toolName,
        arguments: text,
      },
      { type: 'response.output_item.done', output_index: index, item },
    ],
  }
}

/** Names of approval requests that concern no tool call. */
const NAMES = {
  BEFORE_EXECUTION: 'start_task',
  DURING_EXECUTION: 'call_tool',
  AFTER_EXECUTION: 'accept_output',
} as const

/** Returns a review as an approval request. Its arguments are the input of the tool, or the task under review. */
export function toApprovalItem(review: WaitingReview, index: number): MadeItem<ApprovalItem> {
  const { reviewId, timing, toolName = NAMES[timing] } = review
  const item: ApprovalItem = {
    type: 'mcp_approval_request',
    id: toApprovalId(reviewId),
    server_label: 'tutti',
    name: toolName,
    arguments: JSON.stringify(toArguments(review)),
  }
  return {
    item,
    events: [
      { type: 'response.output_item.added', output_index: index, item },
      { type: 'response.output_item.done', output_index: index, item },
    ],
  }
}

function toArguments(review: WaitingReview): unknown {
  const { timing, taskName, taskDescription, taskOutput, prompt, toolInput } = review
  if (timing === 'DURING_EXECUTION') {
    return asksQuestion(review) ? { question: taskDescription } : (toolInput ?? {})
  }
  return {
    task: taskName,
    ...(prompt === undefined || prompt === null ? {} : { question: prompt }),
    description: taskDescription,
    ...(timing === 'AFTER_EXECUTION' ? { output: taskOutput } : {}),
  }
}
