/**
 * Names of attributes. Those of `gen_ai.` are the GenAI semantic conventions of `@opentelemetry/semantic-conventions`
 * 1.45.0 (`/incubating`). They may still change, so they are copied here instead of imported, as that package requests;
 * a test compares them.
 *
 * @see https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-agent-spans/
 */

/** Name of the instrumentation scope of spans. */
export const INSTRUMENTATION = '@tutti/telemetry'

/** Attributes of the GenAI conventions. */
export const GEN_AI = {
  agentName: 'gen_ai.agent.name',
  conversationId: 'gen_ai.conversation.id',
  inputMessages: 'gen_ai.input.messages',
  operationName: 'gen_ai.operation.name',
  outputMessages: 'gen_ai.output.messages',
  providerName: 'gen_ai.provider.name',
  requestModel: 'gen_ai.request.model',
  finishReasons: 'gen_ai.response.finish_reasons',
  timeToFirstChunk: 'gen_ai.response.time_to_first_chunk',
  systemInstructions: 'gen_ai.system_instructions',
  toolArguments: 'gen_ai.tool.call.arguments',
  toolCallId: 'gen_ai.tool.call.id',
  toolResult: 'gen_ai.tool.call.result',
  toolName: 'gen_ai.tool.name',
  toolType: 'gen_ai.tool.type',
  cachedInputTokens: 'gen_ai.usage.cache_read.input_tokens',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  reasoningTokens: 'gen_ai.usage.reasoning.output_tokens',
  workflowName: 'gen_ai.workflow.name',
} as const

/** Names of operations of the GenAI conventions. */
export const OPERATION = {
  chat: 'chat',
  executeTool: 'execute_tool',
  invokeAgent: 'invoke_agent',
  invokeWorkflow: 'invoke_workflow',
} as const

/** Attributes that the conventions do not have. */
export const TUTTI = {
  runId: 'tutti.run.id',
  runStatus: 'tutti.run.status',
  exitReason: 'tutti.run.exit_reason',
  workflow: 'tutti.run.workflow',
  taskCount: 'tutti.run.tasks',
  queueMs: 'tutti.run.queue_ms',
  taskName: 'tutti.task.name',
  taskIndex: 'tutti.task.index',
  attempt: 'tutti.task.attempt',
  iteration: 'tutti.iteration',
  /** Name of the model in the run's events: an alias of the catalog, or `provider:name`. */
  model: 'tutti.model',
  /** Number of the call in its turn, from 1. */
  modelTry: 'tutti.model.try',
  /** Failure code of work that failed, was cancelled or was interrupted. */
  code: 'tutti.code',
  willRetry: 'tutti.will_retry',
  retryInMs: 'tutti.retry_in_ms',
  nextModel: 'tutti.next_model',
  toolCalls: 'tutti.tool_calls',
  iterationLimitReached: 'tutti.iteration_limit_reached',
  /** In US dollars; absent when no price is known. */
  costUsd: 'tutti.cost_usd',
  /** Numbers of the first and the last event in the run's log that belong to the span. */
  seqFirst: 'tutti.seq.first',
  seqLast: 'tutti.seq.last',
  agentUri: 'tutti.agent.uri',
  agentMode: 'tutti.agent.mode',
  agentProtocol: 'tutti.agent.protocol',
  agentTry: 'tutti.agent.try',
  delegationId: 'tutti.delegation.id',
  delegationDepth: 'tutti.delegation.depth',
  handoff: 'tutti.handoff',
  /** Tasks that the attempt has added, and how they ended. */
  addedCount: 'tutti.added_tasks.count',
  addedCompleted: 'tutti.added_tasks.completed',
  addedFailed: 'tutti.added_tasks.failed',
  /** Tasks below the span that have no spans, and the usage of their attempts without a span. */
  untracedCount: 'tutti.untraced_tasks.count',
  untracedInputTokens: 'tutti.untraced_tasks.input_tokens',
  untracedOutputTokens: 'tutti.untraced_tasks.output_tokens',
  untracedCostUsd: 'tutti.untraced_tasks.cost_usd',
  reviewId: 'tutti.review.id',
  reviewTiming: 'tutti.review.timing',
  reviewDecision: 'tutti.review.decision',
  reviewTimedOut: 'tutti.review.timed_out',
  reviewDueMs: 'tutti.review.due_ms',
  reviewDecidedBy: 'tutti.review.decided_by',
} as const
