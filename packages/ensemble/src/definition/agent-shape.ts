/** The shapes of agents and of the handoffs between them, which refer to each other. */
import type { AgentTool } from '@tutti/core'
import type { ToolSchema } from '@tutti/core/internal'
import type { HandoffFilterName } from '@tutti/protocol/internal'
import type { ChatModel, Message } from '../model/chat-model.ts'
import type { RateLimit } from '../model/rate-limit.ts'
import type { OnUnfinished } from './on-unfinished.ts'

/** An agent: a role, a goal and tools. */
export interface Agent {
  /** Role, such as `Regulatory Researcher`. */
  readonly role: string
  /**
   * Goal, as part of the system message. It is not a template: inputs of a run, which can come from strangers, never
   * get the rank of the system. @default none: the task itself is the goal
   */
  readonly goal?: string
  /**
   * System message, unchanged, instead of its role, goal and background. Its tasks then get their description as it is, without
   * headings. Those of a task take precedence. @default the role, the goal and the background
   */
  readonly instructions?: string
  /** Background of the agent, as context for its work. */
  readonly background?: string
  readonly tools: readonly AgentTool[]
  /** Model of this agent. The task's own model takes precedence; the ensemble's model is the default. */
  readonly model?: ChatModel
  /** Maximum number of model turns of a task that sets no limit itself. */
  readonly maxIterations?: number
  /** Form of its answers, such as `Markdown with a heading`. */
  readonly responseFormat?: string
  /** Rate limit that all its tasks share for their model calls. */
  readonly rateLimit?: RateLimit
  /** Reaction to an answer that the model ended early. @default the ensemble's */
  readonly onUnfinished?: OnUnfinished
  /** Whether it may delegate work to the other agents of its ensemble. @default false */
  readonly allowDelegation?: boolean
  /**
   * Agents to which it may hand off the conversation of a task: agents, their roles, or handoffs with settings. The agent that
   * has the conversation last gives the answer. @default none
   */
  readonly handoffs?: readonly (Agent | Handoff | string)[]
}

/**
 * Selects what the next agent receives: `all` messages, only the texts of agents and users (`withoutTools`), or the messages that
 * a function returns. The function gets the conversation without its system message; the last message is the result of the
 * handoff call. It is called again when a run continues, so it must return the same messages for the same conversation.
 */
export type HandoffFilter =
  | HandoffFilterName
  | ((messages: readonly Message[]) => readonly Message[])

export interface HandoffOptions {
  /**
   * Name of its tool: 1 to 64 letters, digits, `_` and `-`.
   * @default `transfer_to_` and the role, with `_` in place of all other characters than letters and digits
   */
  readonly name?: string
  /** Description of its tool, for the model. @default the role and the goal of the next agent */
  readonly description?: string
  /** Schema of the call's arguments, an object. The next agent reads them in the conversation. @default no arguments */
  readonly input?: ToolSchema
  /** Selects what the next agent receives. @default `all` */
  readonly filter?: HandoffFilter
}

/** An agent to which another agent may hand off its conversation, with settings. */
export interface Handoff extends HandoffOptions {
  /** The next agent, or its role. */
  readonly agent: Agent | string
}
