/** A gate: what a reviewer is asked, and what can be decided. */
import { TuttiError, type ApprovalRequest } from '@tutti/core'

import type { ReviewVerdict } from '@tutti/protocol'
import type { ReviewTimeoutAction } from '../definition/review-settings.ts'

/** When a gate opens, seen from its task. */
export type GateTiming = 'BEFORE_EXECUTION' | 'DURING_EXECUTION' | 'AFTER_EXECUTION'

/** One open question to a reviewer. */
export interface Gate {
  readonly reviewId: string
  readonly runId: string
  readonly timing: GateTiming
  readonly taskName: string
  readonly taskIndex: number
  readonly attempt: number
  readonly agentRole: string
  /** What the task is to do; while a tool asks, what the tool is about to do. */
  readonly taskDescription: string
  /** The output under review; empty before and during the task. */
  readonly taskOutput: string
  readonly prompt?: string
  /** Time left in milliseconds; Infinity when the gate waits for ever. */
  readonly timeoutMs: number
  readonly onTimeout: ReviewTimeoutAction
  readonly requiredRole?: string
  /** Milliseconds since 1970. */
  readonly openedAt: number
  /** The call that waits; present exactly with DURING_EXECUTION. */
  readonly approval?: ApprovalRequest
}

/** What a reviewer decides. */
export type GateDecision = GateAnswer & {
  /** Identity of the decision: the same decision, sent again under its id, is taken as the same. */
  readonly id?: string
  /** Who decided, for the record. */
  readonly decidedBy?: string
}

type GateAnswer =
  | { readonly action: 'CONTINUE' }
  /** Before a task its description, after it its output. */
  | { readonly action: 'EDIT'; readonly text: string }
  /** While a tool waits, the input that it is called with. */
  | { readonly action: 'EDIT'; readonly input: unknown }
  /** Before a task: it is not done, and fails. After it: it is done again with the reviewer's words. */
  | { readonly action: 'REJECT'; readonly feedback?: string }
  /** Ends the whole run, keeping what is done. */
  | { readonly action: 'EXIT_EARLY' }

/** The port to whoever decides. */
export interface RunReviewer {
  /**
   * Decides a gate. The signal aborts when no decision is needed any more: another one came first, the
   * time is over, or the task was stopped.
   */
  decide(gate: Gate, signal: AbortSignal): Promise<GateDecision>
}

/** What a gate came to. */
export interface ReviewOutcome {
  readonly decision: GateDecision
  readonly timedOut: boolean
}

/** What a decision is checked against. */
export interface CheckedGate extends Pick<Gate, 'timing' | 'reviewId'> {
  readonly approval?: Pick<ApprovalRequest, 'checkEdit'>
}

/**
 * Reads a verdict as a decision of its gate.
 *
 * @throws {TuttiError} BAD_REQUEST, naming every problem.
 */
export async function readDecision(
  gate: CheckedGate,
  verdict: ReviewVerdict,
  checkText: (text: string) => Promise<string | undefined>,
): Promise<GateDecision> {
  const decision = toDecision(gate, verdict)
  const problem = await findDecisionProblem(gate, decision, checkText)
  if (problem === undefined) return decision
  throw new TuttiError('BAD_REQUEST', `Cannot decide review "${gate.reviewId}": ${problem}`)
}

type TypedEdit = Extract<ReviewVerdict, { readonly revisedOutput: string }>

/** An edit that a person typed is the input of the tool under review, as JSON, or else a text. */
function toDecision({ timing }: CheckedGate, verdict: ReviewVerdict): GateDecision {
  if (!isTyped(verdict)) return verdict
  const { revisedOutput, ...edit } = verdict
  return timing === 'DURING_EXECUTION'
    ? { ...edit, input: parseToolInput(revisedOutput) }
    : { ...edit, text: revisedOutput }
}

/** NOTE: reviewers are other people's code, and may return anything. */
function isTyped(verdict: ReviewVerdict): verdict is TypedEdit {
  return Object.hasOwn(Object(verdict), 'revisedOutput')
}

function parseToolInput(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    const path = '/revisedOutput'
    const message = 'must be the input of the tool as JSON: the review is of a tool call'
    throw new TuttiError('BAD_REQUEST', `Decision does not fit: ${path} ${message}`, {
      details: { problems: [{ path, message }] },
    })
  }
}

async function findDecisionProblem(
  { timing, approval }: CheckedGate,
  decision: GateDecision,
  checkText: (text: string) => Promise<string | undefined>,
): Promise<string | undefined> {
  // NOTE: reviewers are other people's code, and may give nothing at all.
  switch ((decision as GateDecision | undefined)?.action) {
    case 'CONTINUE':
    case 'REJECT':
    case 'EXIT_EARLY':
      return undefined
    case 'EDIT': {
      if (timing === 'DURING_EXECUTION') {
        if (!('input' in decision)) return 'an EDIT of a tool call needs the field "input"'
        const problems = (await approval?.checkEdit(decision.input)) ?? []
        return problems.length === 0
          ? undefined
          : problems.map(({ path, message }) => `input${path}: ${message}`).join('; ')
      }
      if (!('text' in decision) || typeof decision.text !== 'string') {
        return 'an EDIT of a task needs the field "text"'
      }
      return timing === 'AFTER_EXECUTION' ? checkText(decision.text) : undefined
    }
    default:
      return `action must be one of CONTINUE, EDIT, REJECT, EXIT_EARLY, got ${actionOf(decision)}`
  }
}

function actionOf(decision: unknown): string {
  const action: unknown =
    typeof decision === 'object' && decision !== null && 'action' in decision
      ? decision.action
      : decision
  return JSON.stringify(action) ?? 'nothing'
}
