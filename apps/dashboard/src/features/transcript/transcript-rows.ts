/**
 * Converts the current attempt at a task to the rows of its transcript. Pure.
 *
 * DASH-TR1 The input comes first, then each turn followed by its tool calls, and finally the result.
 * DASH-TR2 A review is placed where the task waited: before the work, after its tool call, or after the
 *    work.
 * DASH-TR3 A turn whose first model differs from that of the previous turn is preceded by a switch.
 * DASH-TR4 A delegation follows the turn in which it started.
 * DASH-TR5 A row keeps its key, and no part of the task is shown in two rows.
 * DASH-TR6 The rows of an unchanged turn stay the same objects, unless other rows are placed between
 *    them.
 */
import type { RunState } from '@tutti/protocol'
import type {
  AgentCallState,
  DelegationState,
  DirectiveState,
  ReviewState,
  TaskState,
  ToolCallState,
  TurnState,
} from '@tutti/protocol/internal'

export type TranscriptRow = { readonly key: string } & (
  | { readonly kind: 'given' }
  | { readonly kind: 'review'; readonly review: ReviewState }
  | { readonly kind: 'switch'; readonly from: string; readonly to: string }
  | { readonly kind: 'turn'; readonly turn: TurnState }
  | { readonly kind: 'call'; readonly iterationIndex: number; readonly call: ToolCallState }
  | { readonly kind: 'delegation'; readonly delegation: DelegationState }
  | { readonly kind: 'end' }
)

/** Returns the rows of a task. */
export function buildTranscriptRows(
  task: TaskState,
  { reviews, delegations }: Pick<RunState, 'reviews' | 'delegations'>,
): readonly TranscriptRow[] {
  const own = groupReviews(task, reviews)
  const begun = delegations.filter(
    ({ taskName, attempt }) => taskName === task.name && attempt === task.attempt,
  )
  const placed = placeByTurn(task.turns, own.during, begun)
  return [
    ...own.before.map(toReviewRow),
    { kind: 'given', key: 'given' },
    ...task.turns.flatMap((turn, at) => findRows(turn, task.turns[at - 1], placed)),
    ...placed.without,
    ...own.after.map(toReviewRow),
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
  const shown = directives.flatMap((directive) =>
    directive.delivered
      .filter((one) => one.taskName === name && one.attempt === attempt)
      .map(({ iterationIndex }) => ({ iterationIndex, directive })),
  )
  return groupValues(
    shown,
    ({ iterationIndex }) => iterationIndex,
    ({ directive }) => directive,
  )
}

/** Groups calls to other agents by tool call. */
export function groupAgentsByCall(
  calls: readonly AgentCallState[],
): ReadonlyMap<string, readonly AgentCallState[]> {
  return groupValues(
    calls,
    ({ toolCallId }) => toolCallId,
    (call) => call,
  )
}

/**
 * Returns the tool calls of a turn as a tree; steps that ended before their call are nested in it.
 */
export function nestCalls(calls: readonly ToolCallState[]): readonly ToolCallState[] {
  if (calls.every(({ parentToolCallId }) => parentToolCallId === undefined)) return calls
  const waiting = calls.filter(
    ({ parentToolCallId: parent }) => parent !== undefined && calls.some(({ id }) => id === parent),
  )
  if (waiting.length === 0) return calls
  const withSteps = (call: ToolCallState): ToolCallState => {
    const steps = waiting.filter(({ parentToolCallId }) => parentToolCallId === call.id)
    return steps.length === 0
      ? call
      : { ...call, steps: [...call.steps, ...steps.map((step) => withSteps(step))] }
  }
  return calls.filter((call) => !waiting.includes(call)).map((call) => withSteps(call))
}

interface Placed {
  /** Rows after the calls of a turn. */
  readonly byTurn: ReadonlyMap<number, readonly TranscriptRow[]>
  /** Reviews of tool calls, by call id. */
  readonly byCall: ReadonlyMap<string, readonly TranscriptRow[]>
  /** Rows that belong to no turn. */
  readonly without: readonly TranscriptRow[]
}

const NOTHING_PLACED: Placed = { byTurn: new Map(), byCall: new Map(), without: [] }

/** Cached rows of a turn, and the model of the previous turn. */
interface KnownRows {
  readonly from: string | undefined
  readonly rows: readonly TranscriptRow[]
}

/** The latest rows of each turn. */
const KNOWN = new WeakMap<TurnState, KnownRows>()

function findRows(
  turn: TurnState,
  before: TurnState | undefined,
  placed: Placed,
): readonly TranscriptRow[] {
  const isAlone = placed.byCall.size === 0 && !placed.byTurn.has(turn.iterationIndex)
  if (!isAlone) return buildTurnRows(turn, before, placed)
  const from = before && findFirstModel(before)
  const known = KNOWN.get(turn)
  if (known !== undefined && known.from === from) return known.rows
  const rows = buildTurnRows(turn, before, placed)
  KNOWN.set(turn, { from, rows })
  return rows
}

function buildTurnRows(
  turn: TurnState,
  before: TurnState | undefined,
  { byTurn, byCall }: Placed,
): readonly TranscriptRow[] {
  const { iterationIndex } = turn
  const rows: TranscriptRow[] = []
  const [from, to] = [before && findFirstModel(before), findFirstModel(turn)]
  if (from !== undefined && from !== to) {
    rows.push({ kind: 'switch', key: `switch-${iterationIndex}`, from, to })
  }
  rows.push({ kind: 'turn', key: toRowKey(iterationIndex), turn })
  for (const call of nestCalls(turn.toolCalls)) {
    rows.push({ kind: 'call', key: toRowKey(iterationIndex, call.id), iterationIndex, call })
    rows.push(...(byCall.get(call.id) ?? []))
  }
  rows.push(...(byTurn.get(iterationIndex) ?? []))
  return rows
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

function placeByTurn(
  turns: readonly TurnState[],
  reviews: readonly ReviewState[],
  delegations: readonly DelegationState[],
): Placed {
  if (reviews.length === 0 && delegations.length === 0) return NOTHING_PLACED
  const known = new Set(turns.flatMap(({ toolCalls }) => nestCalls(toolCalls).map(({ id }) => id)))
  const atCall = reviews.filter(({ toolCallId }) => known.has(toolCallId ?? ''))
  const others = [
    ...reviews
      .filter((review) => !atCall.includes(review))
      .map((review) => ({ row: toReviewRow(review), at: review.requestedAt })),
    ...delegations.map((delegation) => ({
      row: {
        kind: 'delegation',
        key: `delegation-${delegation.delegationId}`,
        delegation,
      } as const,
      at: delegation.startedAt ?? delegation.completedAt,
    })),
  ].map(({ row, at }) => ({ row, turn: findTurnAt(turns, at) }))
  return {
    byTurn: groupValues(
      others.filter(({ turn }) => turn !== undefined),
      ({ turn }) => turn?.iterationIndex ?? 0,
      ({ row }) => row,
    ),
    byCall: groupValues(atCall, ({ toolCallId }) => toolCallId ?? '', toReviewRow),
    without: others.flatMap(({ row, turn }) => (turn === undefined ? [row] : [])),
  }
}

/** Returns the turn at an instant; the last one if the log does not contain it. */
function findTurnAt(
  turns: readonly TurnState[],
  instant: string | undefined,
): TurnState | undefined {
  if (instant === undefined) return turns.at(-1)
  const at = Date.parse(instant)
  return (
    turns.findLast(({ startedAt }) => startedAt !== undefined && Date.parse(startedAt) <= at) ??
    turns.at(-1)
  )
}

function toReviewRow(review: ReviewState): TranscriptRow {
  return { kind: 'review', key: `review-${review.reviewId}`, review }
}

function groupValues<T, K, V>(
  items: readonly T[],
  keyOf: (item: T) => K,
  valueOf: (item: T) => V,
): ReadonlyMap<K, readonly V[]> {
  const groups = new Map<K, V[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [valueOf(item)])
    else group.push(valueOf(item))
  }
  return groups
}
