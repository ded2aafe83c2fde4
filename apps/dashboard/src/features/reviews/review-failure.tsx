/** Shows why a decision was not accepted, and the next step for the reviewer. */
import { findFailureCode, findFailureProblems, readFailureText } from '../../api/failure.ts'
import { Notice } from '../../ui/feedback/notice.tsx'

import type { Problem } from '@tutti/protocol/internal'

interface FailureText {
  readonly title: string
  readonly advice: string
}

/** Explains a failed decision to a reviewer. */
export function ReviewFailure({ error }: { readonly error: unknown }) {
  const { title, advice } = TEXTS[findFailureCode(error) ?? ''] ?? UNKNOWN
  const reasons = listReasons(error)
  return (
    <Notice tone="failed" title={title}>
      {reasons.length > 0 && (
        <ul>
          {reasons.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
      )}
      <p>{advice}</p>
    </Notice>
  )
}

/** Returns the problems that the server found and the reviewer can correct, one sentence each. */
function listReasons(error: unknown): readonly string[] {
  const code = findFailureCode(error) ?? ''
  if (code !== 'BAD_REQUEST') return code in TEXTS ? [] : [removeIds(readFailureText(error))]
  const problems = findFailureProblems(error)
  if (problems.length > 0) return problems.map(formatProblem)
  return removeIds(readFailureText(error)).split('; ').map(formatInputProblem)
}

/** `/revisedOutput must be …` → `Your text must be …`. */
function formatProblem({ path, message }: Problem): string {
  const field = path.replace(/^\//, '')
  return `${FIELDS[field] ?? (field === '' ? 'The decision' : `“${field}”`)} ${message}`
}

/** `input/amount: must be number` → `“amount” must be number`. */
function formatInputProblem(text: string): string {
  const [, field = '', message = ''] = /^input\/?([^:]*): (.*)$/s.exec(text) ?? []
  if (message === '') return text.charAt(0).toUpperCase() + text.slice(1)
  return `${field === '' ? 'Your input' : `“${field}”`} ${message}`
}

/** Removes the request and the review id from an error message. */
function removeIds(text: string): string {
  return text
    .replace(/^[A-Z]+ \S+ returned \d+ [A-Z_]+: /, '')
    .replace(/^Cannot decide review "[^"]*": /, '')
}

const FIELDS: Readonly<Record<string, string>> = {
  revisedOutput: 'Your text',
  feedback: 'Your feedback',
  decision: 'The decision',
}

const UNKNOWN: FailureText = {
  title: 'The decision was not accepted',
  advice: 'The review is still open, and your text is not lost.',
}

const MAY_BE_TAKEN =
  'The server may have received the decision. This page shows the result when it has reconnected.'

const TEXTS: Readonly<Record<string, FailureText>> = {
  BAD_REQUEST: {
    title: 'Your change is invalid',
    advice: 'The review is still open. Correct it, then send it again.',
  },
  FORBIDDEN: {
    title: 'Your key cannot decide this review',
    advice: 'Ask a colleague whose key has the role, or the permission to decide reviews.',
  },
  CONNECTION_FAILED: { title: 'The server could not be reached', advice: MAY_BE_TAKEN },
  TIMED_OUT: { title: 'The server did not answer in time', advice: MAY_BE_TAKEN },
  NOT_CONFIRMED: {
    title: 'The decision is stored, but the run has not continued yet',
    advice: 'You do not need to send it again.',
  },
  REVIEW_NOT_FOUND: {
    title: 'This review no longer exists',
    advice: 'Its run may have been deleted.',
  },
  RUN_COMPLETED: {
    title: 'The run has already ended',
    advice: 'There is nothing left to decide.',
  },
  RATE_LIMITED: {
    title: 'Your key has made too many requests',
    advice: 'Wait a minute, then send the decision again.',
  },
  STORE_UNAVAILABLE: {
    title: 'The server cannot store decisions at the moment',
    advice: 'The review is still open. Try again in a moment.',
  },
}
