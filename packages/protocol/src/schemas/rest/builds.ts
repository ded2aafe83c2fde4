/** Builds of ensembles, and runs that are moved between them. */
import Type from 'typebox'
import { RunStatus } from '../enums.ts'
import { CLOSED, Count, Instant, NonBlank } from '../scalars.ts'

import type { Static } from '../../static.ts'

/** Percentage of new runs. */
const Share = Type.Integer({ minimum: 0, maximum: 100 })

/** Code of one ensemble in a build. */
export const BuildInfo = Type.Object({
  /** Id of the build: `TUTTI_BUILD_ID`, else a digest of the code of its ensembles. */
  build: Type.String(),
  ensemble: Type.String(),
  /** Digest of the ensemble's code. */
  code: Type.String(),
  /** Time at which a process of the build started first. Of the builds that live, the newest gets new runs. */
  firstStartedAt: Instant,
  /** Time at which a process of the build started last. */
  startedAt: Instant,
  /** Number of its processes that execute runs now. A build without one does not live. */
  processes: Count,
  /**
   * Percentage of new runs that it gets while it lives; older builds get the others. The oldest living build gets the
   * rest.
   */
  share: Share,
  /** Number of its runs that have not ended, by status; a status without runs is absent. */
  runs: Type.Partial(Type.Record(RunStatus, Count)),
})
export type BuildInfo = Static<typeof BuildInfo>

/** Response of `GET /api/builds`: the build that first started last comes first. */
export const BuildList = Type.Object({
  builds: Type.Array(BuildInfo),
  /** Build of the process that responds. */
  current: Type.String(),
})
export type BuildList = Static<typeof BuildList>

/** Body of `POST /api/builds/{build}/share`. */
export const SetBuildShareBody = Type.Object(
  {
    /** Percentage of new runs that the build gets while older builds live. */
    share: Share,
  },
  CLOSED,
)
export type SetBuildShareBody = Static<typeof SetBuildShareBody>

/** Response of `POST /api/builds/{build}/share`. */
export const BuildShareSet = Type.Object({
  /** Id of the build. */
  build: Type.String(),
  /** Percentage of new runs that it gets. Every process applies it within two seconds. */
  share: Share,
})
export type BuildShareSet = Static<typeof BuildShareSet>

/** Body of `POST /api/runs/{runId}/migrate`. */
export const MigrateRunBody = Type.Object(
  {
    /** Build whose code continues the run. */
    to: NonBlank,
    /** Whether only the differences are returned and the run is not moved; false when absent. */
    preview: Type.Optional(Type.Boolean()),
  },
  CLOSED,
)
export type MigrateRunBody = Static<typeof MigrateRunBody>

/** Difference between the codes of two builds, in one field of a task or of the ensemble. Long values are cut. */
export const CodeDifference = Type.Object({
  /** Name of the task; absent for a field of the ensemble. */
  task: Type.Optional(Type.String()),
  /** Name of the field; `task` for a task that exists in one build only. */
  field: Type.String(),
  /** Value in the build of the run, as text or JSON; absent if there is none. */
  from: Type.Optional(Type.String()),
  /** Value in the other build. */
  to: Type.Optional(Type.String()),
})
export type CodeDifference = Static<typeof CodeDifference>

/** Response of `POST /api/runs/{runId}/migrate`. */
export const RunMigrated = Type.Object({
  /** Id of the run. */
  runId: Type.String(),
  /** Build that executed the run last. */
  from: Type.String(),
  to: Type.String(),
  /** Differences between the codes; at most 100. */
  differences: Type.Array(CodeDifference, { maxItems: 100 }),
  /** Whether the run was moved; false for a preview. */
  moved: Type.Boolean(),
})
export type RunMigrated = Static<typeof RunMigrated>
