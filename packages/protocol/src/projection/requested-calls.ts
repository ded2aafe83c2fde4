/** The tool calls of models that have not ended, and the reviews that wait for a decision. */
import type { RunEventOf } from '../schemas/run-event.ts'
import type { WaitingReview } from './operations.ts'
import { toTurnKey, type TurnPosition } from './turn-key.ts'

/** Returns the id of a call, unique in its run. Models repeat ids in other turns and tasks. */
export function toCallId(
  position: TurnPosition & Pick<RunEventOf<'tool_called'>, 'toolCallId'>,
): string {
  return `${toTurnKey(position)}:${position.toolCallId}`
}

/** Whether an id of {@link toCallId} is that of a call in an attempt, in any turn: a review does not state the turn. */
export function isCallOf(
  callId: string,
  {
    taskIndex,
    attempt,
    toolCallId,
  }: Pick<RunEventOf<'review_requested'>, 'taskIndex' | 'attempt' | 'toolCallId'>,
): boolean {
  return toolCallId !== undefined && withoutTurn(callId) === `${taskIndex}.${attempt}:${toolCallId}`
}

function withoutTurn(callId: string): string {
  return callId.replace(/^(\d+\.\d+)\.\d+:/, '$1:')
}

/** Open calls and reviews of a run, from its events in order. No I/O. */
export class RequestedCalls {
  /** Ids without their turn → ids, in order. */
  readonly #calls = new Map<string, readonly string[]>()
  readonly #reviews = new Map<string, WaitingReview>()
  /** The reviews as a list; undefined after a change. */
  #listed: readonly WaitingReview[] | undefined

  /** Reviews that wait, oldest first; the same list until one opens or closes. */
  get reviews(): readonly WaitingReview[] {
    this.#listed ??= [...this.#reviews.values()]
    return this.#listed
  }

  /** Adds a requested call. */
  add(callId: string): void {
    this.#set(withoutTurn(callId), (ids) => [...ids.filter((id) => id !== callId), callId])
  }

  /**
   * Removes a call that has ended and returns its id; undefined for a step of another call, and for a call that no model
   * requested.
   */
  end(event: RunEventOf<'tool_called'>): string | undefined {
    if (event.parentToolCallId !== undefined) return undefined
    const callId = toCallId(event)
    const key = withoutTurn(callId)
    if (this.#calls.get(key)?.includes(callId) !== true) return undefined
    this.#set(key, (ids) => ids.filter((id) => id !== callId))
    return callId
  }

  /** Adds a review, with the newest call that it can be about. */
  open(event: RunEventOf<'review_requested'>): WaitingReview {
    const { taskIndex, attempt, toolCallId } = event
    const ids =
      toolCallId === undefined ? [] : this.#calls.get(`${taskIndex}.${attempt}:${toolCallId}`)
    const callId = ids?.at(-1)
    const review = { ...event, ...(callId === undefined ? {} : { callId }) }
    this.#reviews.set(event.reviewId, review)
    this.#listed = undefined
    return review
  }

  /** Removes a review; undefined if it does not wait. */
  close(reviewId: string): WaitingReview | undefined {
    const review = this.#reviews.get(reviewId)
    this.#reviews.delete(reviewId)
    this.#listed = undefined
    return review
  }

  #set(key: string, change: (ids: readonly string[]) => readonly string[]): void {
    const ids = change(this.#calls.get(key) ?? [])
    if (ids.length === 0) this.#calls.delete(key)
    else this.#calls.set(key, ids)
  }
}
