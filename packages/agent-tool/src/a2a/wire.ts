/**
 * The used parts of A2A 1.0 as JSON; 0.3 is converted to it. Agents send all of this, so any member may be missing.
 *
 * @see https://a2a-protocol.org/latest/specification/ section 4
 */

type Metadata = Readonly<Record<string, unknown>>

/** A part of a message or artifact: exactly one of its first four members. */
export interface A2aPart {
  readonly text?: string
  readonly data?: unknown
  /** Bytes in base64. */
  readonly raw?: string
  readonly url?: string
  readonly filename?: string
  readonly mediaType?: string
}

export interface A2aMessage {
  readonly messageId?: string
  readonly taskId?: string
  readonly contextId?: string
  readonly role?: string
  readonly parts?: readonly A2aPart[]
  readonly metadata?: Metadata
}

export interface A2aArtifact {
  readonly artifactId?: string
  readonly name?: string
  readonly parts?: readonly A2aPart[]
  readonly metadata?: Metadata
}

export interface A2aStatus {
  /** Such as `TASK_STATE_WORKING`. */
  readonly state?: string
  readonly message?: A2aMessage
}

export interface AgentTask {
  readonly id?: string
  readonly contextId?: string
  readonly status?: A2aStatus
  readonly artifacts?: readonly A2aArtifact[]
  readonly metadata?: Metadata
}

export interface A2aStatusUpdate {
  readonly taskId?: string
  readonly contextId?: string
  readonly status?: A2aStatus
  readonly metadata?: Metadata
}

/** A new or extended artifact of a task. */
export interface A2aArtifactUpdate {
  readonly taskId?: string
  readonly contextId?: string
  readonly artifact?: A2aArtifact
  /** Whether its parts are appended to the artifact. */
  readonly append?: boolean
  readonly lastChunk?: boolean
  readonly metadata?: Metadata
}

/** An object of a stream, or the response to a message: exactly one member is set. */
export interface A2aStreamItem {
  readonly task?: AgentTask
  readonly message?: A2aMessage
  readonly statusUpdate?: A2aStatusUpdate
  readonly artifactUpdate?: A2aArtifactUpdate
}

/** Parameters of `SendMessage`. */
export interface A2aSendRequest {
  readonly message: A2aMessage
  readonly metadata?: Metadata
}
