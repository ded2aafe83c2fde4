/**
 * Pure: converts parameters of every version to those of A2A 1.0, without validation.
 *
 * GW-P1 Fields may have their names of `a2a.proto` (`context_id`), as the JSON form of Protocol Buffers allows. The
 *    content of `data` and `metadata` belongs to the client and does not change.
 * GW-P2 A field that is null, or an empty id, counts as absent.
 * GW-P3 Parts, roles and states of 0.3 become those of 1.0. Invalid values are left to the schema.
 */
import { TASK_STATES } from './wire.ts'

/** Parameters of any method. */
export type Params = Readonly<Record<string, unknown>>

/** Fields whose content belongs to the client. */
const OPAQUE: readonly string[] = ['data', 'metadata']

/** Fields that count as absent when they are empty. */
const IDS: readonly string[] = ['taskId', 'contextId', 'pageToken', 'status']

/** Converts parameters to those of 1.0. */
export function toModernParams(params: Params): Params {
  const { message, status, name, lastUpdatedAfter, ...rest } = renameFields(params)
  return {
    ...rest,
    ...(message === undefined ? {} : { message: toModernMessage(message) }),
    ...(status === undefined ? {} : { status: toModernState(status) }),
    // Drafts of 1.0 identified a task by its resource, `tasks/{id}`.
    ...(rest['id'] === undefined && typeof name === 'string'
      ? { id: name.replace(/^tasks\//, '') }
      : {}),
    // They also had another name for `statusTimestampAfter`.
    ...(rest['statusTimestampAfter'] === undefined && lastUpdatedAfter !== undefined
      ? { statusTimestampAfter: toModernTime(lastUpdatedAfter) }
      : {}),
  }
}

/** Whether a value is an object with fields. */
export function isParams(value: unknown): value is Params {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function renameFields(value: Params): Params {
  const entries = Object.entries(value).flatMap(([key, field]): [string, unknown][] => {
    const name = key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    if (name !== 'data' && (field === null || (field === '' && IDS.includes(name)))) return []
    const isOpen = isParams(field) && !OPAQUE.includes(name)
    return [[name, isOpen ? renameFields(field) : field]]
  })
  return Object.fromEntries(entries)
}

const ROLES: ReadonlyMap<unknown, string> = new Map([
  ['user', 'ROLE_USER'],
  ['agent', 'ROLE_AGENT'],
])

function toModernMessage(message: unknown): unknown {
  if (!isParams(message)) return message
  const { role, parts, ...rest } = message
  return {
    ...rest,
    ...(role === undefined ? {} : { role: ROLES.get(role) ?? role }),
    ...(parts === undefined ? {} : { parts: toModernParts(parts) }),
  }
}

function toModernParts(parts: unknown): unknown {
  return Array.isArray(parts) ? parts.map(toModernPart) : parts
}

/**
 * Converts a part. 0.3 has `{kind: 'file', file: {bytes | uri, mimeType, name}}`; drafts of 1.0 had other names in it.
 */
function toModernPart(part: unknown): unknown {
  if (!isParams(part)) return part
  const { file, ...rest } = renameFields(part)
  if (!isParams(file)) return rest
  const raw = file['bytes'] ?? file['fileWithBytes']
  const url = file['uri'] ?? file['fileWithUri']
  const mediaType = file['mimeType'] ?? file['mediaType']
  const { name } = file
  return {
    ...rest,
    ...(raw === undefined ? {} : { raw }),
    ...(url === undefined ? {} : { url }),
    ...(mediaType === undefined ? {} : { mediaType }),
    ...(name === undefined ? {} : { filename: name }),
  }
}

/** Latest date, in milliseconds since 1970. Source: ECMA-262, time values. */
const MAX_TIME = 8.64e15

/** Converts a time; drafts of 1.0 had milliseconds since 1970. */
function toModernTime(time: unknown): unknown {
  const isTime = typeof time === 'number' && time >= 0 && time <= MAX_TIME
  return isTime ? new Date(time).toISOString() : time
}

function toModernState(state: unknown): unknown {
  if (typeof state !== 'string') return state
  const name = `TASK_STATE_${state.toUpperCase().replaceAll('-', '_')}`
  return TASK_STATES.some((known) => known === name) ? name : state
}
