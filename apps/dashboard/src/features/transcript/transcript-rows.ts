/**
 * Converts the current attempt at a task to the rows of its transcript. Pure.
 *
 * DASH-TR1 The input comes first, then each turn followed by its tool calls, and finally the result.
 * DASH-TR2 A review is placed where the task waited: before the work, after its tool call, or after the
 *    work.
 * DASH-TR3 A turn whose first model differs from that of the previous turn is preceded by a switch.
 * DASH-TR4 A delegation follows the turn in which it started.
 * DASH-TR5 A row keeps its key, and no part of the task is shown in two rows.
 */
import { buildAttempt, type CallTree, type TurnEntries } from '../../api/run-entries.ts'

import type { RunState } from '@tutti/protocol'
import type {
  DelegationState,
  DirectiveState,
  ReviewState,
  TaskState,
  TurnState,
} from '@tutti/protocol/internal'

export type TranscriptRow = { readonly key: string } & (
  | { readonly kind: 'given' }
  | { readonly kind: 'review'; readonly review: ReviewState }
  | { readonly kind: 'switch'; readonly from: string; readonly to: string }
  | { readonly kind: 'turn'; readonly turn: TurnState }
  | { readonly kind: 'call'; readonly tree: CallTree }
  | { readonly kind: 'delegation'; readonly delegation: DelegationState }
  | { readonly kind: 'end' }
)

/** Returns the rows of a task. */
export function buildTranscriptRows(
  task: TaskState,
  state: Pick<RunState, 'reviews' | 'delegations'>,
): readonly TranscriptRow[] {
  const { turns } = buildAttempt(task)
  const { before, during, after } = groupReviews(task, state.reviews)
  const delegations = state.delegations.filter(
    ({ taskName, attempt }) => taskName === task.name && attempt === task.attempt,
  )
  const placed = placeRows(turns, during, delegations)
  return [
    ...before.map(toReviewRow),
    { kind: 'given', key: 'given' },
    ...turns.flatMap((entries, at) => buildTurnRows(entries, turns[at - 1]?.turn, placed)),
    ...(placed.get(undefined) ?? []),
    ...after.map(toReviewRow),
    ...(isOver(task) ? [{ kind: 'end', key: 'end' } as const] : []),
  ]
}

function isOver({ status }: TaskState): boolean {
  return status !== 'PENDING' && status !== 'RUNNING'
}

/** Returns the key of the row of a turn, or of one of its tool calls. */
export function toRowKey(iterationIndex: number, toolCallId?: string): string {
  return toolCallId === undefined
    ? `turn-${iterationIndex}`
    : `call-${iterationIndex}-${toolCallId}`
}

/** Groups directives by the turn of this attempt that received them. */
export function groupDirectivesByTurn(
  { name, attempt }: Pick<TaskState, 'name' | 'attempt'>,
  directives: readonly DirectiveState[],
): ReadonlyMap<number, readonly DirectiveState[]> {
  const groups = new Map<number, DirectiveState[]>()
  for (const directive of directives) {
    for (const { taskName, attempt: at, iterationIndex } of directive.delivered) {
      if (taskName !== name || at !== attempt) continue
      groups.set(iterationIndex, [...(groups.get(iterationIndex) ?? []), directive])
    }
  }
  return groups
}

/** Rows by the key of the row that they follow; undefined for those that belong to no turn. */
type Placed = ReadonlyMap<string | undefined, readonly TranscriptRow[]>

function buildTurnRows(
  { turn, calls }: TurnEntries,
  before: TurnState | undefined,
  placed: Placed,
): readonly TranscriptRow[] {
  const { iterationIndex } = turn
  const key = toRowKey(iterationIndex)
  const [from, to] = [before && findFirstModel(before), findFirstModel(turn)]
  const rows: TranscriptRow[] = [{ kind: 'turn', key, turn }]
  if (from !== undefined && from !== to) {
    rows.unshift({ kind: 'switch', key: `switch-${iterationIndex}`, from, to })
  }
  for (const tree of calls) {
    const callKey = toCallKey(tree, turn)
    rows.push({ kind: 'call', key: callKey, tree }, ...(placed.get(callKey) ?? []))
  }
  return [...rows, ...(placed.get(key) ?? [])]
}

function toCallKey({ entry }: CallTree, { iterationIndex }: TurnState): string {
  return toRowKey(iterationIndex, entry.kind === 'tool' ? entry.call.id : undefined)
}

/** Returns the first model of a turn; a fallback is not a switch. */
function findFirstModel({ failures: [failure], model }: TurnState): string {
  return failure?.model ?? model
}

function groupReviews(task: TaskState, reviews: readonly ReviewState[]) {
  // A pending task may wait for a review before its first attempt.
  const attempt = Math.max(1, task.attempt)
  const own = reviews.filter((review) => review.taskName === task.name && review.attempt >= attempt)
  const ofNow = own.filter((review) => review.attempt === attempt)
  const at = (timing: ReviewState['timing']) => ofNow.filter((review) => review.timing === timing)
  const next = own.filter((review) => review.attempt > attempt)
  return {
    before: at('BEFORE_EXECUTION'),
    during: at('DURING_EXECUTION'),
    after: [...at('AFTER_EXECUTION'), ...next],
  }
}

/** Places a review after its tool call, and other rows after the turn in which they began. */
function placeRows(
  turns: readonly TurnEntries[],
  reviews: readonly ReviewState[],
  delegations: readonly DelegationState[],
): Placed {
  if (reviews.length === 0 && delegations.length === 0) return new Map()
  const known = new Set(
    turns.flatMap(({ turn, calls }) => calls.map((call) => toCallKey(call, turn))),
  )
  const findCallKey = ({ toolCallId = '' }: ReviewState): string | undefined =>
    turns
      .map(({ turn }) => toRowKey(turn.iterationIndex, toolCallId))
      .findLast((key) => known.has(key))
  const rows = [
    ...reviews.map((review) => ({
      row: toReviewRow(review),
      after: findCallKey(review) ?? findTurnKey(turns, review.requestedAt),
    })),
    ...delegations.map((delegation): { row: TranscriptRow; after: string | undefined } => ({
      row: { kind: 'delegation', key: `delegation-${delegation.delegationId}`, delegation },
      after: findTurnKey(turns, delegation.startedAt ?? delegation.completedAt),
    })),
  ]
  const groups = Map.groupBy(rows, ({ after }) => after)
  return new Map([...groups].map(([key, placed]) => [key, placed.map(({ row }) => row)]))
}

/** Returns the key of the turn at an instant; the last one if the log does not contain it. */
function findTurnKey(
  turns: readonly TurnEntries[],
  instant: string | undefined,
): string | undefined {
  const at = Date.parse(instant ?? '')
  const found =
    turns.findLast(({ turn: { startedAt = '' } }) => Date.parse(startedAt) <= at) ?? turns.at(-1)
  return found && toRowKey(found.turn.iterationIndex)
}

function toReviewRow(review: ReviewState): TranscriptRow {
  return { kind: 'review', key: `review-${review.reviewId}`, review }
}
