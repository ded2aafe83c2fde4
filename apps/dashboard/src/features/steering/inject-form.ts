/** Converts the form of a directive to the body of a request. Pure. */
import { decode, type RunState } from '@tutti/protocol'
import { InjectBody, type Problem } from '@tutti/protocol/internal'

import type { Priority } from '@tutti/protocol/internal'

/** Values of the form. */
export interface InjectForm {
  readonly content: string
  /** Name of a task or a role; empty for the whole run. */
  readonly target: string
  readonly priority: Priority
  /** An ISO 8601 duration, empty for no expiry, or `custom`. */
  readonly ttl: string
  /** The duration if `ttl` is `custom`. */
  readonly customTtl: string
}

/** An empty form. */
export const NO_DIRECTIVE: InjectForm = {
  content: '',
  target: '',
  priority: 'NORMAL',
  ttl: '',
  customTtl: '',
}

/** Choices of a validity and their labels. */
export const TIMES_TO_LIVE: readonly (readonly [value: string, label: string])[] = [
  ['', 'Until the run ends'],
  ['PT5M', 'For 5 minutes'],
  ['PT1H', 'For 1 hour'],
  ['custom', 'Custom…'],
]

/** A directive with a text. Directives with an action are sent by other dialogs. */
export type TextDirective = Omit<InjectBody, 'content' | 'action' | 'value'> & {
  readonly content: string
}

/** A valid body, or the problems of the form. */
export type InjectChecked =
  | { readonly ok: true; readonly body: TextDirective }
  | { readonly ok: false; readonly problems: readonly Problem[] }

/** Checks a form against the schema of the API. */
export function checkInject(form: InjectForm): InjectChecked {
  const { content, target, priority } = form
  const ttl = form.ttl === 'custom' ? form.customTtl.trim() : form.ttl
  const decoded = decode(InjectBody, {
    content,
    ...(target === '' ? {} : { target }),
    ...(priority === 'NORMAL' ? {} : { priority }),
    ...(ttl === '' && form.ttl !== 'custom' ? {} : { ttl }),
  })
  return decoded.ok ? { ok: true, body: { ...decoded.value, content } } : decoded
}

export function pickProblems(problems: readonly Problem[], field: string): readonly string[] {
  return problems
    .filter(({ path }) => path === `/${field}`)
    .map(({ message }) => toSentence(message))
}

/** Returns the problems outside of these fields. */
export function pickOtherProblems(
  problems: readonly Problem[],
  fields: readonly string[],
): readonly string[] {
  return problems
    .filter(({ path }) => !fields.includes(path.slice(1)))
    .map(({ path, message }) => `${path} ${message}`.trim())
}

/** Returns possible targets: tasks that have not ended, and the roles of their agents. */
export function listTargets({ tasks }: Pick<RunState, 'tasks'>): {
  readonly tasks: readonly string[]
  readonly roles: readonly string[]
} {
  const open = tasks.filter(({ status, error }) => {
    return status === 'PENDING' || status === 'RUNNING' || error?.willRetry === true
  })
  return {
    tasks: open.map(({ name }) => name),
    roles: [...new Set(open.map(({ agentRole }) => agentRole))].filter(
      (role) => !open.some(({ name }) => name === role),
    ),
  }
}

function toSentence(message: string): string {
  return message.charAt(0).toUpperCase() + message.slice(1)
}
