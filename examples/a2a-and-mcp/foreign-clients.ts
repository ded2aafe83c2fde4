/** Clients that know nothing of Tutti: the A2A project's own, and the one of the MCP project. */
import { SendMessageRequest, TaskState, type Part } from '@a2a-js/sdk'
import { ClientFactory } from '@a2a-js/sdk/client'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

/** Asks an agent over A2A; gives its answer, and tells how far it is. */
export async function askOverA2a(url: string, text: string): Promise<string> {
  const client = await new ClientFactory().createFromUrl(url)
  const { skills } = await client.getAgentCard()
  console.log('skills:', skills.map(({ name }) => name).join(', '))
  const message = { messageId: 'message-1', role: 'ROLE_USER', parts: [{ text }] }
  const pieces: string[] = []
  for await (const { payload } of client.sendMessageStream(
    SendMessageRequest.fromJSON({ message }),
  )) {
    if (payload?.$case === 'artifactUpdate') {
      pieces.push(...(payload.value.artifact?.parts ?? []).map(textOf))
    } else if (payload?.$case === 'statusUpdate') {
      console.log(TaskState[payload.value.status?.state ?? TaskState.TASK_STATE_UNSPECIFIED])
    }
  }
  return pieces.join('')
}

function textOf({ content }: Part): string {
  return content?.$case === 'text' ? content.value : ''
}

/** Calls tools of an MCP server; gives their answers, and tells which tools there are. */
export async function askOverMcp(
  url: string,
  calls: readonly (readonly [name: string, input: Record<string, string>])[],
): Promise<readonly string[]> {
  const client = new Client({ name: 'a-stranger', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  const { tools } = await client.listTools()
  console.log('tools:', tools.map(({ name }) => name).join(', '))
  const answers: string[] = []
  for (const [name, input] of calls) {
    const { content } = await client.callTool({ name, arguments: input })
    answers.push(content.map((part) => (part.type === 'text' ? part.text : part.type)).join(' '))
  }
  await client.close()
  return answers
}
