/** What wishes say beside their kind, as the engine takes it. */
import { field } from './record-fields.ts'

import type { RunWish } from './ports/run-signals.ts'
import type { CancelOptions } from '@tutti/ensemble'

/** What is switched, and by whom. */
export interface SwitchOptions {
  /** Name of the one task that switches. @default the whole run */
  readonly task?: string
  /** Who asks, for the record. */
  readonly actor?: string
}

/** The options of a cancel. */
export function cancelOf({ mode, actor }: Extract<RunWish, { kind: 'cancel' }>): CancelOptions {
  return { mode, ...field('actor', actor) }
}

/** The options of a switch. */
export function switchOf({
  taskName,
  actor,
}: Extract<RunWish, { kind: 'switch_model' }>): SwitchOptions {
  return { ...field('task', taskName), ...field('actor', actor) }
}
