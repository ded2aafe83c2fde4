/** A model for a whole team, with one script per agent, by the role in the system message. */
import { scriptedModel } from './testing.ts'

import type { ChatModel, Message, ModelRequest } from '../src/adapter.ts'
import type { ScriptedReply } from './testing.ts'

type Answer = string | ScriptedReply | Error

/** Answers of an agent, one per call; a function answers every call. */
export type RoleScript = readonly Answer[] | ((request: ModelRequest) => Answer)

/** Model of a team, with the requests of each agent. */
export interface TeamModel extends ChatModel {
  requestsOf(role: string): readonly ModelRequest[]
}

/** Creates the model of a team with these roles. */
export function teamModel(scripts: Readonly<Record<string, RoleScript>>): TeamModel {
  const asked = new Map<string, ModelRequest[]>()
  const model = scriptedModel((request) => {
    const role = readRole(request)
    const requests = asked.get(role) ?? []
    asked.set(role, [...requests, { ...request, messages: [...request.messages] }])
    const script = scripts[role]
    if (typeof script === 'function') return script(request)
    return script?.[requests.length] ?? new Error(`${role} has no answer ${requests.length + 1}`)
  })
  return { ...model, requestsOf: (role) => asked.get(role) ?? [] }
}

function readRole({ messages }: ModelRequest): string {
  return /^You are (.*)\.$/m.exec(messages[0]?.content ?? '')?.[1] ?? ''
}

/** Returns a reply that delegates tasks: role and description each. */
export function delegate(
  ...list: readonly (readonly [role: string, description: string])[]
): ScriptedReply {
  return {
    toolCalls: list.map(([agentRole, taskDescription]) => ({
      name: 'delegate_task',
      arguments: { agentRole, taskDescription },
    })),
  }
}

/** Returns the tool results of the last turn. */
export function readToolResults(request: ModelRequest | undefined): readonly string[] {
  const messages = request?.messages ?? []
  const turn = messages.findLastIndex(({ role }) => role === 'assistant')
  return messages.slice(turn + 1).map(({ content }: Message) => content)
}
