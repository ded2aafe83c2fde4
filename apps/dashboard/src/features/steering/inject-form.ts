/** Pure: a directive as somebody fills it in, and as the server takes it. */
import { decode, InjectBody, type Problem, type RunState } from '@tutti/protocol'

import type { Priority } from '@tutti/protocol'

/** What is filled in. */
export interface InjectForm {
  readonly content: string
  /** Name of a task or a role; empty for the whole run. */
  readonly target: string
  readonly priority: Priority
  /** An ISO 8601 duration, empty until the run ends, or `custom`. */
  readonly ttl: string
  /** With `custom`. */
  readonly customTtl: string
}

/** A directive that nobody has written yet. */
export const NO_DIRECTIVE: InjectForm = {
  content: '',
  target: '',
  priority: 'NORMAL',
  ttl: '',
  customTtl: '',
}

/** For how long a directive can be in force, and what that is called. */
export const TIMES_TO_LIVE: readonly (readonly [value: string, words: string])[] = [
  ['', 'until the run ends'],
  ['PT5M', 'for 5 minutes'],
  ['PT1H', 'for an hour'],
  ['custom', 'for another time…'],
]

/** A directive with a text for the agents; actions have a dialog of their own. */
export type TextDirective = Omit<InjectBody, 'content' | 'action' | 'value'> & {
  readonly content: string
}

/** A body that can be sent, or what keeps it from being one. */
export type InjectChecked =
  | { readonly ok: true; readonly body: TextDirective }
  | { readonly ok: false; readonly problems: readonly Problem[] }

/** Checks a form against the schema of the server. */
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

export function problemsOf(problems: readonly Problem[], field: string): readonly string[] {
  return problems.filter(({ path }) => path === `/${field}`).map(({ message }) => sentence(message))
}

/** The problems that belong to none of these fields. */
export function otherProblems(
  problems: readonly Problem[],
  fields: readonly string[],
): readonly string[] {
  return problems
    .filter(({ path }) => !fields.includes(path.slice(1)))
    .map(({ path, message }) => `${path} ${message}`.trim())
}

/** Whom a directive can be for: tasks that have not ended, and the roles of their agents. */
export function targetsOf({ tasks }: Pick<RunState, 'tasks'>): {
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

function sentence(message: string): string {
  return message.charAt(0).toUpperCase() + message.slice(1)
}
