/**
 * Directives: guidance for the agents of a run in flight.
 *
 * ENS-D1 A directive reaches every matching task once per attempt until it expires: a running task at its
 *    next model call, a later one in its first prompt.
 * ENS-D2 Directives that reach the same call are ordered by priority, then by arrival.
 * ENS-D3 The directives that reached an attempt also reach the next attempt at the same task, even when they
 *    have expired.
 */
import { TuttiError } from '@tutti/core'
import { findExcessProblems } from '@tutti/core/internal'
import {
  DirectiveAction,
  suggest,
  type DirectiveInput,
  type Priority,
} from '@tutti/protocol/internal'

import type { Directive } from '../ports/run-step.ts'

const PRIORITIES: readonly Priority[] = ['CRITICAL', 'HIGH', 'NORMAL', 'LOW']

export interface DirectiveCheck {
  /** Current time in milliseconds since 1970. */
  readonly now: number
  /** Names of tasks and roles of agents. */
  readonly targets: readonly string[]
  /** Whether another directive has this id. */
  readonly isTaken: (id: string) => boolean
}

/**
 * Creates a directive.
 *
 * @throws {TuttiError} BAD_REQUEST, naming every problem.
 */
export function createDirective(
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
  problems.push(...findExcessProblems({ ttlMs }))
  if (!PRIORITIES.includes(priority)) {
    problems.push(
      `priority must be one of ${PRIORITIES.join(', ')}, got ${JSON.stringify(priority)}`,
    )
  }
  if (to !== undefined && !targets.includes(to)) {
    const known = [...new Set(targets)].join(', ')
    problems.push(`no task or agent is named "${to}". Available: [${known}]`)
  }
  if (id !== undefined && isTaken(id)) problems.push(`the id "${id}" is already used`)
  if (problems.length > 0) {
    throw new TuttiError('BAD_REQUEST', `Invalid directive: ${problems.join('; ')}`)
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
    ...(ttlMs === undefined || ttlMs === Infinity ? {} : { expiresAt: now + ttlMs }),
  }
}

/** Returns the requested action, and adds its problems to `problems`. */
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
  if (content !== undefined)
    problems.push(`action ${known} takes no content: send the text as a separate directive`)
  if (ttlMs !== undefined) problems.push(`action ${known} takes no ttlMs: it is applied at once`)
  return known
}

/** Task that is about to call its model. */
export interface DirectiveTarget {
  readonly taskName: string
  /** Declared name of a delegated task. @default taskName */
  readonly baseName?: string
  readonly agentRole: string
  readonly attempt: number
}

/** Directives of one run, and the attempts that each has reached. */
export class Directives {
  readonly #all: Directive[] = []
  /** Ids of delivered directives by task and attempt. */
  readonly #reached = new Map<string, Map<number, Set<string>>>()

  /** Whether the run has no directives. */
  get isEmpty(): boolean {
    return this.#all.length === 0
  }

  /** Adds a directive. */
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

  /** Returns the directives with these ids, in this order. */
  byId(ids: readonly string[]): readonly Directive[] {
    return ids.flatMap((id) => this.#all.find((known) => known.id === id) ?? [])
  }

  /** Records that directives have reached an attempt at a task. */
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

/** Returns directives as the text of a prompt section. */
export function renderDirectives(directives: readonly Directive[]): string {
  return directives
    .map(({ from = 'control', createdAt, content }) => {
      return `[${from} | ${new Date(createdAt).toISOString()}] ${content}`
    })
    .join('\n')
}
