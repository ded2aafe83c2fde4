/** Pure: the input of a response as a list of items. */
import { toApprovalId, toClientCallId } from './ids.ts'
import { toItems } from './input.ts'

import type { WaitingReview } from '../../service/run-waits.ts'
import type { RecordedDecision, RunResponses } from './run-responses.ts'
import type { CreateResponseBody, InputItem } from './wire.ts'

/** Item of a list, with its id. */
export interface ListedItem extends Readonly<Record<string, unknown>> {
  readonly id: string
}

/** Returns the items with which a run began. */
export function listRequestItems(runId: string, input: CreateResponseBody['input']): ListedItem[] {
  return toItems(input).map((item, place) => toListed(item, `item_${runId}_0_${place}`))
}

function toListed(item: InputItem, id: string): ListedItem {
  const { type = 'message', role, content } = item
  if (type !== 'message') return { ...item, id, status: 'completed' }
  const kind = role === 'assistant' ? 'output_text' : 'input_text'
  const parts = typeof content === 'string' ? [{ type: kind, text: content }] : (content ?? [])
  return { id, type, role, status: 'completed', content: parts }
}

/** Returns the outputs with which a later segment of a run began. */
export function listOutputItems(
  runId: string,
  segment: number,
  responses: RunResponses,
): ListedItem[] {
  return responses.pauseAfter(segment - 1).flatMap((review, place) => {
    const decision = responses.decisionOf(review.reviewId)
    const id = `item_${runId}_${segment}_${place}`
    return decision === undefined ? [] : [{ id, ...toOutputItem(review, decision) }]
  })
}

function toOutputItem(
  { reviewId, clientTool }: WaitingReview,
  { decision, feedback, revisedOutput = '' }: RecordedDecision,
): Readonly<Record<string, unknown>> {
  if (clientTool !== true) {
    return {
      type: 'mcp_approval_response',
      approval_request_id: toApprovalId(reviewId),
      approve: decision === 'CONTINUE' || decision === 'EDIT',
      ...(feedback === undefined ? {} : { reason: feedback }),
    }
  }
  const output = decision === 'EDIT' ? toTypedText(revisedOutput) : `Error: ${feedback ?? decision}`
  const call = { type: 'function_call_output', call_id: toClientCallId(reviewId) }
  return { ...call, output, status: 'completed' }
}

/** Returns the text that a client sent; the event has it as JSON. */
export function toTypedText(revisedOutput: string): string {
  try {
    const value: unknown = JSON.parse(revisedOutput)
    return typeof value === 'string' ? value : revisedOutput
  } catch {
    return revisedOutput
  }
}

/** A page of items, as the API has it. */
export interface ItemPage {
  readonly object: 'list'
  readonly data: readonly ListedItem[]
  readonly first_id: string | null
  readonly last_id: string | null
  readonly has_more: boolean
}

/** Position and size of a page. */
export interface PageQuery {
  readonly limit: number
  readonly order: 'asc' | 'desc'
  readonly after: string | undefined
}

/** Returns a page of items, which are in ascending order. */
export function toPage(items: readonly ListedItem[], { limit, order, after }: PageQuery): ItemPage {
  const ordered = order === 'asc' ? items : items.toReversed()
  const from = after === undefined ? 0 : ordered.findIndex(({ id }) => id === after) + 1
  const data = ordered.slice(from, from + limit)
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: from + limit < ordered.length,
  }
}
