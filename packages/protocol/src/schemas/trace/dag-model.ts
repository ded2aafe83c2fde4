/** Task graph of an ensemble or a run (`*.dag.json`), schema version 1.3. */
import Type from 'typebox'
import { Count, Instant } from '../scalars.ts'
import { AgentSummary } from './execution-trace.ts'

import type { Static } from '../../static.ts'

const taskFields = {
  /** Id of the task. */
  id: Type.String(),
  description: Type.String(),
  expectedOutput: Type.String(),
  agentRole: Type.String(),
  /** Ids of the tasks that it waits for. */
  dependsOn: Type.Array(Type.String()),
  /** Level in the graph; 0 for tasks that wait for no other. */
  parallelGroup: Count,
  /** Whether the task is on the longest path. */
  onCriticalPath: Type.Boolean(),
  nodeType: Type.Optional(Type.String()),
  mapReduceLevel: Type.Optional(Count),
  loopMaxIterations: Type.Optional(Count),
}

/** Task of a task graph; a loop contains its body. */
export const DagTask = Type.Object({
  ...taskFields,
  loopBody: Type.Optional(Type.Array(Type.Object(taskFields))),
})
export type DagTask = Static<typeof DagTask>

/** Edge of a state graph. */
export const DagEdge = Type.Object({
  fromStateId: Type.String(),
  toStateId: Type.String(),
  conditionDescription: Type.Optional(Type.String()),
  /** Whether the edge has no condition. */
  unconditional: Type.Boolean(),
  /** Whether the run followed the edge. */
  fired: Type.Boolean(),
})
export type DagEdge = Static<typeof DagEdge>

/** Task graph of an ensemble or a run. */
export const DagModel = Type.Object({
  type: Type.Literal('dag'),
  schemaVersion: Type.String(),
  workflow: Type.String(),
  generatedAt: Instant,
  agents: Type.Array(AgentSummary),
  tasks: Type.Array(DagTask),
  /** Task ids by level. */
  parallelGroups: Type.Array(Type.Array(Type.String())),
  /** Ids of the tasks on the longest path. */
  criticalPath: Type.Array(Type.String()),
  mapReduceMode: Type.Optional(Type.String()),
  mode: Type.Optional(Type.Literal('graph')),
  graphEdges: Type.Optional(Type.Array(DagEdge)),
  graphStartStateId: Type.Optional(Type.String()),
  graphTerminationReason: Type.Optional(Type.String()),
  graphStepsRun: Type.Optional(Count),
})
export type DagModel = Static<typeof DagModel>
