/** A model that answers for a whole team: one script an agent, by the role in its system message. */
import { scriptedModel } from './testing.ts'

import type { ChatModel, Message, ModelRequest } from '../src/index.ts'
import type { ScriptedReply } from './testing.ts'

type Answer = string | ScriptedReply | Error

/** What an agent answers, call by call; a function answers every call. */
export type RoleScript = readonly Answer[] | ((request: ModelRequest) => Answer)

/** A model of a team, and what each agent was asked. */
export interface TeamModel extends ChatModel {
  requestsOf(role: string): readonly ModelRequest[]
}

/** Makes the model of a team of these roles. */
export function teamModel(scripts: Readonly<Record<string, RoleScript>>): TeamModel {
  const asked = new Map<string, ModelRequest[]>()
  const model = scriptedModel((request) => {
    const role = roleOf(request)
    const requests = asked.get(role) ?? []
    asked.set(role, [...requests, { ...request, messages: [...request.messages] }])
    const script = scripts[role]
    if (typeof script === 'function') return script(request)
    return script?.[requests.length] ?? new Error(`${role} has no answer ${requests.length + 1}`)
  })
  return { ...model, requestsOf: (role) => asked.get(role) ?? [] }
}

function roleOf({ messages }: ModelRequest): string {
  return /^You are (.*)\.$/m.exec(messages[0]?.content ?? '')?.[1] ?? ''
}

/** A reply that delegates: role and description of each task. */
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

/** What the tools of the last turn told the model. */
export function told(request: ModelRequest | undefined): readonly string[] {
  const messages = request?.messages ?? []
  const turn = messages.findLastIndex(({ role }) => role === 'assistant')
  return messages.slice(turn + 1).map(({ content }: Message) => content)
}
