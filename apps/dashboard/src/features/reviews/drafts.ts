/**
 * Unsent drafts of decisions, and the reviews decided on this page. They are stored for the whole
 * page, so that they survive switching tabs or pages and losing the connection.
 */
import { createStore, useStore } from '../../lib/store.ts'

import type { FormDraft } from '../../ui/schema-form/form-draft.ts'

/** Decisions that need a form. */
export type DraftMode = 'EDIT' | 'REJECT' | 'EXIT_EARLY'

/** A draft of a decision. */
export interface Draft {
  /** The form that is open. */
  readonly mode: DraftMode | undefined
  /** The edited text; undefined while unchanged. */
  readonly text: string | undefined
  /** The edited value of a text that is JSON with a known schema. */
  readonly form: FormDraft | undefined
  /** Feedback to the agent. */
  readonly feedback: string
}

const EMPTY: Draft = { mode: undefined, text: undefined, form: undefined, feedback: '' }

const drafts = createStore<ReadonlyMap<string, Draft>>(new Map())
const decidedHere = createStore<ReadonlyMap<string, 'me' | 'unknown'>>(new Map())

/** Returns the draft of a review, and a function that changes it. */
export function useDraft(
  reviewId: string,
): readonly [draft: Draft, change: (change: Partial<Draft>) => void] {
  const draft = useStore(drafts).get(reviewId) ?? EMPTY
  const change = (changed: Partial<Draft>): void => {
    const now = drafts.get().get(reviewId) ?? EMPTY
    drafts.set(new Map(drafts.get()).set(reviewId, { ...now, ...changed }))
  }
  return [draft, change]
}

/** Deletes the draft of a review. */
export function forgetDraft(reviewId: string): void {
  drafts.set(new Map([...drafts.get()].filter(([id]) => id !== reviewId)))
}

/**
 * Origin of the decision that closed a review: this page, another reviewer, or unknown because the
 * response was lost.
 */
export type DecidedBy = 'me' | 'unknown' | 'other'

/** Returns the reviews with a decision from this page that the server accepted, or may have accepted. */
export function useDecidedHere(): ReadonlyMap<string, 'me' | 'unknown'> {
  return useStore(decidedHere)
}

/** Records the outcome of a decision sent by this page; `other` if it was not accepted. */
export function recordDecided(reviewId: string, by: DecidedBy): void {
  const others = [...decidedHere.get()].filter(([id]) => id !== reviewId)
  decidedHere.set(new Map(by === 'other' ? others : [...others, [reviewId, by]]))
}
