/** What the sections of the form have in common. */
import type { SubmissionDraft } from './draft.ts'

/** Changes what is typed. */
export type Change = (next: (draft: SubmissionDraft) => SubmissionDraft) => void
