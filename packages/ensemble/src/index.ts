/** Teams of LLM agents. A task is work for one agent; an ensemble is tasks that belong together. */

// To define
export { agent, type Agent, type AgentDefinition } from './agent.ts'
export { ensemble, type Ensemble, type EnsembleDefinition } from './ensemble.ts'
export {
  assertInputs,
  inputVariables,
  missingInputs,
  taskVariables,
  type Inputs,
} from './inputs.ts'
export { modelCatalog, type ModelCatalog } from './model/model-catalog.ts'
export type { ErrorStrategy } from './next.ts'
export type { Workflow } from './plan.ts'
export {
  DEFAULT_EXPECTED_OUTPUT,
  DEFAULT_MAX_ITERATIONS,
  task,
  type Task,
  type TaskDefinition,
} from './task.ts'

// To run
export { addTokens, totalTokens, type TokenCount } from './tokens.ts'
export type { ResumePoint, RunEnding, RunOptions, RunResult } from './run-ensemble.ts'

// To extend
export type {
  AssistantMessage,
  ChatModel,
  Message,
  ModelCallOptions,
  ModelChunk,
  ModelReply,
  ModelRequest,
  ModelUsage,
  SystemMessage,
  ToolMessage,
  ToolSpecification,
  UserMessage,
} from './model/chat-model.ts'
export type { RunJournal, TaskCheckpoint } from './ports/run-journal.ts'
