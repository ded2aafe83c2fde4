/** Parses and checks decisions of reviews. Only the process that owns the run does this. */
import { TuttiError, type ApprovalRequest, type TSchema } from '@tutti/core'
import { parseExactJson, toPlainJson } from '@tutti/core/internal'

import type { OpenReview, ReviewAnswer } from '../ports/run-reviewer.ts'
import type { ReviewKind, ReviewVerdict } from '@tutti/protocol/internal'

/** Parts of a review against which its decisions are checked. */
export interface DecidableReview extends Pick<OpenReview, 'kind' | 'timing' | 'reviewId'> {
  readonly approval?: Pick<ApprovalRequest, 'checkEdit' | 'inputSchema'>
}

/**
 * Parses a verdict as the decision of its review. `findTextProblem` returns the problem of an edited output.
 *
 * @throws {TuttiError} BAD_REQUEST, naming every problem.
 */
export async function readDecision(
  review: DecidableReview,
  verdict: ReviewVerdict,
  findTextProblem: (text: string) => Promise<string | undefined>,
): Promise<ReviewAnswer> {
  const decision = await toAnswer(review, verdict)
  const problem = await findDecisionProblem(review, decision, findTextProblem)
  if (problem === undefined) return toRecorded(decision)
  throw new TuttiError('BAD_REQUEST', `Cannot decide review "${review.reviewId}": ${problem}`)
}

type TypedEdit = Extract<ReviewVerdict, { readonly revisedOutput: string }>

/**
 * Returns the decision. Text that a reviewer typed is the result of a client tool, the answer to a question, the JSON
 * input of the tool under review, or else the edited text. Integers beyond 2^53 in JSON are a `bigint`.
 */
async function toAnswer(
  { kind, approval }: DecidableReview,
  verdict: ReviewVerdict,
): Promise<ReviewAnswer> {
  if (!isTyped(verdict)) return verdict
  const { revisedOutput, ...edit } = verdict
  switch (kind) {
    case 'TASK_INPUT':
    case 'TASK_OUTPUT':
      return { ...edit, text: revisedOutput }
    case 'TOOL_CALL':
      return { ...edit, input: parseToolInput(revisedOutput) }
    case 'QUESTION':
    case 'EVENT':
      return { ...edit, input: await parseAnswer(revisedOutput, approval) }
    case 'CLIENT_TOOL':
      return { ...edit, input: revisedOutput }
  }
}

/** Returns the answer to a question, or the data of an event, that a text stands for (ENS-G18). */
async function parseAnswer(text: string, approval: DecidableReview['approval']): Promise<unknown> {
  if (approval === undefined || isTextSchema(approval.inputSchema)) return text
  const parsed = tryParseJson(text)
  if (parsed === undefined) return text
  const { value } = parsed
  if ((await approval.checkEdit(value)).length === 0) return value
  return (await approval.checkEdit(text)).length === 0 ? text : value
}

function isTextSchema(schema: TSchema): boolean {
  return 'type' in schema && schema.type === 'string'
}

function tryParseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: parseExactJson(text) }
  } catch {
    return undefined
  }
}

/** Whether the verdict has a typed edit. NOTE: reviewers are third-party code and can return anything. */
function isTyped(verdict: ReviewVerdict): verdict is TypedEdit {
  return Object.hasOwn(Object(verdict), 'revisedOutput')
}

function parseToolInput(text: string): unknown {
  try {
    return parseExactJson(text)
  } catch {
    const path = '/revisedOutput'
    const message = 'must be the input of the tool as JSON: the review is of a tool call'
    throw new TuttiError('BAD_REQUEST', `Invalid decision: ${path} ${message}`, {
      details: { problems: [{ path, message }] },
    })
  }
}

/** Returns a decision with its integers beyond 2^53 as text, in which it can be recorded; tools accept that. */
function toRecorded(decision: ReviewAnswer): ReviewAnswer {
  return 'input' in decision ? { ...decision, input: toPlainJson(decision.input) } : decision
}

async function findDecisionProblem(
  { kind, timing, approval }: DecidableReview,
  decision: ReviewAnswer,
  findTextProblem: (text: string) => Promise<string | undefined>,
): Promise<string | undefined> {
  const unused = findUnusedField(timing, decision)
  if (unused !== undefined) return unused
  // NOTE: reviewers are third-party code and can return undefined.
  switch ((decision as ReviewAnswer | undefined)?.action) {
    case 'CONTINUE':
      return kind === 'CLIENT_TOOL'
        ? 'a call of a client tool needs its result: use EDIT with the result, or REJECT with the error'
        : undefined
    case 'REJECT':
    case 'EXIT_EARLY':
      return undefined
    case 'EDIT': {
      if (timing === 'DURING_EXECUTION') {
        if (!('input' in decision)) return 'an EDIT of a tool call needs the field "input"'
        const field = EDITED_FIELDS[kind]
        const problems = (await approval?.checkEdit(decision.input)) ?? []
        return problems.length === 0
          ? undefined
          : problems.map(({ path, message }) => `${field}${path}: ${message}`).join('; ')
      }
      if (!('text' in decision) || typeof decision.text !== 'string') {
        return 'an EDIT of a task needs the field "text"'
      }
      return timing === 'AFTER_EXECUTION' ? findTextProblem(decision.text) : undefined
    }
    default:
      return `action must be one of CONTINUE, EDIT, REJECT, EXIT_EARLY, got ${describeAction(decision)}`
  }
}

/** Name of the edited value in problems, by the kind of the review. */
const EDITED_FIELDS: Readonly<Record<ReviewKind, string>> = {
  TASK_INPUT: 'text',
  TASK_OUTPUT: 'text',
  TOOL_CALL: 'input',
  CLIENT_TOOL: 'input',
  QUESTION: 'answer',
  EVENT: 'data',
}

function describeAction(decision: unknown): string {
  const action: unknown =
    typeof decision === 'object' && decision !== null && 'action' in decision
      ? decision.action
      : decision
  return JSON.stringify(action) ?? 'nothing'
}

const ACTIONS = ['CONTINUE', 'EDIT', 'REJECT', 'EXIT_EARLY'] as const

/** Fields that every decision can have. */
const COMMON_FIELDS: readonly string[] = ['action', 'id', 'decidedBy']

/** Field of a decision by an external event, which is not a person's to use. */
const EVENT_FIELD = 'event'

/**
 * Returns the problem of a field that the decision does not use; undefined if there is none. A reviewer who adds a text to
 * CONTINUE means something else, so the field must not be dropped.
 */
function findUnusedField(timing: DecidableReview['timing'], decision: unknown): string | undefined {
  if (typeof decision !== 'object' || decision === null) return undefined
  const fields = new Map<string, unknown>(Object.entries(decision))
  const action = ACTIONS.find((one) => one === fields.get('action'))
  if (action === undefined) return undefined
  const edited = timing === 'DURING_EXECUTION' ? 'input' : 'text'
  const own = { CONTINUE: [], EDIT: [edited], REJECT: ['feedback'], EXIT_EARLY: [] }[action]
  // An EDIT without its own field has a clearer problem.
  if (action === 'EDIT' && !fields.has(edited)) return undefined
  const allowed: readonly string[] = [
    ...COMMON_FIELDS,
    ...own,
    ...(action === 'EDIT' && edited === 'input' ? [EVENT_FIELD] : []),
  ]
  const unused = [...fields].find(([name, value]) => value !== undefined && !allowed.includes(name))
  if (unused === undefined) return undefined
  const uses = own.length === 0 ? 'no field' : `only the field "${own.join('", "')}"`
  return `${action} does not use the field "${unused[0]}": in this review it uses ${uses}`
}
