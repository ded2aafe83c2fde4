/** Trace of a run (`*.trace.json`), schema version 1.1. */
import Type from 'typebox'
import { Count, Instant, IsoDuration, JsonObject, NullableText, StringMap } from '../scalars.ts'
import { TaskTrace } from './task-trace.ts'
import { NullableTraceCost, TraceMetrics } from './trace-metrics.ts'

import type { Static } from '../../static.ts'

/** Agent of a trace or of a task graph. */
export const AgentSummary = Type.Object({
  role: Type.String(),
  goal: Type.String(),
  /** Background of the agent; null when it has none. */
  background: NullableText,
  toolNames: Type.Array(Type.String()),
  /** Whether the agent can delegate work. */
  allowDelegation: Type.Boolean(),
})
export type AgentSummary = Static<typeof AgentSummary>

const ErrorTrace = Type.Object({
  agentRole: Type.String(),
  taskDescription: Type.String(),
  errorType: Type.String(),
  message: Type.String(),
  stackTrace: Type.String(),
  occurredAt: Instant,
})

const MapReduceLevel = Type.Object({
  level: Count,
  taskCount: Count,
  duration: IsoDuration,
  workflow: Type.String(),
})

const LoopTrace = Type.Object({
  loopName: Type.String(),
  iterationsRun: Count,
  maxIterations: Count,
  terminationReason: Type.String(),
  onMaxIterations: Type.String(),
  outputMode: Type.String(),
  memoryMode: Type.String(),
  /** Task names by iteration. */
  iterations: Type.Array(Type.Array(Type.String())),
})

const GraphTrace = Type.Object({
  graphName: Type.String(),
  startState: Type.String(),
  terminationReason: Type.String(),
  stepsRun: Count,
  maxSteps: Count,
  steps: Type.Array(
    Type.Object({
      stateName: Type.String(),
      stepNumber: Count,
      nextState: NullableText,
    }),
  ),
})

/** Trace of a whole run. Tasks that a handler executes have no entry in `taskTraces`. */
export const ExecutionTrace = Type.Object({
  schemaVersion: Type.String(),
  captureMode: Type.Enum(['OFF', 'STANDARD', 'FULL']),
  /** Id of the run. */
  ensembleId: Type.String(),
  /** Workflow of the run, or MAP_REDUCE_ADAPTIVE. */
  workflow: Type.String(),
  startedAt: Instant,
  completedAt: Instant,
  /** Duration of the run. */
  totalDuration: IsoDuration,
  inputs: StringMap,
  agents: Type.Array(AgentSummary),
  /** Traces of the tasks, in order. */
  taskTraces: Type.Array(TaskTrace),
  metrics: TraceMetrics,
  /** Estimated cost; null when prices are not known. */
  totalCostEstimate: NullableTraceCost,
  errors: Type.Array(ErrorTrace),
  mapReduceLevels: Type.Array(MapReduceLevel),
  /** Absent before schema version 1.1, like the next two fields. */
  loopTraces: Type.Optional(Type.Array(LoopTrace)),
  graphTrace: Type.Optional(Type.Union([GraphTrace, Type.Null()])),
  traceId: Type.Optional(NullableText),
  metadata: JsonObject,
})
export type ExecutionTrace = Static<typeof ExecutionTrace>
