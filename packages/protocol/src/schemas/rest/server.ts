/** The server: status, health probes, drain, and the files of its workspace. */
import Type from 'typebox'
import { LifecycleState } from '../enums.ts'
import { CLOSED, Count, Instant } from '../scalars.ts'
import { SharedCapability } from '../shared-capability.ts'

import type { Static } from '../../static.ts'

/** Response of `GET /api/status`. Network pages read the last three fields. */
export const ServerStatus = Type.Object({
  status: Type.Literal('running'),
  /** Number of open WebSocket connections. */
  clients: Count,
  /** Port on which the server listens. */
  port: Count,
  lifecycleState: Type.Optional(LifecycleState),
  /** Number of waiting runs, over all processes. */
  queueDepth: Type.Optional(Count),
  /** Number of tasks that run in the answering process. */
  activeTasks: Type.Optional(Count),
  /** Tasks and tools that peers can request. */
  sharedCapabilities: Type.Optional(Type.Array(SharedCapability)),
})
export type ServerStatus = Static<typeof ServerStatus>

/** Response of `GET /api/health/live`. */
export const Liveness = Type.Object({ status: Type.Literal('UP') })
export type Liveness = Static<typeof Liveness>

/** Response of `GET /api/health/ready`: 200 with READY, 503 with NOT_READY. */
export const Readiness = Type.Object({
  status: Type.Enum(['READY', 'NOT_READY']),
  /** Lifecycle state of the server. */
  lifecycleState: Type.Union([LifecycleState, Type.Literal('UNKNOWN')]),
  /** Reason why the server is not ready. */
  reason: Type.Optional(Type.String()),
  /** Engine that dispatches runs in addition to the store, if there is one. The server is ready without it. */
  dispatcher: Type.Optional(
    Type.Object({
      /** Name of the engine, such as `nats`. */
      engine: Type.String(),
      /** Whether it can be reached; otherwise the store dispatches runs. */
      connected: Type.Boolean(),
    }),
  ),
})
export type Readiness = Static<typeof Readiness>

/** Response of `POST /api/lifecycle/drain`; the drain continues after it. */
export const DrainAccepted = Type.Object({ status: Type.Literal('DRAINING') })
export type DrainAccepted = Static<typeof DrainAccepted>

/** Query of `GET /api/workspace/files`. */
export const WorkspaceFilesQuery = Type.Object(
  {
    /** Directory relative to the root of the workspace; the root when absent. */
    path: Type.Optional(Type.String()),
  },
  CLOSED,
)
export type WorkspaceFilesQuery = Static<typeof WorkspaceFilesQuery>

/** Query of `GET /api/workspace/file`. */
export const WorkspaceFileQuery = Type.Object(
  {
    /** File relative to the root of the workspace. */
    path: Type.String({ minLength: 1 }),
  },
  CLOSED,
)
export type WorkspaceFileQuery = Static<typeof WorkspaceFileQuery>

/** File or directory of the workspace. */
export const WorkspaceEntry = Type.Object({
  name: Type.String(),
  type: Type.Enum(['file', 'directory']),
  /** Size in bytes; absent for directories. */
  size: Type.Optional(Count),
  /** Time of the last change. */
  lastModified: Type.Optional(Instant),
})
export type WorkspaceEntry = Static<typeof WorkspaceEntry>

/** Response of `GET /api/workspace/files`, an array. */
export const WorkspaceFiles = Type.Array(WorkspaceEntry)
export type WorkspaceFiles = Static<typeof WorkspaceFiles>
