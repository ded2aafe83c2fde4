import { AGENT_TASK_FIELDS, shortText, type TaskDefinitionBody } from '@tutti/protocol/internal'

import type { Refusals } from './refusals.ts'

/** Fields that a task of another kind than one with an agent does not have. */
const UNUSED = {
  'runs an ensemble': [...AGENT_TASK_FIELDS, 'waitFor'],
  'waits for events': AGENT_TASK_FIELDS,
} as const satisfies Readonly<Record<string, readonly (keyof TaskDefinitionBody)[]>>

/** Refuses each field that has no effect on a task of the kind `what`. Returns whether there are any. */
export function refuseUnusedFields(
  body: Pick<TaskDefinitionBody, 'name' | (typeof UNUSED)[keyof typeof UNUSED][number]>,
  what: keyof typeof UNUSED,
  { refusals, path }: { readonly refusals: Refusals; readonly path: string },
): boolean {
  const unused = UNUSED[what].filter((one) => body[one] !== undefined)
  for (const one of unused) {
    const message = (): string =>
      `Task '${shortText(body.name ?? '')}' ${what}, so ${one} has no effect on it`
    refusals.add('BAD_REQUEST', `${path}/${one}`, message)
  }
  return unused.length > 0
}
