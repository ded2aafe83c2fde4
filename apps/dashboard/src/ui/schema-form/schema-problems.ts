/** What keeps a draft from fitting a schema. Pure. */
import { describeProblems, type Problem } from '@tutti/protocol'

import { brokenProblems, type FormDraft } from './form-draft.ts'
import { withDefaults } from './initial-value.ts'
import { isWithin } from './pointer.ts'

/** What a check found. */
export interface Checked {
  readonly problems: readonly Problem[]
  /** Why the schema cannot be checked against; whoever takes the value judges alone. */
  readonly unchecked: string | undefined
}

/**
 * Every problem of a draft: texts that cannot be read, and beside them what the schema says of the value.
 * Fields with a default may be left out.
 */
export function checkDraft(schema: object, draft: FormDraft): Checked {
  const broken = brokenProblems(draft)
  try {
    const found = describeProblems(schema, withDefaults(schema, draft.value, schema))
    const others = found.filter(({ path }) => !broken.some((one) => isWithin(path, one.path)))
    return { problems: [...broken, ...others], unchecked: undefined }
  } catch (error) {
    // A schema may hold a pattern that is none.
    return { problems: broken, unchecked: error instanceof Error ? error.message : String(error) }
  }
}
