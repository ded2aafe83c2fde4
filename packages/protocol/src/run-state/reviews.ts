/** Pure: the gates of a run after one of their events. A gate is closed once; the first end counts. */
import type { ReviewDecisionKind, ReviewTimeoutAction } from '../schemas/enums.ts'
import type { ReviewRequested } from '../schemas/events/steering-events.ts'
import type { RunEventOf } from '../schemas/run-event.ts'

/** A gate, as `review_requested` opened it, and how it ended. */
export interface GateState extends Readonly<Omit<ReviewRequested, 'type'>> {
  readonly status: 'OPEN' | 'DECIDED' | 'TIMED_OUT' | 'WITHDRAWN'
  /** What was decided; with DECIDED. */
  readonly decision?: ReviewDecisionKind
  readonly decidedBy?: string
  readonly decidedAt?: string
  readonly feedback?: string
  readonly revisedOutput?: string
  /** What happened as nobody decided; with TIMED_OUT. */
  readonly action?: ReviewTimeoutAction
  /** Why it closed undecided; with WITHDRAWN. */
  readonly reason?: string
  readonly withdrawnAt?: string
}

/** An event of a gate. */
export type GateEvent = RunEventOf<
  'review_requested' | 'review_decided' | 'review_timed_out' | 'review_withdrawn'
>

type Gates = readonly GateState[]

/** The gates after one of their events; one that is asked for again is open again, in its place. */
export function gatesAfter(gates: Gates, event: GateEvent): Gates {
  const at = gates.findIndex(({ reviewId }) => reviewId === event.reviewId)
  if (event.type === 'review_requested') {
    const gate = opened(event)
    return at === -1 ? [...gates, gate] : gates.with(at, gate)
  }
  const gate = gates[at]
  if (gate === undefined) return gates
  const changed = closed(gate, event)
  return changed === gate ? gates : gates.with(at, changed)
}

function closed(gate: GateState, event: Exclude<GateEvent, ReviewRequested>): GateState {
  switch (event.type) {
    case 'review_decided':
      return decided(gate, event)
    case 'review_timed_out':
      // Also sent when somebody decided elsewhere, so that AgentEnsemble's panel closes.
      return gate.status === 'OPEN' ? { ...gate, status: 'TIMED_OUT', action: event.action } : gate
    case 'review_withdrawn': {
      const { reason, withdrawnAt } = event
      return gate.status === 'OPEN' ? { ...gate, status: 'WITHDRAWN', reason, withdrawnAt } : gate
    }
  }
}

/** A decision also counts after `review_timed_out`, which is then about the panel only. */
function decided(gate: GateState, event: RunEventOf<'review_decided'>): GateState {
  if (gate.status !== 'OPEN' && gate.status !== 'TIMED_OUT') return gate
  const { action: _, ...undecided } = gate
  const { decision, decidedAt, decidedBy, feedback, revisedOutput } = event
  return {
    ...undecided,
    status: 'DECIDED',
    decision,
    decidedAt,
    ...(decidedBy === undefined ? {} : { decidedBy }),
    ...(feedback === undefined ? {} : { feedback }),
    ...(revisedOutput === undefined ? {} : { revisedOutput }),
  }
}

function opened(event: RunEventOf<'review_requested'>): GateState {
  const { prompt, requiredRole, toolName, toolCallId, toolInput } = event
  return {
    reviewId: event.reviewId,
    taskDescription: event.taskDescription,
    taskOutput: event.taskOutput,
    timing: event.timing,
    timeoutMs: event.timeoutMs,
    onTimeout: event.onTimeout,
    taskName: event.taskName,
    taskIndex: event.taskIndex,
    attempt: event.attempt,
    agentRole: event.agentRole,
    requestedAt: event.requestedAt,
    status: 'OPEN',
    ...(prompt === undefined ? {} : { prompt }),
    ...(requiredRole === undefined ? {} : { requiredRole }),
    ...(toolName === undefined ? {} : { toolName }),
    ...(toolCallId === undefined ? {} : { toolCallId }),
    ...(toolInput === undefined ? {} : { toolInput }),
  }
}
