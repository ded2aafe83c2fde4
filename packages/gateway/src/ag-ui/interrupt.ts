/**
 * Pure: reviews as interrupts of AG-UI, and the answers to them as decisions.
 *
 * GW-Y3 The id of an interrupt is that of its review. Its reason is `tool_call` for a tool that requires approval,
 *    `input_required` for a question of a tool, and `confirmation` for a task.
 * GW-Y4 An answer is `{approved}` with an edit or feedback, a boolean, the text of a question, or a decision as the
 *    route for decisions takes it. An interrupt that the client cancels ends the run early and keeps its results.
 *
 * @see https://docs.ag-ui.com/concepts/interrupts
 */
import { badRequest } from '../http/api-error.ts'
import { asksQuestion, readMessageDecision } from '../service/decision-in-text.ts'

import type { AguiInterrupt, AguiResume } from './wire.ts'
import type { ReviewDecisionBody, RunEventOf } from '@tutti/protocol'

/** A review as its event and its record show it. */
export type InterruptReview = Omit<RunEventOf<'review_requested'>, 'type'>

const FEEDBACK = { type: 'string', description: 'Reason of a rejection, for the agent' }

/** Returns an open review as an interrupt; `toolCallId` is the id of the call as the client knows it. */
export function toInterrupt(
  review: InterruptReview,
  toolCallId: string | undefined,
): AguiInterrupt {
  const { reviewId, timeoutMs, requestedAt, requiredRole, onTimeout } = review
  const { taskName, kind, timing, taskOutput, toolName, toolInput } = review
  return {
    id: reviewId,
    ...describe(review),
    ...(toolCallId === undefined ? {} : { toolCallId }),
    ...(timeoutMs === 0
      ? {}
      : { expiresAt: new Date(Date.parse(requestedAt) + timeoutMs).toISOString() }),
    metadata: {
      tutti: {
        taskName,
        kind,
        timing,
        taskOutput,
        onTimeout,
        ...(toolName === undefined ? {} : { toolName }),
        ...(toolInput === undefined ? {} : { toolInput }),
        ...(requiredRole === undefined ? {} : { requiredRole }),
      },
    },
  }
}

function describe(
  review: InterruptReview,
): Pick<AguiInterrupt, 'reason' | 'message' | 'responseSchema'> {
  const { timing, prompt, taskName, taskDescription, toolName, answerSchema } = review
  if (asksQuestion(review)) {
    const answer = answerSchema ?? { type: 'string' }
    return {
      reason: 'input_required',
      message: prompt ?? taskDescription,
      responseSchema: approvalSchema({ answer }, ['answer']),
    }
  }
  switch (timing) {
    case 'DURING_EXECUTION':
      return {
        reason: 'tool_call',
        message: prompt ?? `Call the tool "${toolName}"? ${taskDescription}`,
        responseSchema: approvalSchema({
          approved: { type: 'boolean' },
          editedArgs: { description: 'Arguments that replace those of the call' },
          feedback: FEEDBACK,
        }),
      }
    case 'BEFORE_EXECUTION':
      return {
        reason: 'confirmation',
        message: prompt ?? `Start "${taskName}"?`,
        responseSchema: approvalSchema({ approved: { type: 'boolean' }, feedback: FEEDBACK }),
      }
    case 'AFTER_EXECUTION':
      return {
        reason: 'confirmation',
        message: prompt ?? `Accept the output of "${taskName}"?`,
        responseSchema: approvalSchema({
          approved: { type: 'boolean' },
          editedOutput: { type: 'string', description: 'Text that replaces the output' },
          feedback: FEEDBACK,
        }),
      }
  }
}

function approvalSchema(properties: object, required: readonly string[] = ['approved']) {
  return { type: 'object', properties, required }
}

/**
 * Reads the answer to an interrupt; `path` is its JSON Pointer.
 *
 * @throws {TuttiError} BAD_REQUEST if it does not decide the review.
 */
export function readResume(
  { status, payload }: AguiResume,
  review: InterruptReview,
  path: string,
): ReviewDecisionBody {
  if (status === 'cancelled') return { decision: 'EXIT_EARLY' }
  const at = `${path}/payload`
  if (typeof payload === 'boolean') return { decision: payload ? 'CONTINUE' : 'REJECT' }
  if (typeof payload === 'string')
    return readMessageDecision({ answer: payload, text: payload, path: at }, review)
  const fields = isRecord(payload) ? payload : {}
  if (Object.hasOwn(fields, 'decision')) {
    return readMessageDecision({ object: fields, text: '', path: at }, review)
  }
  const { approved, editedArgs, editedOutput, feedback, answer } = fields
  if (asksQuestion(review) && answer !== undefined) {
    return readMessageDecision({ answer, text: JSON.stringify(answer), path: at }, review)
  }
  if (approved === true) {
    const isCall = review.timing === 'DURING_EXECUTION'
    assertFields(fields, isCall ? ['editedArgs'] : ['editedOutput'], at)
    if (isPresent(editedArgs)) return edit(JSON.stringify(editedArgs))
    if (!isPresent(editedOutput)) return { decision: 'CONTINUE' }
    if (typeof editedOutput === 'string') return edit(editedOutput)
    throw badRequest('request body', [{ path: `${at}/editedOutput`, message: 'must be a text' }])
  }
  if (approved === false) {
    assertFields(fields, ['feedback'], at)
    if (!isPresent(feedback)) return { decision: 'REJECT' }
    if (typeof feedback === 'string') return { decision: 'REJECT', feedback }
    throw badRequest('request body', [{ path: `${at}/feedback`, message: 'must be a text' }])
  }
  const message = asksQuestion(review)
    ? 'must be a text, or an object with the field "answer"'
    : 'must be a boolean, or an object with the field "approved" or "decision"'
  throw badRequest('request body', [{ path: at, message }])
}

/** Whether a client gave a value: some write null for a field without one. */
function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null
}

/**
 * Checks that a payload has no field that its decision does not use, other than null.
 *
 * @throws {TuttiError} BAD_REQUEST, naming every such field.
 */
function assertFields(
  { approved, ...fields }: Readonly<Record<string, unknown>>,
  used: readonly string[],
  path: string,
): void {
  const unused = Object.entries(fields).filter(
    ([name, value]) => isPresent(value) && !used.includes(name),
  )
  if (unused.length === 0) return
  const message = `is not used with "approved": ${String(approved)}`
  throw badRequest(
    'request body',
    unused.map(([name]) => ({ path: `${path}/${name}`, message })),
  )
}

function edit(revisedOutput: string): ReviewDecisionBody {
  return { decision: 'EDIT', revisedOutput }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
