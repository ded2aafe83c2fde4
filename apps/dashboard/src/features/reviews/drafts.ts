/**
 * What a reader has written for reviews and not sent yet, and which reviews were decided here. It is kept
 * for the page as a whole, so that neither another tab, another page nor a lost connection takes it.
 */
import { createStore, useStore } from '../../lib/store.ts'

/** A decision that needs more than a click. */
export type DraftMode = 'EDIT' | 'REJECT' | 'EXIT_EARLY'

/** What somebody has begun to decide. */
export interface Draft {
  /** The form that is open. */
  readonly mode: DraftMode | undefined
  /** The edited text; undefined as long as it is the original. */
  readonly text: string | undefined
  /** What the agent is to be told. */
  readonly feedback: string
  /** Whether the answer to a question is JSON, and not text. */
  readonly isJson: boolean
}

const EMPTY: Draft = { mode: undefined, text: undefined, feedback: '', isJson: false }

const drafts = createStore<ReadonlyMap<string, Draft>>(new Map())
const decidedHere = createStore<ReadonlyMap<string, 'me' | 'unknown'>>(new Map())

/** The draft for a review, and a function that changes it. */
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

/** Lets go of the draft for a review. */
export function forgetDraft(reviewId: string): void {
  drafts.set(new Map([...drafts.get()].filter(([id]) => id !== reviewId)))
}

/** Whose decision closed a review: this page's, somebody else's, or not known as no answer came. */
export type DecidedBy = 'me' | 'unknown' | 'other'

/** The reviews for which a decision was sent from this page, as far as it may have been taken. */
export function useDecidedHere(): ReadonlyMap<string, 'me' | 'unknown'> {
  return useStore(decidedHere)
}

/** Notes what became of a decision of this page; `other` when it was not taken. */
export function noteDecided(reviewId: string, by: DecidedBy): void {
  const others = [...decidedHere.get()].filter(([id]) => id !== reviewId)
  decidedHere.set(new Map(by === 'other' ? others : [...others, [reviewId, by]]))
}
