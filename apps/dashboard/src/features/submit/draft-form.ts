/** The form of a draft: its schema, and its value under the pointers of the request. Pure. */
import { SubmitRunBody } from '@tutti/protocol'
import { TaskDefinitionBody } from '@tutti/protocol/internal'

import {
  createDraft,
  findChosenOverrides,
  findEnsembleName,
  type Overrides,
  type SubmissionDraft,
} from './draft.ts'

import type { FormDraft } from '../../ui/schema-form/form-draft.ts'
import type { EnsembleInfo } from '@tutti/protocol'

const TEXT = { type: 'string' }

/** Schema of a request, except that a draft has some values as text. */
export const DRAFT_SCHEMA = {
  ...SubmitRunBody,
  properties: {
    ...SubmitRunBody.properties,
    moreInputs: { type: 'object', additionalProperties: TEXT },
    webhooks: TEXT,
    tasks: {
      type: 'array',
      items: {
        ...TaskDefinitionBody,
        properties: { ...TaskDefinitionBody.properties, outputSchema: TEXT },
      },
    },
  },
}

/** Returns the draft as the value of the form, with the overrides of its ensemble. */
export function toFormDraft(draft: SubmissionDraft, ensembles: readonly EnsembleInfo[]): FormDraft {
  const value = { ...draft, taskOverrides: findChosenOverrides(draft, ensembles) }
  return { value, broken: draft.broken }
}

/** Returns a draft after an edit of the form; the overrides belong to the ensemble before the edit. */
export function fromFormDraft(
  before: SubmissionDraft,
  { value, broken }: FormDraft,
  ensembles: readonly EnsembleInfo[],
): SubmissionDraft {
  // NOTE: fields of a form change only their own values; those that they remove have a default.
  const { taskOverrides = {}, ...rest } = value as Partial<SubmissionDraft> & {
    readonly taskOverrides?: Overrides
  }
  const name = findEnsembleName(before, ensembles)
  const overrides = { ...before.overrides, [name]: taskOverrides }
  return { ...createDraft(), ensemble: undefined, ...rest, overrides, broken }
}
