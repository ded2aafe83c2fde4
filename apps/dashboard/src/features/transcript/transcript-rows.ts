/**
 * Pure: the work of a task in its present attempt, as the rows in which it is read.
 *
 * R1 What was given comes first, then each turn followed by its tool calls, and at the end what came of it.
 * R2 A gate stands where the task stood: before the work, after the tool call that it holds, or after the work.
 * R3 A turn whose first model is not that of the turn before has the switch before it.
 * R4 A delegation stands after the turn in which it began.
 * R5 A row keeps its key as long as it is there, and nothing of the task is in two rows.
 * R6 The rows of a turn that is the same as before are the very same, where nothing stands between them.
 */
import type {
  AgentCallState,
  DelegationState,
  DirectiveState,
  ReviewState,
  RunState,
  TaskState,
  ToolCallState,
  TurnState,
} from '@tutti/protocol'

export type TranscriptRow = { readonly key: string } & (
  | { readonly kind: 'given' }
  | { readonly kind: 'gate'; readonly gate: ReviewState }
  | { readonly kind: 'switch'; readonly from: string; readonly to: string }
  | { readonly kind: 'turn'; readonly turn: TurnState }
  | { readonly kind: 'call'; readonly iterationIndex: number; readonly call: ToolCallState }
  | { readonly kind: 'delegation'; readonly delegation: DelegationState }
  | { readonly kind: 'end' }
)

/** The rows of a task. */
export function transcriptRows(
  task: TaskState,
  { reviews: gates, delegations }: Pick<RunState, 'reviews' | 'delegations'>,
): readonly TranscriptRow[] {
  const own = gatesOf(task, gates)
  const begun = delegations.filter(
    ({ taskName, attempt }) => taskName === task.name && attempt === task.attempt,
  )
  const placed = placedByTurn(task.turns, own.during, begun)
  return [
    ...own.before.map(gateRow),
    { kind: 'given', key: 'given' },
    ...task.turns.flatMap((turn, at) => knownRows(turn, task.turns[at - 1], placed)),
    ...placed.without,
    ...own.after.map(gateRow),
    ...(isOver(task) ? [{ kind: 'end', key: 'end' } as const] : []),
  ]
}

function isOver({ status }: TaskState): boolean {
  return status !== 'PENDING' && status !== 'RUNNING'
}

/** The key of the row that shows a turn, or a tool call of it. */
export function rowKey(iterationIndex: number, toolCallId?: string): string {
  return toolCallId === undefined
    ? `turn-${iterationIndex}`
    : `call-${iterationIndex}-${toolCallId}`
}

/** Directives by the turn of this attempt that was shown them. */
export function directivesByTurn(
  { name, attempt }: Pick<TaskState, 'name' | 'attempt'>,
  directives: readonly DirectiveState[],
): ReadonlyMap<number, readonly DirectiveState[]> {
  const shown = directives.flatMap((directive) =>
    directive.delivered
      .filter((one) => one.taskName === name && one.attempt === attempt)
      .map(({ iterationIndex }) => ({ iterationIndex, directive })),
  )
  return grouped(
    shown,
    ({ iterationIndex }) => iterationIndex,
    ({ directive }) => directive,
  )
}

/** Calls to other agents by the tool call that made them. */
export function agentsByCall(
  calls: readonly AgentCallState[],
): ReadonlyMap<string, readonly AgentCallState[]> {
  return grouped(
    calls,
    ({ toolCallId }) => toolCallId,
    (call) => call,
  )
}

/** The tool calls of a turn as a tree: a step that ended before the call it is a part of is put there. */
export function callTree(calls: readonly ToolCallState[]): readonly ToolCallState[] {
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
  /** Rows that stand after the calls of a turn. */
  readonly byTurn: ReadonlyMap<number, readonly TranscriptRow[]>
  /** Gates of a tool call, by its id. */
  readonly byCall: ReadonlyMap<string, readonly TranscriptRow[]>
  /** Rows of no turn. */
  readonly without: readonly TranscriptRow[]
}

const NOTHING_PLACED: Placed = { byTurn: new Map(), byCall: new Map(), without: [] }

/** Rows that were made of a turn alone, and the model of the turn before it. */
interface KnownRows {
  readonly from: string | undefined
  readonly rows: readonly TranscriptRow[]
}

/** The rows of each turn as they were made last. */
const KNOWN = new WeakMap<TurnState, KnownRows>()

function knownRows(
  turn: TurnState,
  before: TurnState | undefined,
  placed: Placed,
): readonly TranscriptRow[] {
  const isAlone = placed.byCall.size === 0 && !placed.byTurn.has(turn.iterationIndex)
  if (!isAlone) return turnRows(turn, before, placed)
  const from = before && firstModel(before)
  const known = KNOWN.get(turn)
  if (known !== undefined && known.from === from) return known.rows
  const rows = turnRows(turn, before, placed)
  KNOWN.set(turn, { from, rows })
  return rows
}

function turnRows(
  turn: TurnState,
  before: TurnState | undefined,
  { byTurn, byCall }: Placed,
): readonly TranscriptRow[] {
  const { iterationIndex } = turn
  const rows: TranscriptRow[] = []
  const [from, to] = [before && firstModel(before), firstModel(turn)]
  if (from !== undefined && from !== to) {
    rows.push({ kind: 'switch', key: `switch-${iterationIndex}`, from, to })
  }
  rows.push({ kind: 'turn', key: rowKey(iterationIndex), turn })
  for (const call of callTree(turn.toolCalls)) {
    rows.push({ kind: 'call', key: rowKey(iterationIndex, call.id), iterationIndex, call })
    rows.push(...(byCall.get(call.id) ?? []))
  }
  rows.push(...(byTurn.get(iterationIndex) ?? []))
  return rows
}

/** The model that a turn asked first; a fallback is no switch. */
function firstModel({ failures: [failure], model }: TurnState): string {
  return failure?.model ?? model
}

function gatesOf(task: TaskState, gates: readonly ReviewState[]) {
  // A task that has not begun may wait for a review before its first attempt.
  const attempt = Math.max(1, task.attempt)
  const own = gates.filter((gate) => gate.taskName === task.name && gate.attempt >= attempt)
  const ofNow = own.filter((gate) => gate.attempt === attempt)
  const at = (timing: ReviewState['timing']) => ofNow.filter((gate) => gate.timing === timing)
  const next = own.filter((gate) => gate.attempt > attempt)
  return {
    before: at('BEFORE_EXECUTION'),
    during: at('DURING_EXECUTION'),
    after: [...at('AFTER_EXECUTION'), ...next],
  }
}

function placedByTurn(
  turns: readonly TurnState[],
  gates: readonly ReviewState[],
  delegations: readonly DelegationState[],
): Placed {
  if (gates.length === 0 && delegations.length === 0) return NOTHING_PLACED
  const known = new Set(turns.flatMap(({ toolCalls }) => callTree(toolCalls).map(({ id }) => id)))
  const atCall = gates.filter(({ toolCallId }) => known.has(toolCallId ?? ''))
  const others = [
    ...gates
      .filter((gate) => !atCall.includes(gate))
      .map((gate) => ({ row: gateRow(gate), at: gate.requestedAt })),
    ...delegations.map((delegation) => ({
      row: {
        kind: 'delegation',
        key: `delegation-${delegation.delegationId}`,
        delegation,
      } as const,
      at: delegation.startedAt ?? delegation.completedAt,
    })),
  ].map(({ row, at }) => ({ row, turn: turnAt(turns, at) }))
  return {
    byTurn: grouped(
      others.filter(({ turn }) => turn !== undefined),
      ({ turn }) => turn?.iterationIndex ?? 0,
      ({ row }) => row,
    ),
    byCall: grouped(atCall, ({ toolCallId }) => toolCallId ?? '', gateRow),
    without: others.flatMap(({ row, turn }) => (turn === undefined ? [row] : [])),
  }
}

/** The turn in which an instant was; the last one when the log does not say. */
function turnAt(turns: readonly TurnState[], instant: string | undefined): TurnState | undefined {
  if (instant === undefined) return turns.at(-1)
  const at = Date.parse(instant)
  return (
    turns.findLast(({ startedAt }) => startedAt !== undefined && Date.parse(startedAt) <= at) ??
    turns.at(-1)
  )
}

function gateRow(gate: ReviewState): TranscriptRow {
  return { kind: 'gate', key: `gate-${gate.reviewId}`, gate }
}

function grouped<T, K, V>(
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
