/** The server itself: status, probes, drain, and the files of its workspace. */
import Type from 'typebox'
import { LifecycleState } from '../enums.ts'
import { CLOSED, Count, Instant } from '../scalars.ts'
import { SharedCapability } from '../shared-capability.ts'

/** Answer to `GET /api/status`. AgentEnsemble REST; the last three are read by its network page. */
export const ServerStatus = Type.Object({
  status: Type.Literal('running'),
  /** Open WebSocket connections. */
  clients: Count,
  port: Count,
  lifecycleState: Type.Optional(LifecycleState),
  queueDepth: Type.Optional(Count),
  /** Tasks that run in the process that answers; `queueDepth` counts over all processes. */
  activeTasks: Type.Optional(Count),
  sharedCapabilities: Type.Optional(Type.Array(SharedCapability)),
})
export type ServerStatus = Type.Static<typeof ServerStatus>

/** Answer to `GET /api/health/live`. AgentEnsemble REST. */
export const Liveness = Type.Object({ status: Type.Literal('UP') })
export type Liveness = Type.Static<typeof Liveness>

/** Answer to `GET /api/health/ready`: 200 with READY, 503 with NOT_READY. AgentEnsemble REST. */
export const Readiness = Type.Object({
  status: Type.Enum(['READY', 'NOT_READY']),
  lifecycleState: Type.Union([LifecycleState, Type.Literal('UNKNOWN')]),
  /** Why it is not ready. */
  reason: Type.Optional(Type.String()),
})
export type Readiness = Type.Static<typeof Readiness>

/** Answer to `POST /api/lifecycle/drain`; the drain goes on after it. AgentEnsemble REST. */
export const DrainAccepted = Type.Object({ status: Type.Literal('DRAINING') })
export type DrainAccepted = Type.Static<typeof DrainAccepted>

/** Query of `GET /api/workspace/files`: a directory below the root, which is meant when absent. */
export const WorkspaceFilesQuery = Type.Object({ path: Type.Optional(Type.String()) }, CLOSED)
export type WorkspaceFilesQuery = Type.Static<typeof WorkspaceFilesQuery>

/** Query of `GET /api/workspace/file`: a file below the root. */
export const WorkspaceFileQuery = Type.Object({ path: Type.String({ minLength: 1 }) }, CLOSED)
export type WorkspaceFileQuery = Type.Static<typeof WorkspaceFileQuery>

/** One entry of a workspace directory. AgentEnsemble REST. */
export const WorkspaceEntry = Type.Object({
  name: Type.String(),
  type: Type.Enum(['file', 'directory']),
  /** Bytes; absent for directories. */
  size: Type.Optional(Count),
  lastModified: Type.Optional(Instant),
})
export type WorkspaceEntry = Type.Static<typeof WorkspaceEntry>

/** Answer to `GET /api/workspace/files`: a bare array, as AgentEnsemble's dashboard reads it. */
export const WorkspaceFiles = Type.Array(WorkspaceEntry)
export type WorkspaceFiles = Type.Static<typeof WorkspaceFiles>
