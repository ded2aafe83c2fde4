/** Keeps what is typed for as long as the tab is open: leaving the page, or loading it again, loses nothing. */
import { toast } from '../../ui/feedback/toasts.tsx'

import type { SubmissionDraft } from './draft.ts'

/** Where the browser keeps it; the number changes with the shape. */
const PLACE = 'tutti.submission.2'

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
  // NOTE: only `keepSubmission` writes there.
  return text === null ? undefined : (JSON.parse(text) as Submission)
}

/** Keeps what is typed, or nothing more; says so when it is more than the browser keeps. */
export function keepSubmission(from: string | undefined, submission: Submission | undefined): void {
  const place = placeOf(from)
  if (submission === undefined) sessionStorage.removeItem(place)
  else {
    try {
      sessionStorage.setItem(place, JSON.stringify(submission))
    } catch {
      toast('What you typed is too large to be kept when you leave this page', 'failed')
    }
  }
}

function placeOf(from: string | undefined): string {
  return from === undefined ? PLACE : `${PLACE}.${from}`
}

/** The key of the last try when this is the same body, else a new one. */
export function submissionKey(sent: Submission['sent'], body: string): string {
  return sent?.body === body ? sent.key : newKey()
}

/** Not `randomUUID`, which pages that were not served over a safe connection do not have. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
