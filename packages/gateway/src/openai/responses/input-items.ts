/** Pure: the input of a response as a list of items. */
import { toTypedText } from '../../service/continued-run.ts'
import { toApprovalId, toClientCallId } from './ids.ts'
import { toItems } from './input.ts'

import type { RecordedDecision } from '../../service/continued-run.ts'
import type { WaitingReview } from '@tutti/protocol/internal'
import type { RunResponses } from './run-responses.ts'
import type { CreateResponseBody, InputItem, OutputItem } from './wire.ts'

/** Item of a list, with its id. */
export interface ListedItem extends InputItem {
  readonly id: string
  readonly status?: 'completed'
}

/** Returns the items with which a run began. */
export function listRequestItems(runId: string, input: CreateResponseBody['input']): ListedItem[] {
  return toItems(input).map((item, index) => toListed(item, `item_${runId}_0_${index}`))
}

function toListed(item: InputItem, id: string): ListedItem {
  const { type = 'message', role, content } = item
  if (type !== 'message') return { ...item, id, status: 'completed' }
  const kind = role === 'assistant' ? 'output_text' : 'input_text'
  const parts = typeof content === 'string' ? [{ type: kind, text: content }] : (content ?? [])
  return { ...item, id, type, status: 'completed', content: parts }
}

/** Returns the outputs with which a later segment of a run began. */
export function listOutputItems(
  runId: string,
  segment: number,
  responses: RunResponses,
): ListedItem[] {
  return responses.pauseAfter(segment - 1).flatMap((review, index) => {
    const decision = responses.decisionOf(review.reviewId)
    const id = `item_${runId}_${segment}_${index}`
    return decision === undefined ? [] : [{ id, ...toOutputItem(review, decision) }]
  })
}

function toOutputItem(
  { reviewId, kind }: WaitingReview,
  { decision, feedback, revisedOutput = '' }: RecordedDecision,
): Omit<ListedItem, 'id'> {
  if (kind !== 'CLIENT_TOOL') {
    return {
      type: 'mcp_approval_response',
      approval_request_id: toApprovalId(reviewId),
      approve: decision === 'CONTINUE' || decision === 'EDIT',
      ...(feedback === undefined ? {} : { reason: feedback }),
    }
  }
  const output = decision === 'EDIT' ? toTypedText(revisedOutput) : `Error: ${feedback ?? decision}`
  const call = { type: 'function_call_output', call_id: toClientCallId(reviewId) } as const
  return { ...call, output, status: 'completed' }
}

/**
 * Returns what the responses of a run up to a segment add to its input: messages, and calls of client tools with their
 * outputs.
 */
export function listMadeItems(
  runId: string,
  responses: RunResponses,
  newest: number,
): readonly InputItem[] {
  const segments = Array.from({ length: newest + 1 }, (_, segment) => segment)
  return segments.flatMap((segment) => [
    ...responses.stateOf(segment).output.flatMap(toInputItem),
    ...listOutputItems(runId, segment + 1, responses),
  ])
}

/** Returns an item of a response as items of an input; none for an approval request, which concerns its run only. */
export function toInputItem(item: OutputItem): readonly InputItem[] {
  switch (item.type) {
    case 'message': {
      const { type, role, content } = item
      return [{ type, role, content: [...content] }]
    }
    case 'function_call': {
      const { type, call_id: id, name, arguments: text } = item
      return [{ type, call_id: id, name, arguments: text }]
    }
    case 'reasoning':
    case 'mcp_approval_request':
      return []
  }
}
