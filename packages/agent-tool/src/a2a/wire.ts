/**
 * What is read of A2A 1.0, as its JSON has it; 0.3 is translated to it. Everything is what an agent says, and so
 * may be missing.
 *
 * @see https://a2a-protocol.org/latest/specification/ section 4
 */

type Metadata = Readonly<Record<string, unknown>>

/** A piece of a message or of an artifact: exactly one of its first four. */
export interface A2aPart {
  readonly text?: string
  readonly data?: unknown
  /** Bytes in base64. */
  readonly raw?: string
  readonly url?: string
  readonly filename?: string
  readonly mediaType?: string
}

/** Something that was said. */
export interface A2aMessage {
  readonly messageId?: string
  readonly taskId?: string
  readonly contextId?: string
  readonly role?: string
  readonly parts?: readonly A2aPart[]
  readonly metadata?: Metadata
}

/** Something that was made. */
export interface A2aArtifact {
  readonly artifactId?: string
  readonly name?: string
  readonly parts?: readonly A2aPart[]
  readonly metadata?: Metadata
}

/** Where a task stands. */
export interface A2aStatus {
  /** Such as `TASK_STATE_WORKING`. */
  readonly state?: string
  readonly message?: A2aMessage
}

/** Work of an agent. */
export interface AgentTask {
  readonly id?: string
  readonly contextId?: string
  readonly status?: A2aStatus
  readonly artifacts?: readonly A2aArtifact[]
  readonly metadata?: Metadata
}

/** A new status of a task. */
export interface A2aStatusUpdate {
  readonly taskId?: string
  readonly contextId?: string
  readonly status?: A2aStatus
  readonly metadata?: Metadata
}

/** An artifact of a task, or more of one. */
export interface A2aArtifactUpdate {
  readonly taskId?: string
  readonly contextId?: string
  readonly artifact?: A2aArtifact
  /** Whether its parts come after those that the artifact has. */
  readonly append?: boolean
  readonly lastChunk?: boolean
  readonly metadata?: Metadata
}

/** One object of a stream, and of the answer to a message: one of these is there. */
export interface A2aStreamItem {
  readonly task?: AgentTask
  readonly message?: A2aMessage
  readonly statusUpdate?: A2aStatusUpdate
  readonly artifactUpdate?: A2aArtifactUpdate
}

/** What is sent with `SendMessage`. */
export interface A2aSendRequest {
  readonly message: A2aMessage
  readonly metadata?: Metadata
}
