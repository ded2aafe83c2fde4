/** Has the audit trail tell of an action: who asked for it, what it was about, and what came of it. */
import { shortText } from '@tutti/protocol'

import { toWireError } from './api-error.ts'

import type { Caller } from '../caller.ts'
import type { AuditRecorder } from '../gateway-options.ts'
import type { ErrorCode, Scope } from '@tutti/protocol'
import type { NewAuditEntry } from '@tutti/runs'

/** What an action is about, as far as it is known. */
export type AuditSubject = Pick<NewAuditEntry, 'runId' | 'target'>

/** The status of an answer that says what became of a run, and not of the action: that was done. */
export const TASK_WITHOUT_RESULT = 422

/** An action as it is asked for. */
export interface AuditedAction extends AuditSubject {
  readonly caller: Caller
  /** Name of the route or type of the message. */
  readonly action: string
  readonly via: NewAuditEntry['via']
}

/** Where it is told, and when it is asked for. */
export interface AuditTools {
  readonly trail: AuditRecorder
  /** Milliseconds since 1970. */
  readonly now: number
}

/** Says more of what the action is about, once that is known. */
export type TellSubject = (subject: AuditSubject) => void

/** Whether what needs this scope changes something, and so is told. */
export function isAudited(scope: Scope | null): boolean {
  return scope !== null && scope !== 'runs:read'
}

/** Codes of 500 and above with which nothing failed: it was not begun. */
const NOT_BEGUN: readonly ErrorCode[] = ['NOT_CONFIGURED', 'DRAINING']

/** Characters of a run id or a target that an entry has. A caller may name what does not exist, at any length. */
const MAX_SUBJECT_LENGTH = 1_000

function shortSubject({ runId, target }: AuditSubject): AuditSubject {
  return {
    ...(runId === undefined ? {} : { runId: shortText(runId, MAX_SUBJECT_LENGTH) }),
    ...(target === undefined ? {} : { target: shortText(target, MAX_SUBJECT_LENGTH) }),
  }
}

/** Does `work` and records what came of it; an answer that is an error counts as one. */
export async function audited<T>(
  { caller, action, via, ...subject }: AuditedAction,
  { trail, now }: AuditTools,
  work: (tell: TellSubject) => Promise<T> | T,
): Promise<T> {
  let about: AuditSubject = subject
  const record = (end: Pick<NewAuditEntry, 'outcome' | 'error'>): void => {
    const { name: actor = 'anonymous', remoteAddress } = caller
    const address = remoteAddress === undefined ? {} : { remoteAddress }
    trail.record({
      at: new Date(now).toISOString(),
      actor,
      action,
      via,
      ...address,
      ...shortSubject(about),
      ...end,
    })
  }
  try {
    const result = await work((more) => {
      about = { ...about, ...more }
    })
    const status = result instanceof Response ? result.status : 200
    const isDone = status < 400 || status === TASK_WITHOUT_RESULT
    record({ outcome: isDone ? 'DONE' : status < 500 ? 'REFUSED' : 'FAILED' })
    return result
  } catch (error) {
    const wire = toWireError(error)
    const code = wire?.body.error ?? 'INTERNAL'
    const isRefused = (wire?.status ?? 500) < 500 || NOT_BEGUN.includes(code)
    record({ outcome: isRefused ? 'REFUSED' : 'FAILED', error: code })
    throw error
  }
}
