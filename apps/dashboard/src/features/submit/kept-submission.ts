/** Keeps what is typed for as long as the tab is open: leaving the page, or loading it again, loses nothing. */
import type { SubmissionDraft } from './draft.ts'

/** Where the browser keeps it. */
const PLACE = 'tutti.submission'

/** What is typed, and under which key it was sent. */
export interface Submission {
  readonly draft: SubmissionDraft
  /** The body as text, while it is typed as JSON. */
  readonly json?: string | undefined
  /** The key of the last try, and the body that it is for. */
  readonly sent?: { readonly key: string; readonly body: string } | undefined
}

/** What was typed before; `from` is the run that it began with. */
export function keptSubmission(from: string | undefined): Submission | undefined {
  const text = sessionStorage.getItem(placeOf(from))
  // NOTE: only `keepSubmission` writes there, and a tab does not outlive the page's version for long.
  return text === null ? undefined : (JSON.parse(text) as Submission)
}

/** Keeps what is typed, or nothing more. */
export function keepSubmission(from: string | undefined, submission: Submission | undefined): void {
  const place = placeOf(from)
  if (submission === undefined) sessionStorage.removeItem(place)
  else sessionStorage.setItem(place, JSON.stringify(submission))
}

function placeOf(from: string | undefined): string {
  return from === undefined ? PLACE : `${PLACE}.${from}`
}
