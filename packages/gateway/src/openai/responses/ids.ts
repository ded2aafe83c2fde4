/** Pure: ids of responses, items and calls. Each contains the id of its run or its review. */
const RESPONSE = /^resp_(?<runId>[A-Za-z0-9][A-Za-z0-9-]*)(?:_(?<segment>[1-9]\d{0,5}))?$/

/** A response: a segment of a run, from 0. */
export interface ResponseId {
  readonly runId: string
  readonly segment: number
}

/** Returns the id of a segment of a run. */
export function toResponseId({ runId, segment }: ResponseId): string {
  return segment === 0 ? `resp_${runId}` : `resp_${runId}_${segment}`
}

/** Parses the id of a response; undefined when it is none. */
export function parseResponseId(id: string): ResponseId | undefined {
  const { runId, segment = '0' } = RESPONSE.exec(id)?.groups ?? {}
  return runId === undefined ? undefined : { runId, segment: Number(segment) }
}

const MESSAGE = /^msg_(?<runId>[A-Za-z0-9][A-Za-z0-9-]*)_\d+_\d+$/

/** Returns the id of a message of a response. */
export function toMessageId({ runId, segment }: ResponseId, index: number): string {
  return `msg_${runId}_${segment}_${index}`
}

/** Returns the run of a message of a response; undefined when the id is none. */
export function parseItemRun(id: string): string | undefined {
  return MESSAGE.exec(id)?.groups?.['runId']
}

const CALL = 'call_'
const CALL_ITEM = 'fc_'
const APPROVAL = 'mcpr_'

/** Returns the id by which a client returns the output of a call. */
export function toClientCallId(reviewId: string): string {
  return `${CALL}${reviewId}`
}

/** Returns the id of a call as an item of a response. */
export function toCallItemId(reviewId: string): string {
  return `${CALL_ITEM}${reviewId}`
}

/** Returns the id by which a client decides a review. */
export function toApprovalId(reviewId: string): string {
  return `${APPROVAL}${reviewId}`
}

/** Returns the review of a call, an item of a call, or an approval; undefined when the id is none of them. */
export function toReviewId(id: string): string | undefined {
  const prefix = [CALL, CALL_ITEM, APPROVAL].find((one) => id.startsWith(one))
  return prefix === undefined ? undefined : id.slice(prefix.length)
}
