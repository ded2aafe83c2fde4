/** The form of a directive and its request. Pure. */
import { InjectBody } from '@tutti/protocol/internal'

import { createFormDraft } from '../../ui/schema-form/form-draft.ts'

/** An empty form. */
export const NO_DIRECTIVE = createFormDraft({ priority: 'NORMAL' })

/** Schema of the form: `valid` is a time to live, or `custom` if `ttl` is one. */
export const INJECT_FORM = {
  ...InjectBody,
  required: ['content'],
  properties: { ...InjectBody.properties, valid: { type: 'string' } },
}

/** Returns the body of a directive. */
export function toInjectBody({
  valid,
  ttl,
  ...rest
}: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const time = valid === 'custom' ? (typeof ttl === 'string' ? ttl : '').trim() : valid
  return { ...rest, ...(time === undefined ? {} : { ttl: time }) }
}
