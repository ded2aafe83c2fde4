/** Pure: prompts for shared ensembles, with which a person starts a run from an MCP client. */
import { ProtocolError } from '@modelcontextprotocol/server'
import { unknownName } from '@tutti/protocol/internal'

import type { ListedTool } from './listed-tools.ts'
import type { GetPromptResult, Prompt } from '@modelcontextprotocol/server'

const INVALID_PARAMS = -32_602

/** Returns a prompt for each ensemble, with its template variables as arguments. */
export function toPrompts(tools: readonly ListedTool[]): Prompt[] {
  return tools.flatMap(({ kind, definition }) => {
    if (kind !== 'ensemble') return []
    const { name, title, description, inputSchema } = definition
    return [
      {
        name,
        ...(title === undefined ? {} : { title }),
        ...(description === undefined ? {} : { description }),
        arguments: Object.keys(inputSchema.properties ?? {}).map((variable) => ({
          name: variable,
          required: true,
        })),
      },
    ]
  })
}

/**
 * Returns the message that makes a model run an ensemble.
 *
 * @throws {ProtocolError} for an unknown name and for missing arguments.
 */
export function renderPrompt(
  tools: readonly ListedTool[],
  name: string,
  given: Readonly<Record<string, string>> = {},
): GetPromptResult {
  const prompts = toPrompts(tools)
  const found = prompts.find((prompt) => prompt.name === name)
  if (found === undefined) {
    const names = prompts.map((prompt) => prompt.name)
    throw new ProtocolError(INVALID_PARAMS, unknownName('prompt', name, names))
  }
  const variables = (found.arguments ?? []).map((argument) => argument.name)
  const missing = variables.filter((variable) => given[variable] === undefined)
  if (missing.length > 0) {
    throw new ProtocolError(INVALID_PARAMS, `Missing arguments: ${missing.join(', ')}`)
  }
  const args = Object.fromEntries(variables.map((variable) => [variable, given[variable]]))
  const text = `Call the tool "${name}" with the arguments ${JSON.stringify(args)}, and show me its output.`
  return {
    ...(found.description === undefined ? {} : { description: found.description }),
    messages: [{ role: 'user', content: { type: 'text', text } }],
  }
}
