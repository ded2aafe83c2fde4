/**
 * Directives: guidance for the agents of a running run.
 *
 * ENS-D1 A directive reaches every matching task once per attempt until it expires: a running task at its
 *    next model call, a later one in its first prompt.
 * ENS-D2 Directives that reach the same call are ordered by priority, then by arrival.
 * ENS-D3 The directives that reached an attempt also reach the next attempt at the same task, even when they
 *    have expired.
 */
import { TuttiError } from '@tutti/core'
import { DirectiveAction, suggest, type DirectiveInput, type Priority } from '@tutti/protocol'

import type { Directive } from '../ports/run-step.ts'

/** The last instant that a date can say, in milliseconds since 1970. @see ECMA-262, time values */
const LAST_INSTANT = 8.64e15

const PRIORITIES: readonly Priority[] = ['CRITICAL', 'HIGH', 'NORMAL', 'LOW']

export interface DirectiveCheck {
  /** Milliseconds since 1970. */
  readonly now: number
  /** Names of tasks and roles of agents. */
  readonly targets: readonly string[]
  /** Whether another directive has that id. */
  readonly isTaken: (id: string) => boolean
}

/**
 * Creates a directive.
 *
 * @throws {TuttiError} BAD_REQUEST, naming every problem.
 */
export function directive(
  input: DirectiveInput,
  { now, targets, isTaken }: DirectiveCheck,
): Directive {
  const { content = '', value, to, from, actor, priority = 'NORMAL', ttlMs, id } = input
  const problems: string[] = []
  const action = readAction(input, problems)
  if (input.action === undefined && content.trim() === '') {
    problems.push(`content must be text that is not blank, got ${JSON.stringify(content)}`)
  }
  if (ttlMs !== undefined && !(ttlMs > 0)) problems.push(`ttlMs must be > 0, got ${ttlMs}`)
  if (!PRIORITIES.includes(priority)) {
    problems.push(
      `priority must be one of ${PRIORITIES.join(', ')}, got ${JSON.stringify(priority)}`,
    )
  }
  if (to !== undefined && !targets.includes(to)) {
    const known = [...new Set(targets)].join(', ')
    problems.push(`no task or agent is named "${to}". Available: [${known}]`)
  }
  if (id !== undefined && isTaken(id)) problems.push(`the id "${id}" is taken`)
  if (problems.length > 0) {
    throw new TuttiError('BAD_REQUEST', `Cannot take the directive: ${problems.join('; ')}`)
  }
  return {
    id: id ?? crypto.randomUUID(),
    content,
    ...(action === undefined ? {} : { action }),
    ...(value === undefined ? {} : { value }),
    ...(to === undefined ? {} : { to }),
    ...(from === undefined ? {} : { from }),
    ...(actor === undefined ? {} : { actor }),
    priority,
    createdAt: now,
    ...(ttlMs === undefined || now + ttlMs > LAST_INSTANT ? {} : { expiresAt: now + ttlMs }),
  }
}

/** The action that is asked for; what is wrong with it is added to `problems`. */
function readAction(
  { action, value = '', content, ttlMs }: DirectiveInput,
  problems: string[],
): DirectiveAction | undefined {
  if (action === undefined) {
    if (value !== '') problems.push('value needs an action')
    return undefined
  }
  const known = DirectiveAction.enum.find((name) => name === action)
  if (known === undefined) {
    const near = suggest(action, DirectiveAction.enum)
    const hint = near === undefined ? '' : ` Did you mean "${near}"?`
    const list = DirectiveAction.enum.join(', ')
    problems.push(`action must be one of ${list}, got ${JSON.stringify(action)}.${hint}`)
    return undefined
  }
  if (value.trim() === '') problems.push(`action ${known} needs a value`)
  if (content !== undefined) problems.push(`action ${known} has no content: send it on its own`)
  if (ttlMs !== undefined) problems.push(`action ${known} has no ttl: it is done at once`)
  return known
}

/** Who is about to be asked. */
export interface DirectiveTarget {
  readonly taskName: string
  /** Name under which the task was declared, when it is a delegated one. @default taskName */
  readonly baseName?: string
  readonly agentRole: string
  readonly attempt: number
}

/** The directives of one run, and whom they have reached. */
export class Directives {
  readonly #all: Directive[] = []
  /** Ids by task and attempt. */
  readonly #reached = new Map<string, Map<number, Set<string>>>()

  /** Takes a directive up. */
  add(added: Directive): void {
    this.#all.push(added)
  }

  /** Returns the directives that the next model call of `target` delivers, in order. */
  next(
    { taskName, baseName = taskName, agentRole, attempt }: DirectiveTarget,
    now: number,
  ): readonly Directive[] {
    if (this.#all.length === 0) return NO_DIRECTIVES
    const names = new Set([taskName, baseName, agentRole])
    const attempts = this.#reached.get(taskName)
    const earlier = new Set([...(attempts?.values() ?? [])].flatMap((ids) => [...ids]))
    const reached = attempts?.get(attempt)
    return this.#all
      .filter(({ id, to, expiresAt = Infinity }) => {
        if (reached?.has(id) === true) return false
        if (earlier.has(id)) return true
        return now < expiresAt && (to === undefined || names.has(to))
      })
      .toSorted((a, b) => PRIORITIES.indexOf(a.priority) - PRIORITIES.indexOf(b.priority))
  }

  /** The directives with these ids, in that order. */
  byId(ids: readonly string[]): readonly Directive[] {
    return ids.flatMap((id) => this.#all.find((known) => known.id === id) ?? [])
  }

  /** Notes that directives have reached a task. */
  markReached(
    { taskName, attempt }: Pick<DirectiveTarget, 'taskName' | 'attempt'>,
    ids: readonly string[],
  ): void {
    if (ids.length === 0) return
    const attempts = this.#reached.get(taskName) ?? new Map<number, Set<string>>()
    this.#reached.set(taskName, attempts)
    attempts.set(attempt, new Set([...(attempts.get(attempt) ?? []), ...ids]))
  }
}

const NO_DIRECTIVES: readonly Directive[] = []

/** Directives as the text of a prompt. */
export function directiveText(directives: readonly Directive[]): string {
  return directives
    .map(({ from = 'control', createdAt, content }) => {
      return `[${from} | ${new Date(createdAt).toISOString()}] ${content}`
    })
    .join('\n')
}
