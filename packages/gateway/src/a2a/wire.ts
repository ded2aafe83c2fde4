/**
 * Objects of A2A 1.0 in the JSON form of `a2a.proto`. Unknown fields in requests are ignored, as A2A requires, so that
 * clients can be newer than the server.
 *
 * @see https://github.com/a2aproject/A2A/blob/main/specification/a2a.proto
 */
import { Type } from '@tutti/core'

const NonEmpty = Type.String({ minLength: 1 })
const Metadata = Type.Object({})

/** States of tasks. */
export const TASK_STATES = [
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_REJECTED',
  'TASK_STATE_AUTH_REQUIRED',
] as const

export const A2aTaskState = Type.Enum([...TASK_STATES])
export type A2aTaskState = Type.Static<typeof A2aTaskState>

/** Part of a message or an artifact, with exactly one of `text`, `raw`, `url` and `data`. */
export const WirePart = Type.Object({
  text: Type.Optional(Type.String()),
  /** Base64. */
  raw: Type.Optional(Type.String()),
  url: Type.Optional(Type.String()),
  data: Type.Optional(Type.Unknown()),
  metadata: Type.Optional(Metadata),
  filename: Type.Optional(Type.String()),
  mediaType: Type.Optional(Type.String()),
})
export type WirePart = Type.Static<typeof WirePart>

/** Sender of a message. */
type Role = 'ROLE_USER' | 'ROLE_AGENT'

/** A message of a client. */
export const SentMessage = Type.Object({
  messageId: NonEmpty,
  /** Context id: long enough for any id generator, short enough to be stored with every task. */
  contextId: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  taskId: Type.Optional(NonEmpty),
  role: Type.Literal('ROLE_USER'),
  parts: Type.Array(WirePart, { minItems: 1 }),
  metadata: Type.Optional(Metadata),
  extensions: Type.Optional(Type.Array(Type.String())),
  referenceTaskIds: Type.Optional(Type.Array(Type.String())),
})
export type SentMessage = Type.Static<typeof SentMessage>

const HistoryLength = Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 })

/** Parameters of `SendMessage` and `SendStreamingMessage`. */
export const SendParams = Type.Object({
  message: SentMessage,
  configuration: Type.Optional(
    Type.Object({
      acceptedOutputModes: Type.Optional(Type.Array(Type.String())),
      historyLength: Type.Optional(HistoryLength),
      returnImmediately: Type.Optional(Type.Boolean()),
      /** Opposite of `returnImmediately`, in 0.3. */
      blocking: Type.Optional(Type.Boolean()),
      taskPushNotificationConfig: Type.Optional(Type.Unknown()),
      /** Name of `taskPushNotificationConfig` in 0.3. */
      pushNotificationConfig: Type.Optional(Type.Unknown()),
    }),
  ),
  metadata: Type.Optional(Metadata),
})
export type SendParams = Type.Static<typeof SendParams>

/** Parameters of `CancelTask` and `SubscribeToTask`. */
export const TaskIdParams = Type.Object({ id: NonEmpty })

/** Parameters of `GetTask`. */
export const GetTaskParams = Type.Object({
  id: NonEmpty,
  historyLength: Type.Optional(HistoryLength),
})

/** Parameters of `ListTasks`. */
export const ListTasksParams = Type.Object({
  contextId: Type.Optional(Type.String()),
  status: Type.Optional(A2aTaskState),
  pageSize: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  pageToken: Type.Optional(Type.String()),
  historyLength: Type.Optional(HistoryLength),
  statusTimestampAfter: Type.Optional(Type.String({ format: 'date-time' })),
  includeArtifacts: Type.Optional(Type.Boolean()),
})
export type ListTasksParams = Type.Static<typeof ListTasksParams>

/** A message of a task. */
export interface WireMessage {
  readonly messageId: string
  readonly contextId?: string
  readonly taskId?: string
  readonly role: Role
  readonly parts: readonly WirePart[]
  readonly metadata?: object
  readonly extensions?: readonly string[]
  readonly referenceTaskIds?: readonly string[]
}

/** An artifact, the output of a task. */
export interface Artifact {
  readonly artifactId: string
  readonly name?: string
  readonly parts: readonly WirePart[]
}

/** State of a task with its time and a message. */
export interface A2aTaskStatus {
  readonly state: A2aTaskState
  readonly message?: WireMessage
  /** RFC 3339, in UTC. */
  readonly timestamp: string
}

export interface WireTask {
  readonly id: string
  readonly contextId: string
  readonly status: A2aTaskStatus
  readonly artifacts?: readonly Artifact[]
  readonly history?: readonly WireMessage[]
  readonly metadata?: Readonly<Record<string, unknown>>
}

/** Update with a new status of a task. */
export interface StatusUpdate {
  readonly taskId: string
  readonly contextId: string
  readonly status: A2aTaskStatus
  readonly metadata?: Readonly<Record<string, unknown>>
}

/** Update with an artifact, or more of it. */
export interface ArtifactUpdate {
  readonly taskId: string
  readonly contextId: string
  readonly artifact: Artifact
  /** Whether it continues the artifact with the same id; otherwise it replaces it. */
  readonly append: boolean
  readonly lastChunk: boolean
  readonly metadata?: Readonly<Record<string, unknown>>
}

/** One message of a stream. */
export type StreamItem =
  | { readonly task: WireTask }
  | { readonly statusUpdate: StatusUpdate }
  | { readonly artifactUpdate: ArtifactUpdate }

export interface TaskPage {
  readonly tasks: readonly WireTask[]
  /** Empty on the last page. */
  readonly nextPageToken: string
  readonly pageSize: number
  readonly totalSize: number
}
