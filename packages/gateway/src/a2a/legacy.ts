/**
 * Pure: converts the objects of A2A 1.0 to those of 0.3, which have their type in `kind`, states in lower case, and
 * `final` in the last update of a stream.
 *
 * @see https://a2a-protocol.org/v0.3.0/specification/
 */
import { isParams } from './params.ts'

import type {
  Artifact,
  WireMessage,
  WirePart,
  StreamItem,
  WireTask,
  A2aTaskState,
  A2aTaskStatus,
} from './wire.ts'

type Json = Readonly<Record<string, unknown>>

/** Converts a task to 0.3. */
export function toLegacyTask({ status, artifacts, history, ...task }: WireTask): Json {
  return {
    kind: 'task',
    ...task,
    status: toLegacyStatus(status),
    ...(artifacts === undefined ? {} : { artifacts: artifacts.map(toLegacyArtifact) }),
    ...(history === undefined ? {} : { history: history.map(toLegacyMessage) }),
  }
}

/** Converts a message of a stream to 0.3; `isLast` returns whether a state ends the stream. */
export function toLegacyItem(item: StreamItem, isLast: (state: A2aTaskState) => boolean): Json {
  if ('task' in item) return toLegacyTask(item.task)
  if ('statusUpdate' in item) {
    const { status, ...update } = item.statusUpdate
    const final = isLast(status.state)
    return { kind: 'status-update', ...update, status: toLegacyStatus(status), final }
  }
  const { artifact, ...update } = item.artifactUpdate
  return { kind: 'artifact-update', ...update, artifact: toLegacyArtifact(artifact) }
}

function toLegacyStatus({ state, message, timestamp }: A2aTaskStatus): Json {
  return {
    state: state.replace('TASK_STATE_', '').toLowerCase().replaceAll('_', '-'),
    ...(message === undefined ? {} : { message: toLegacyMessage(message) }),
    timestamp,
  }
}

function toLegacyMessage({ role, parts, ...message }: WireMessage): Json {
  const who = role === 'ROLE_USER' ? 'user' : 'agent'
  return { kind: 'message', ...message, role: who, parts: parts.map(toLegacyPart) }
}

function toLegacyArtifact({ parts, ...artifact }: Artifact): Json {
  return { ...artifact, parts: parts.map(toLegacyPart) }
}

/** Converts a part to 0.3, whose data are objects; other values become their JSON as text. */
function toLegacyPart({ text, raw, url, data, metadata, filename, mediaType }: WirePart): Json {
  const more = metadata === undefined ? {} : { metadata }
  if (text !== undefined) return { kind: 'text', text, ...more }
  if (raw === undefined && url === undefined) {
    return isParams(data)
      ? { kind: 'data', data, ...more }
      : { kind: 'text', text: JSON.stringify(data ?? null), ...more }
  }
  const file = {
    ...(raw === undefined ? { uri: url } : { bytes: raw }),
    ...(mediaType === undefined ? {} : { mimeType: mediaType }),
    ...(filename === undefined ? {} : { name: filename }),
  }
  return { kind: 'file', file, ...more }
}
