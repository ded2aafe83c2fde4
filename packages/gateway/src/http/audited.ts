/** Records actions in the audit trail: the actor, the subject and the outcome. */
import { shortText } from '@tutti/protocol/internal'

import { toWireError } from './api-error.ts'

import type { Caller } from '../caller.ts'
import type { ErrorCode, Scope } from '@tutti/protocol'
import type { NewAuditEntry } from '@tutti/runs/adapter'

/** Known part of the subject of an action. */
export type AuditSubject = Pick<NewAuditEntry, 'runId' | 'target' | 'cause'>

/** Status of an answer whose action succeeded, but whose run has no result. */
export const TASK_WITHOUT_RESULT = 422

/** An action before its outcome is known. */
export interface AuditedAction extends AuditSubject {
  readonly caller: Caller
  /** Route name or message type. */
  readonly action: string
  readonly via: NewAuditEntry['via']
}

/** Writes entries of the audit trail. */
export interface AuditRecorder {
  record(entry: NewAuditEntry): void
}

/** Audit trail and time of an action. */
export interface AuditTools {
  readonly trail: AuditRecorder
  /** Milliseconds since 1970. */
  readonly now: number
}

/** Adds to the subject of an action once it is known. */
export type AddSubject = (subject: AuditSubject) => void

/** Whether actions with this scope are recorded: those that change something. */
export function isAudited(scope: Scope | null): boolean {
  return scope !== null && scope !== 'runs:read'
}

/** Codes with a status of 500 or more for actions that did not begin. */
const NOT_BEGUN: readonly ErrorCode[] = ['NOT_CONFIGURED', 'DRAINING']

/** Maximum length of a run id or a target in an entry, because callers can send names of any length. */
const MAX_SUBJECT_LENGTH = 1_000

function shortenSubject({ runId, target, cause }: AuditSubject): AuditSubject {
  return {
    ...(cause === undefined ? {} : { cause }),
    ...(runId === undefined ? {} : { runId: shortText(runId, MAX_SUBJECT_LENGTH) }),
    ...(target === undefined ? {} : { target: shortText(target, MAX_SUBJECT_LENGTH) }),
  }
}

/** Performs `work` and records its outcome; an answer with an error status counts as an error. */
export async function audited<T>(
  { caller, action, via, ...subject }: AuditedAction,
  { trail, now }: AuditTools,
  work: (addSubject: AddSubject) => Promise<T> | T,
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
      ...shortenSubject(about),
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
